-- Purpose: very many jobs at once. Not repeatable as it is: a repetition goes through enqueue_array.
-- Locks: none that anyone waits for. Index: jobs_pkey. Called by: client/store.py
COPY howdah.jobs (id, job_type, data, priority, queue, run_at, max_attempts) FROM STDIN
