-- Purpose: what autovacuum would have done long ago to tables of that age.
-- Locks: none that anyone waits for. Index: all. Called by: bench/store.py
VACUUM (ANALYZE) howdah.jobs, howdah.ready, howdah.scheduled
