-- Purpose: whole jobs by their ids, newest first, in the order of columns of client/get_job.sql.
-- Locks: none. Index: jobs_pkey. Called by: admin/store.py
SELECT j.id, j.job_type, j.priority, j.status, j.data, j.progress, j.current_stage, j.events_count, j.worker_id,
    j.claimed_at, j.created_at, j.started_at, j.completed_at, j.attempts, j.max_attempts, j.last_error, j.queue, j.run_at,
    j.lease, j.errors, j.deaths, j.cancel_requested_at, j.result
FROM unnest(%(ids)s::uuid[]) AS u (id)
CROSS JOIN LATERAL (SELECT * FROM howdah.jobs AS n WHERE n.id = u.id LIMIT 1) AS j
ORDER BY j.id DESC
