-- Purpose: everything about one job. The columns are those of model/job.py, in that order.
-- Locks: none. Index: jobs_pkey. Called by: client/store.py
SELECT id, job_type, priority, status, data, progress, current_stage, events_count, worker_id, claimed_at, created_at,
    started_at, completed_at, attempts, max_attempts, last_error, queue, run_at, lease, errors, deaths,
    cancel_requested_at, result
FROM howdah.get_job(%(id)s::uuid)
