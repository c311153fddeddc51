-- Purpose: jobs that wait, with their places in the line, in time-ordered ids over the last day.
-- Locks: none that anyone waits for. Index: jobs_pkey, ready_order. Called by: bench/store.py
WITH made AS (
    INSERT INTO howdah.jobs (id, job_type, data, priority, created_at, queue)
    SELECT encode(int8send((floor(t.ms)::bigint << 16) | (7::bigint << 12) | (floor((t.ms - floor(t.ms)) * 4096))::bigint)
            || set_byte(substring(uuid_send(gen_random_uuid()) FROM 9 FOR 8), 0, 128), 'hex')::uuid,
        %(job_type)s::text, jsonb_build_object('n', -1, 'pad', repeat('x', %(pad)s::int)), %(priority)s::int, t.at, 'bench'
    FROM (
        SELECT extract(epoch FROM a.at) * 1000 AS ms, a.at
        FROM (SELECT now() - interval '1 day' * (1 - n::float8 / %(total)s::float8) - interval '1 hour' AS at
            FROM generate_series(%(first)s::bigint, %(first)s::bigint + %(jobs)s::bigint - 1) AS n) AS a) AS t
    RETURNING id, job_type, queue, priority, created_at
)
INSERT INTO howdah.ready (lane, rank, created_at, id)
SELECT howdah.lane_of(queue, job_type), ~priority, created_at, id FROM made
