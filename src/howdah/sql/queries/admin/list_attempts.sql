-- Purpose: what became of a job's attempts that did not complete, the newest first; at most 50 are kept (0019).
-- Locks: none. Index: job_events_pkey. Called by: admin/attempt_store.py
SELECT e.attempt, e.data ->> 'outcome', e.data ->> 'worker', (e.data ->> 'claimed_at')::timestamptz,
    (e.data ->> 'started_at')::timestamptz, (e.data ->> 'ended_at')::timestamptz, e.data ->> 'error'
FROM howdah.job_events AS e WHERE e.job_id = %(id)s::uuid AND e.seq < 0 ORDER BY e.attempt DESC, e.at DESC
