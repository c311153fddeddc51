-- Purpose: many jobs at once for the floor, as bare as enqueue_many's COPY would be.
-- Locks: none that anyone waits for. Index: bench_ledger_pkey. Called by: bench/store.py
COPY howdah.bench_ledger (id, job_type, data) FROM STDIN
