-- Purpose: whether autovacuum may do its work, on the server and on each of Howdah's tables.
-- Locks: none. Index: pg_class by oid. Called by: admin/doctor/store.py, also before the tables are there (to_regclass).
SELECT current_setting('autovacuum')::boolean, current_setting('track_counts')::boolean,
    ARRAY(
        SELECT c.relname::text FROM pg_class AS c
        WHERE c.oid = ANY (
                ARRAY(SELECT t.relid::oid FROM pg_partition_tree(to_regclass('howdah.jobs')) AS t)
                || ARRAY(SELECT t.relid::oid FROM pg_partition_tree(to_regclass('howdah.job_events')) AS t)
                || ARRAY[to_regclass('howdah.ready')::oid, to_regclass('howdah.scheduled')::oid,
                    to_regclass('howdah.claims')::oid, to_regclass('howdah.workers')::oid, to_regclass('howdah.lanes')::oid])
            AND EXISTS (SELECT FROM pg_options_to_table(c.reloptions) AS o
                WHERE CASE WHEN o.option_name = 'autovacuum_enabled' THEN NOT o.option_value::boolean END)
        ORDER BY c.relname)
