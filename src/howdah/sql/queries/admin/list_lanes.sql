-- Purpose: for each queue and job type: how many wait (counted up to `most`), since when the oldest, whether it is paused, who
-- serves it. Where a lane has very many priorities, the oldest is that of its highest.
-- A paused queue that no job was ever in has one row without a job type, so that the pause is seen.
-- Locks: none. Index: ready_order, scheduled_order; lanes, pauses and workers are small. Called by: admin/store.py
WITH scheduled AS MATERIALIZED (
    SELECT s.lane FROM howdah.scheduled AS s ORDER BY s.run_at, s.id LIMIT %(most)s::int + 1
)
SELECT l.queue, l.job_type, least(ready.jobs, %(most)s::int), ready.jobs > %(most)s::int,
    (SELECT count(*) FROM scheduled AS s WHERE s.lane = l.lane), (SELECT count(*) > %(most)s::int FROM scheduled),
    EXISTS (SELECT FROM howdah.pauses AS p WHERE p.kind = 'queue' AND p.name = l.queue),
    EXISTS (SELECT FROM howdah.pauses AS p WHERE p.kind = 'type' AND p.name = l.job_type),
    (SELECT count(*) FROM howdah.workers AS w WHERE l.job_type = ANY (w.job_types) AND l.queue = ANY (w.queues)
        AND w.heartbeat_at > clock_timestamp() - w.silence),
    (SELECT min(h.created_at) FROM (SELECT DISTINCT k.rank FROM howdah.lanes AS k WHERE k.lane = l.lane) AS k
        CROSS JOIN LATERAL (
            SELECT r.created_at FROM howdah.ready AS r WHERE r.lane = l.lane AND (k.rank IS NULL OR r.rank = k.rank)
            ORDER BY r.rank, r.created_at, r.id LIMIT 1) AS h)
FROM (SELECT DISTINCT k.lane, k.queue, k.job_type FROM howdah.lanes AS k) AS l
CROSS JOIN LATERAL (
    SELECT count(*) AS jobs FROM (
        SELECT FROM howdah.ready AS r WHERE r.lane = l.lane
        ORDER BY r.rank, r.created_at, r.id LIMIT %(most)s::int + 1
    ) AS standing
) AS ready
UNION ALL
SELECT p.name, NULL, 0, false, 0, false, true, false,
    (SELECT count(*) FROM howdah.workers AS w WHERE p.name = ANY (w.queues)
        AND w.heartbeat_at > clock_timestamp() - w.silence), NULL
FROM howdah.pauses AS p
WHERE p.kind = 'queue' AND NOT EXISTS (SELECT FROM howdah.lanes AS k WHERE k.queue = p.name)
ORDER BY 1, 2
