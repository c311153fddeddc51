-- Purpose: very many jobs at once. Not repeatable as it is: a repetition goes through enqueue_array.
-- Binary: an error would log a line of text, and what a job carries with it (client/copying.py).
-- Locks: none that anyone waits for. Index: jobs_pkey. Called by: client/store.py
COPY howdah.jobs (id, job_type, data, priority, queue, run_at, max_attempts) FROM STDIN (FORMAT binary)
