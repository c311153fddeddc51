-- Purpose: where roles have rights on this schema, be the owner of its tables until the transaction ends, so that what
-- a migration makes is the owner's too: functions that roles call run as whoever owns them. No row: no roles here.
-- Locks: none. Index: pg_class by name. Called by: db/roles.py
SELECT set_config('role', o.rolname, true)
FROM pg_class AS m
JOIN pg_roles AS o ON o.oid = m.relowner
JOIN pg_namespace AS n ON n.oid = m.relnamespace
WHERE m.oid = to_regclass('howdah.migrations')
    AND EXISTS (SELECT FROM aclexplode(n.nspacl) AS a JOIN pg_roles AS r ON r.oid = a.grantee
        WHERE r.rolname = %(producer)s::text)
