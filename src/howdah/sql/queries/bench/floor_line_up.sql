-- Purpose: put the jobs that floor_copy has just brought into the line.
-- Locks: none that anyone waits for. Index: bench_ledger_pkey. Called by: bench/store.py
INSERT INTO howdah.bench_line (job_type, rank, created_at, id)
SELECT job_type, ~priority, created_at, id FROM howdah.bench_ledger WHERE id BETWEEN %(first)s::uuid AND %(last)s::uuid
