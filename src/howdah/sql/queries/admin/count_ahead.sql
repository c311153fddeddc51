-- Purpose: how many ready jobs are claimed before this one, counted up to `most`: those of a higher priority, and older ones
-- of the same, in every lane that a live worker which serves this job serves as well, and that is not paused.
-- Locks: none. Index: ready_order; lanes, workers and pauses are small. Called by: admin/why_store.py
WITH servers AS MATERIALIZED (
    SELECT w.queues, w.job_types FROM howdah.workers AS w
    WHERE w.heartbeat_at > clock_timestamp() - w.silence
        AND %(job_type)s::text = ANY (w.job_types) AND %(queue)s::text = ANY (w.queues)
), competing AS MATERIALIZED (
    SELECT DISTINCT l.lane FROM howdah.lanes AS l
    WHERE (EXISTS (SELECT FROM servers AS s WHERE l.queue = ANY (s.queues) AND l.job_type = ANY (s.job_types))
            OR (l.queue = %(queue)s::text AND l.job_type = %(job_type)s::text))
        AND NOT EXISTS (SELECT FROM howdah.pauses AS p
            WHERE p.name = CASE p.kind WHEN 'queue' THEN l.queue ELSE l.job_type END)
)
SELECT count(*) FROM (
    SELECT FROM competing AS c
    CROSS JOIN LATERAL (
        SELECT r.id FROM howdah.ready AS r
        WHERE r.lane = c.lane
            AND (r.rank, r.created_at, r.id) < (~%(priority)s::int, %(created_at)s::timestamptz, %(id)s::uuid)
        ORDER BY r.rank, r.created_at, r.id LIMIT %(most)s::int
    ) AS a
    LIMIT %(most)s::int
) AS ahead
