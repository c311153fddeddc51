-- Purpose: jobs that have ended, in time-ordered ids over the last four weeks, as a queue in use leaves them.
-- Locks: none that anyone waits for. Index: jobs_pkey. Called by: bench/store.py
INSERT INTO howdah.jobs (id, job_type, data, priority, status, progress, worker_id, claimed_at, created_at, started_at,
    completed_at, attempts, queue, lease)
SELECT encode(int8send((floor(t.ms)::bigint << 16) | (7::bigint << 12) | (floor((t.ms - floor(t.ms)) * 4096))::bigint)
        || set_byte(substring(uuid_send(gen_random_uuid()) FROM 9 FOR 8), 0, 128), 'hex')::uuid,
    'noop', jsonb_build_object('n', -1, 'pad', repeat('x', %(pad)s::int)), 100, 'completed', 100, 'bench:filler',
    t.at, t.at, t.at, t.at, 1, 'bench', floor(t.ms * 1000)::bigint
FROM (
    SELECT extract(epoch FROM a.at) * 1000 AS ms, a.at
    FROM (SELECT now() - interval '28 days' * (1 - n::float8 / %(total)s::float8) - interval '1 hour' AS at
        FROM generate_series(%(first)s::bigint, %(first)s::bigint + %(jobs)s::bigint - 1) AS n) AS a) AS t
