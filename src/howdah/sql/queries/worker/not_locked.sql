-- Purpose: which of these jobs could be written to now without waiting for anybody?
-- Locks: those rows, for this statement only. Index: jobs_pkey. Called by: worker/store.py
SELECT ARRAY(SELECT uuid_send(f) FROM unnest(howdah.not_locked(%(ids)s::uuid[])) AS f)
