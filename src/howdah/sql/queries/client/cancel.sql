-- Purpose: cancel a job: at once if it waits, by request if it runs.
-- Locks: the job's row. Index: jobs_pkey. Called by: client/store.py
SELECT howdah.cancel_job(%(id)s::uuid)
