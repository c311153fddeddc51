-- Purpose: remove from the list of what committed late what every worker has read. Locks: the settings row, for one caller a
-- minute; those rows. Index: late_xid. Called by: maintenance/store.py
SELECT howdah.sweep_late()
