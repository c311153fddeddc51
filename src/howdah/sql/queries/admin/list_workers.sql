-- Purpose: who sends heartbeats, whether they still do, what they serve, and how many jobs they hold (up to `most`). Who has been
-- silent for ten times as long as allowed, and holds nothing, is gone: its row stays for the rescue's sake only (0013).
-- Locks: none. Index: workers and claims scans (small), jobs_pkey. Called by: admin/store.py
SELECT w.id, w.started_at, w.heartbeat_at, w.silence, w.heartbeat_at > clock_timestamp() - w.silence,
    w.queues, w.job_types, w.info, held.jobs, w.load
FROM howdah.workers AS w
CROSS JOIN LATERAL (
    SELECT count(*) AS jobs FROM (
        SELECT DISTINCT u.id FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (id)
        WHERE c.worker_id = w.id LIMIT %(most)s::int
    ) AS named
    CROSS JOIN LATERAL (SELECT j.status, j.worker_id FROM howdah.jobs AS j WHERE j.id = named.id LIMIT 1) AS n
    WHERE n.worker_id = w.id AND n.status IN ('claimed', 'running')
) AS held
WHERE held.jobs > 0 OR w.heartbeat_at > clock_timestamp() - 10 * least(w.silence, interval '1 year')
ORDER BY w.started_at, w.id
