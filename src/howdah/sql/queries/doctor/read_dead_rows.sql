-- Purpose: live and dead rows of the tables that change most, and how long ago they were vacuumed (null: never).
-- Locks: none. Index: pg_class by oid. Called by: admin/doctor/store.py
SELECT c.relname::text, pg_stat_get_live_tuples(c.oid), pg_stat_get_dead_tuples(c.oid),
    clock_timestamp() - greatest(pg_stat_get_last_vacuum_time(c.oid), pg_stat_get_last_autovacuum_time(c.oid))
FROM pg_class AS c
WHERE c.oid = ANY (
    ARRAY['howdah.ready'::regclass::oid, 'howdah.scheduled'::regclass::oid, 'howdah.claims'::regclass::oid]
    || ARRAY(SELECT i.inhrelid FROM pg_inherits AS i JOIN pg_class AS k ON k.oid = i.inhrelid
        JOIN howdah.list_partitions() AS p ON k.relname = 'jobs_' || p.suffix
        WHERE i.inhparent = 'howdah.jobs'::regclass AND p.starts_at <= now() AND p.ends_at > now()))
ORDER BY c.relname
