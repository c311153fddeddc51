-- Purpose: whether pg_stat_statements is installed in this database and counts.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements')
    AND position('pg_stat_statements' IN current_setting('shared_preload_libraries')) > 0
