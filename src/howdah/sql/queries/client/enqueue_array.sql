-- Purpose: many jobs of one type at once, repeatable: ids that are there already are left as they are.
-- Locks: none that anyone waits for. Index: jobs_pkey. Called by: client/store.py
INSERT INTO howdah.jobs (id, job_type, data, priority, queue, run_at, max_attempts, trace)
SELECT t.id, %(job_type)s::text, t.data::jsonb, %(priority)s::int, %(queue)s::text,
    coalesce(%(run_at)s::timestamptz, now() + %(delay)s::interval), %(max_attempts)s::int, %(trace)s::text
FROM unnest(%(ids)s::uuid[], %(data)s::text[]) AS t (id, data)
ON CONFLICT DO NOTHING
