-- Purpose: take a snapshot that the transaction keeps, by reading the ledger.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT EXISTS (SELECT FROM howdah.jobs)
