-- Purpose: claimed and running jobs newest first, found from the claims and not from the ledger.
-- One row at least: `capped` says that the claims name more than `most` jobs, and then none are listed.
-- Locks: none. Index: claims scan (one row per claimed batch), jobs_pkey. Called by: admin/store.py
WITH held AS MATERIALIZED (
    SELECT u.id FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (id)
    WHERE %(worker_id)s::text IS NULL OR c.worker_id = %(worker_id)s::text
    LIMIT %(most)s::int + 1
)
SELECT bound.capped, j.id, j.job_type, j.priority, j.status, j.progress, j.current_stage, j.worker_id, j.queue,
    j.created_at, j.run_at, j.started_at, j.completed_at, j.attempts, j.max_attempts, j.cancel_requested_at,
    right(j.last_error, 300)
FROM (SELECT count(*) > %(most)s::int AS capped FROM held) AS bound
LEFT JOIN LATERAL (
    SELECT n.* FROM (
        SELECT DISTINCT h.id FROM held AS h
        WHERE %(before)s::uuid IS NULL OR h.id < %(before)s::uuid
        ORDER BY h.id DESC
    ) AS h
    CROSS JOIN LATERAL (SELECT * FROM howdah.job_lines AS n WHERE n.id = h.id LIMIT 1) AS n
    WHERE n.status = ANY (%(statuses)s::text[])
        AND (%(job_type)s::text IS NULL OR n.job_type = %(job_type)s::text)
        AND (%(queue)s::text IS NULL OR n.queue = %(queue)s::text)
        AND (%(worker_id)s::text IS NULL OR n.worker_id = %(worker_id)s::text)
    ORDER BY h.id DESC LIMIT %(limit)s::int
) AS j ON NOT bound.capped
ORDER BY j.id DESC
