-- Purpose: which (queue, job type) pairs wait and are not paused, how many jobs up to a limit, and whether a live worker
-- knows the type, or serves the pair.
-- Locks: none. Index: ready_order. Called by: admin/doctor/store.py
WITH live AS MATERIALIZED (
    SELECT w.queues, w.job_types FROM howdah.workers AS w
    WHERE greatest(w.heartbeat_at, pg_postmaster_start_time()) > clock_timestamp() - w.silence
)
SELECT l.queue, l.job_type, line.jobs,
    EXISTS (SELECT FROM live WHERE l.job_type = ANY (live.job_types)) AS type_is_known,
    EXISTS (SELECT FROM live WHERE l.job_type = ANY (live.job_types) AND l.queue = ANY (live.queues)) AS is_served
FROM (SELECT DISTINCT lane, queue, job_type FROM howdah.lanes) AS l
CROSS JOIN LATERAL (
    SELECT count(*) AS jobs FROM (SELECT FROM howdah.ready AS r WHERE r.lane = l.lane LIMIT %(most)s::int) AS few
) AS line
WHERE line.jobs > 0
    AND NOT EXISTS (SELECT FROM howdah.pauses AS p
        WHERE (p.kind = 'queue' AND p.name = l.queue) OR (p.kind = 'type' AND p.name = l.job_type))
ORDER BY l.queue, l.job_type
