-- Purpose: pending jobs newest first, found from the lines and not from the ledger, which may hold millions of others.
-- One row at least: `capped` says that more than `most` wait, and then no jobs are listed. A pending job without
-- attempts left stands in no line and is not found here.
-- Locks: none. Index: ready_order, scheduled_order, jobs_pkey. Called by: admin/store.py
WITH chosen AS MATERIALIZED (
    SELECT DISTINCT l.lane FROM howdah.lanes AS l
    WHERE (%(job_type)s::text IS NULL OR l.job_type = %(job_type)s::text)
        AND (%(queue)s::text IS NULL OR l.queue = %(queue)s::text)
), ready AS MATERIALIZED (
    SELECT r.id FROM chosen AS c
    CROSS JOIN LATERAL (
        SELECT h.id FROM howdah.ready AS h
        WHERE h.lane = c.lane ORDER BY h.rank, h.created_at, h.id LIMIT %(most)s::int + 1
    ) AS r
    LIMIT %(most)s::int + 1
), scheduled AS MATERIALIZED (
    SELECT s.id, s.lane FROM howdah.scheduled AS s ORDER BY s.run_at, s.id LIMIT %(most)s::int + 1
)
SELECT bound.capped, j.id, j.job_type, j.priority, j.status, j.progress, j.current_stage, j.worker_id, j.queue,
    j.created_at, j.run_at, j.started_at, j.completed_at, j.attempts, j.max_attempts, j.cancel_requested_at,
    right(j.last_error, 300)
FROM (
    SELECT (SELECT count(*) FROM ready) > %(most)s::int OR (SELECT count(*) FROM scheduled) > %(most)s::int AS capped
) AS bound
LEFT JOIN LATERAL (
    SELECT n.* FROM (
        SELECT DISTINCT w.id FROM (
            SELECT r.id FROM ready AS r
            UNION ALL SELECT s.id FROM scheduled AS s WHERE s.lane IN (SELECT c.lane FROM chosen AS c)
        ) AS w
        WHERE %(before)s::uuid IS NULL OR w.id < %(before)s::uuid
        ORDER BY w.id DESC
    ) AS w
    CROSS JOIN LATERAL (SELECT * FROM howdah.job_lines AS n WHERE n.id = w.id LIMIT 1) AS n
    WHERE n.status = 'pending'
        AND (%(job_type)s::text IS NULL OR n.job_type = %(job_type)s::text)
        AND (%(queue)s::text IS NULL OR n.queue = %(queue)s::text)
    ORDER BY w.id DESC LIMIT %(limit)s::int
) AS j ON NOT bound.capped
ORDER BY j.id DESC
