-- Purpose: one job, in one round trip. Repeating it with the same id changes nothing.
-- Locks: none that anyone waits for. Index: jobs_pkey. Called by: client/store.py
INSERT INTO howdah.jobs (id, job_type, data, priority, queue, run_at, max_attempts)
VALUES (%(id)s::uuid, %(job_type)s::text, %(data)s::jsonb, %(priority)s::int, %(queue)s::text,
    coalesce(%(run_at)s::timestamptz, now() + %(delay)s::interval), %(max_attempts)s::int)
ON CONFLICT (id) DO NOTHING
