-- Purpose: one job, in one round trip. Repeating it with the same id changes nothing.
-- Locks: none that anyone waits for. Index: jobs_pkey. Called by: client/store.py. Alone in its transaction it says so,
-- and need not be written down as something that may commit late (0008). No conflict target: naming the id would need
-- the right to read it, which producers lack, and the ledger has no other key (0001).
WITH said AS MATERIALIZED (SELECT set_config('howdah_enqueue.commits_at_once', %(alone)s::text, true))
INSERT INTO howdah.jobs (id, job_type, data, priority, queue, run_at, max_attempts, trace)
SELECT %(id)s::uuid, %(job_type)s::text, %(data)s::jsonb, %(priority)s::int, %(queue)s::text,
    coalesce(%(run_at)s::timestamptz, now() + %(delay)s::interval), %(max_attempts)s::int, %(trace)s::text
FROM said
ON CONFLICT DO NOTHING
