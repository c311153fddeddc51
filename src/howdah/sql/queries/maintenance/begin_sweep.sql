-- Purpose: is it this worker's turn to look after retention?
-- Locks: the one row of the settings, for a moment. Index: settings_pkey. Called by: maintenance/store.py
SELECT howdah.begin_sweep(%(every)s::interval)
