-- Purpose: those of the names that are there already, and whether each is a plain group role that is Howdah's or
-- nobody's yet: can it log in, has it powers of its own, is it a member of others, has it members whom Howdah did not
-- reckon with?
-- Locks: none. Index: pg_authid by name. Called by: db/roles.py
SELECT r.rolname::text, r.rolcanlogin,
    r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls,
    EXISTS (SELECT FROM pg_auth_members AS m WHERE m.member = r.oid),
    EXISTS (SELECT FROM pg_auth_members AS m WHERE m.roleid = r.oid)
        AND NOT starts_with(coalesce(shobj_description(r.oid, 'pg_authid'), ''), 'Howdah:')
        AND NOT EXISTS (SELECT FROM pg_class AS j JOIN pg_namespace AS n ON n.oid = j.relnamespace
            CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
            WHERE j.oid = to_regclass('howdah.jobs') AND a.grantee = r.oid)
FROM pg_roles AS r WHERE r.rolname = ANY (%(names)s::text[]) ORDER BY r.rolname
