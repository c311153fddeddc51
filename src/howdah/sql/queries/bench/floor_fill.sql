-- Purpose: pending jobs for the floor, made by the server itself.
-- Locks: none that anyone waits for. Index: none. Called by: bench/store.py
WITH made AS (
    INSERT INTO howdah.bench_ledger (id, job_type, data)
    SELECT howdah.new_job_id(), 'noop', jsonb_build_object('n', n, 'pad', repeat('x', %(pad)s::int))
    FROM generate_series(%(first)s::int, %(first)s::int + %(jobs)s::int - 1) AS n
    RETURNING id, job_type, priority, created_at
)
INSERT INTO howdah.bench_line (job_type, rank, created_at, id)
SELECT job_type, ~priority, created_at, id FROM made
