-- Purpose: which of these jobs could be written to now without waiting for anybody?
-- Locks: those rows, for this statement only. Index: jobs_pkey. Called by: worker/store.py
SELECT howdah.not_locked(%(ids)s::uuid[])
