-- Purpose: the floor's tables as new.
-- Locks: both tables. Index: none. Called by: bench/store.py
TRUNCATE howdah.bench_ledger, howdah.bench_line
