-- Purpose: whether this role may order a checkpoint. Locks: none. Index: none. Called by: bench/store.py
SELECT EXISTS (SELECT FROM pg_roles AS r
    WHERE (r.rolname = current_user AND r.rolsuper) OR (r.rolname = 'pg_checkpoint' AND pg_has_role(r.oid, 'USAGE')))
