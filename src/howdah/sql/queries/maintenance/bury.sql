-- Purpose: what a worker held whose process was seen to end goes back to the line, or ends, as a rescue would have it.
-- The worker's row and its claims stay until its silence is over: a claim of its that the server is still at work on
-- would otherwise commit without a worker, and count as a plain caller's, which is left alone for an hour.
-- Locks: the worker's row, and its jobs, skipping what others hold. Index: workers_pkey, claims scan (small), jobs_pkey.
-- Called by: maintenance/store.py
WITH dead AS (
    SELECT w.id, w.marks_starts FROM howdah.workers AS w WHERE w.id = %(worker_id)s::text FOR UPDATE
)
SELECT s.id, s.status, s.deaths, d.id
FROM dead AS d
CROSS JOIN LATERAL howdah.settle_stale(
    ARRAY(SELECT u.i FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (i) WHERE c.worker_id = d.id),
    d.id, concat('worker ', d.id, ' died'), d.marks_starts) AS s
