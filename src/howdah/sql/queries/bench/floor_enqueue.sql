-- Purpose: the barest enqueue of one job that tells whoever waits for it.
-- Locks: none that anyone waits for. Index: bench_ledger_pkey. Called by: bench/store.py
WITH made AS (
    INSERT INTO howdah.bench_ledger (id, job_type, data) VALUES (%(id)s::uuid, 'noop', %(data)s::jsonb)
    RETURNING id, job_type, priority, created_at
)
INSERT INTO howdah.bench_line (job_type, rank, created_at, id)
SELECT job_type, ~priority, created_at, id FROM made
RETURNING pg_notify('howdah_bench', '')
