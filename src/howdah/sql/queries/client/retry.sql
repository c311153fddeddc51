-- Purpose: run a job again, or now.
-- Locks: the job's row. Index: jobs_pkey. Called by: client/store.py
SELECT howdah.retry_job(%(id)s::uuid)
