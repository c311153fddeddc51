-- Purpose: how many statements clients have sent to this database, this one's like excepted.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT coalesce(sum(s.calls), 0)::bigint FROM pg_stat_statements AS s
WHERE s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND s.query NOT LIKE '%%pg_stat_%%'
