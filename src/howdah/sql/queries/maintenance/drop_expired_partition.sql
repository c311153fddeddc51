-- Purpose: drop one partition whose every job is finished and past its retention; null when there is none.
-- Locks: the jobs table, for a moment, with a lock timeout. Index: none. Called by: maintenance/store.py
SELECT howdah.drop_expired_partition()
