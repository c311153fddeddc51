-- Purpose: which server this is, and whether its commits are durable.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
    current_setting('full_page_writes'), current_setting('shared_buffers'), current_setting('max_connections')::int,
    (SELECT count(*) FROM pg_stat_activity)::int, pg_backend_pid(), inet_server_addr() IS NULL
