-- Purpose: jobs that the rescue should have taken back by now: of workers silent beyond their allowance, and of plain
-- claims beyond their timeout.
-- Locks: none. Index: jobs_pkey, workers_pkey. Called by: admin/doctor/store.py
SELECT c.worker_id, count(*), max(CASE WHEN w.id IS NULL THEN clock_timestamp() - t.held_since ELSE t.silent END)
FROM howdah.settings AS s
CROSS JOIN howdah.claims AS c
LEFT JOIN howdah.workers AS w ON w.id = c.worker_id
CROSS JOIN LATERAL unnest(c.job_ids) AS u (id)
JOIN howdah.jobs AS j ON j.id = u.id
CROSS JOIN LATERAL (SELECT coalesce(j.claimed_at, c.claimed_at) AS held_since,
    clock_timestamp() - greatest(w.heartbeat_at, pg_postmaster_start_time()) AS silent) AS t
WHERE coalesce(j.worker_id, '?') = c.worker_id AND j.status IN ('claimed', 'running')
    AND CASE WHEN w.id IS NULL THEN t.held_since <= clock_timestamp() - s.plain_claim_timeout - %(rescue_delay)s::interval
        ELSE t.silent >= w.silence + %(rescue_delay)s::interval END
GROUP BY c.worker_id ORDER BY 3 DESC
