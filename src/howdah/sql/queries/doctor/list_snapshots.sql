-- Purpose: who keeps vacuum from removing dead rows of this database, longest first. Held is null where no time is known:
-- replication slots and standbys, which are judged by their age in transactions.
-- Locks: none. Index: none. Called by: admin/doctor/store.py
SELECT 'session' AS kind, a.pid::text AS name, concat_ws(', ', nullif(a.application_name, ''), a.usename, a.state) AS detail,
    clock_timestamp() - a.xact_start AS held, greatest(age(a.backend_xmin), age(a.backend_xid)) AS transactions
FROM pg_stat_activity AS a
-- Vacuum ignores the snapshots of other vacuums.
WHERE (a.datname = current_database() OR a.datname IS NULL) AND a.pid <> pg_backend_pid()
    AND coalesce(a.backend_type, '') <> 'autovacuum worker' AND (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
UNION ALL
SELECT 'prepared transaction', p.gid, p.owner::text, clock_timestamp() - p.prepared, age(p.transaction)
FROM pg_prepared_xacts AS p WHERE p.database = current_database()
UNION ALL
SELECT 'replication slot', s.slot_name::text, CASE WHEN s.active THEN 'active' ELSE 'not in use' END, NULL, age(s.xmin)
FROM pg_replication_slots AS s WHERE s.xmin IS NOT NULL
ORDER BY held DESC NULLS LAST, transactions DESC
