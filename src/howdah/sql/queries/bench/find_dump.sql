-- Purpose: whether the pg_dump of that name holds a snapshot.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = %(name)s::text AND backend_xmin IS NOT NULL)
