-- Purpose: what the reasons for a job's waiting are found from, and the database's time.
-- Locks: none. Index: jobs_pkey. Called by: admin/why_store.py
SELECT j.id, j.job_type, j.queue, j.priority, j.status, j.created_at, j.run_at, j.claimed_at, j.started_at, j.completed_at,
    j.attempts, j.max_attempts, j.errors, j.deaths, j.cancel_requested_at, j.worker_id, left(j.last_error, 20),
    clock_timestamp()
FROM howdah.job_lines AS j WHERE j.id = %(id)s::uuid
