-- Purpose: these jobs as lines of a list, newest first; without what is no longer there.
-- Locks: none. Index: jobs_pkey. Called by: admin/store.py
SELECT j.id, j.job_type, j.priority, j.status, j.progress, j.current_stage, j.worker_id, j.queue, j.created_at, j.run_at,
    j.started_at, j.completed_at, j.attempts, j.max_attempts, j.cancel_requested_at, right(j.last_error, 300)
FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT * FROM howdah.job_lines AS n WHERE n.id = u.id LIMIT 1) AS j
ORDER BY j.id DESC
