-- Purpose: live workers that know this type or serve this queue, what else they serve, and what they hold (up to `most`).
-- Locks: none. Index: workers and claims scans (small). Called by: admin/why_store.py
SELECT w.id, %(job_type)s::text = ANY (w.job_types), %(queue)s::text = ANY (w.queues), (w.info ->> 'slots')::int,
    (SELECT count(*) FROM (
        SELECT u.id FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (id) WHERE c.worker_id = w.id
        LIMIT %(most)s::int) AS named
        CROSS JOIN LATERAL (SELECT j.status, j.worker_id FROM howdah.jobs AS j WHERE j.id = named.id LIMIT 1) AS n
        WHERE n.worker_id = w.id AND n.status IN ('claimed', 'running'))
FROM howdah.workers AS w
WHERE w.heartbeat_at > clock_timestamp() - w.silence
ORDER BY w.id
