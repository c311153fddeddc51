-- Purpose: delete some finished jobs past their retention from partitions that cannot be dropped.
-- Locks: the rows it deletes. Index: none (it scans old partitions only). Called by: maintenance/store.py
SELECT howdah.delete_expired_jobs(%(limit)s::int)
