-- Purpose: jobs that wait for a time in the next thirty days, with their places in that line.
-- Locks: none that anyone waits for. Index: jobs_pkey, scheduled_order. Called by: bench/store.py
WITH made AS (
    INSERT INTO howdah.jobs (id, job_type, data, priority, created_at, queue, run_at)
    SELECT encode(int8send((floor(t.ms)::bigint << 16) | (7::bigint << 12) | (floor((t.ms - floor(t.ms)) * 4096))::bigint)
            || set_byte(substring(uuid_send(gen_random_uuid()) FROM 9 FOR 8), 0, 128), 'hex')::uuid,
        'noop', jsonb_build_object('n', -1, 'pad', repeat('x', %(pad)s::int)), 100, t.at, 'bench',
        now() + interval '1 day' + interval '29 days' * t.share
    FROM (
        SELECT extract(epoch FROM a.at) * 1000 AS ms, a.at, a.share
        FROM (SELECT now() - interval '1 day' * (1 - n::float8 / %(total)s::float8) - interval '1 hour' AS at,
                random() AS share
            FROM generate_series(%(first)s::bigint, %(first)s::bigint + %(jobs)s::bigint - 1) AS n) AS a) AS t
    RETURNING id, job_type, queue, priority, created_at, run_at
)
INSERT INTO howdah.scheduled (run_at, id, lane, rank, created_at)
SELECT run_at, id, howdah.lane_of(queue, job_type), ~priority, created_at FROM made
