-- Purpose: one migrating process at a time, until its transaction ends.
-- Locks: an advisory lock. Index: none. Called by: db/migrator.py
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s::text, 0))
