-- Purpose: who asks, whether it may make roles and act as the owner of the tables, whether that owner is a superuser,
-- and how much of the schema is not the owner's.
-- Locks: none. Index: pg_class by name. Called by: db/roles.py
SELECT current_user::text, me.rolcreaterole OR me.rolsuper, o.rolname::text, pg_has_role(o.oid, 'USAGE'), o.rolsuper,
    (SELECT count(*) FROM pg_proc AS p WHERE p.pronamespace = j.relnamespace AND p.proowner <> j.relowner)
    + (SELECT count(*) FROM pg_class AS c WHERE c.relnamespace = j.relnamespace AND c.relowner <> j.relowner)
FROM pg_class AS j
JOIN pg_roles AS o ON o.oid = j.relowner
CROSS JOIN pg_roles AS me
WHERE j.oid = to_regclass('howdah.jobs') AND me.rolname = current_user
