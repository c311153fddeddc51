-- Purpose: the database nearest to running out of transaction ids; it would stop the whole server.
-- Locks: none. Index: none. Called by: admin/doctor/store.py
SELECT d.datname::text, age(d.datfrozenxid), current_setting('autovacuum_freeze_max_age')::int
FROM pg_database AS d ORDER BY 2 DESC LIMIT 1
