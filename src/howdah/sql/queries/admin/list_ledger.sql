-- Purpose: jobs newest first, searching no further than `look` of them: a filter that matches rarely stays cheap.
-- Locks: none. Index: jobs_pkey, backwards; stops as soon as `limit` are found. Called by: admin/store.py
SELECT j.id, j.job_type, j.priority, j.status, j.progress, j.current_stage, j.worker_id, j.queue, j.created_at, j.run_at,
    j.started_at, j.completed_at, j.attempts, j.max_attempts, j.cancel_requested_at, right(j.last_error, 300)
FROM (
    SELECT * FROM howdah.job_lines AS n
    WHERE %(before)s::uuid IS NULL OR n.id < %(before)s::uuid
    ORDER BY n.id DESC LIMIT %(look)s::int
) AS j
WHERE (%(statuses)s::text[] IS NULL OR j.status = ANY (%(statuses)s::text[]))
    AND (%(job_type)s::text IS NULL OR j.job_type = %(job_type)s::text)
    AND (%(queue)s::text IS NULL OR j.queue = %(queue)s::text)
    AND (%(worker_id)s::text IS NULL OR j.worker_id = %(worker_id)s::text)
ORDER BY j.id DESC LIMIT %(limit)s::int
