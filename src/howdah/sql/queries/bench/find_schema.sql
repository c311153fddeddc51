-- Purpose: whether the bench's schema is there, and who made it: a bench leaves its mark as a comment.
-- Locks: none. Index: pg_namespace_nspname_index. Called by: bench/store.py
SELECT obj_description(n.oid, 'pg_namespace') FROM pg_namespace AS n WHERE n.nspname = %(schema)s::text
