-- Purpose: the barest completion: all jobs of a claim in one statement.
-- Locks: their rows. Index: bench_ledger_pkey. Called by: bench/store.py
UPDATE howdah.bench_ledger SET status = 'completed', completed_at = clock_timestamp()
WHERE id = ANY (%(ids)s::uuid[]) AND status = 'claimed'
