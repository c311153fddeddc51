-- Purpose: what the server has counted so far: WAL, commits, transactions that wrote, index entries, updates, HOT ones.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint,
    (SELECT d.xact_commit FROM pg_stat_database AS d WHERE d.datname = current_database())::bigint,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
    coalesce(sum((t.n_tup_ins + t.n_tup_upd - t.n_tup_hot_upd) * k.indexes), 0)::bigint,
    coalesce(sum(t.n_tup_upd), 0)::bigint,
    coalesce(sum(t.n_tup_hot_upd), 0)::bigint
FROM pg_stat_user_tables AS t
CROSS JOIN LATERAL (SELECT count(*) AS indexes FROM pg_index AS i WHERE i.indrelid = t.relid) AS k
WHERE t.schemaname = %(schema)s::text AND starts_with(t.relname::text, 'bench_') = %(floor)s::boolean
