-- Purpose: one bench at a time in a schema; held until the connection ends, so that a killed bench lets go by itself.
-- Locks: an advisory one. Index: none. Called by: bench/store.py
SELECT pg_try_advisory_lock(hashtext('howdah bench'), hashtext(%(schema)s::text))
