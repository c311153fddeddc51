-- Purpose: remove the bench's schema with all that is in it, if it still bears the mark of a bench.
-- Locks: all of its tables. Index: none. Called by: bench/store.py
DO $$
BEGIN
    IF (SELECT obj_description(n.oid, 'pg_namespace') FROM pg_namespace AS n
        WHERE n.nspname = current_setting('howdah_bench.schema')) = current_setting('howdah_bench.mark') THEN
        EXECUTE format('DROP SCHEMA %%I CASCADE', current_setting('howdah_bench.schema'));
    END IF;
END $$
