-- Purpose: how many jobs the floor has, and how many of them ran exactly once.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT count(*), count(*) FILTER (WHERE status = 'completed' AND attempts = 1) FROM howdah.bench_ledger
