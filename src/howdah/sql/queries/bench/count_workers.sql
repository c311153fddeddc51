-- Purpose: how many workers have registered.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT count(*) FROM howdah.workers
