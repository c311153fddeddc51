-- Purpose: a job's events, in the order in which it published them, after the one given.
-- Locks: none. Index: job_events_pkey. Called by: client/store.py
SELECT seq, at, attempt, name, data FROM howdah.job_events
WHERE job_id = %(id)s::uuid AND seq > %(after)s::int ORDER BY seq
