-- Purpose: make one missing partition ahead of time; false when none is missing.
-- Locks: the default partitions, for a moment, with a lock timeout. Index: none. Called by: maintenance/store.py
SELECT howdah.create_next_partition()
