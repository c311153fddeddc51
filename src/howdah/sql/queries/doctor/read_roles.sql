-- Purpose: whether roles were set up; if so, whether the tables are a superuser's, what is open to everybody, and which
-- functions have lost the pin that `howdah roles` gave them, or the owner: definers, triggers, and those that others
-- may call.
-- Locks: none. Index: pg_proc by schema, pg_class by schema. Called by: admin/doctor/store.py
WITH place AS MATERIALIZED (
    SELECT j.relnamespace AS id, j.relowner, o.rolsuper, n.nspacl FROM pg_class AS j
    JOIN pg_roles AS o ON o.oid = j.relowner
    JOIN pg_namespace AS n ON n.oid = j.relnamespace
    WHERE j.oid = to_regclass('howdah.jobs')
)
SELECT EXISTS (SELECT FROM aclexplode(place.nspacl) AS a JOIN pg_roles AS r ON r.oid = a.grantee
        WHERE r.rolname = %(producer)s::text),
    place.rolsuper,
    ARRAY(
        SELECT concat('function ', p.proname) FROM pg_proc AS p WHERE p.pronamespace = place.id
            AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
                WHERE a.grantee = 0)
        UNION
        SELECT concat('table ', c.relname) FROM pg_class AS c WHERE c.relnamespace = place.id
            AND (EXISTS (SELECT FROM aclexplode(c.relacl) AS a WHERE a.grantee = 0)
                OR EXISTS (SELECT FROM pg_attribute AS t CROSS JOIN LATERAL aclexplode(t.attacl) AS a
                    WHERE t.attrelid = c.oid AND a.grantee = 0))
        ORDER BY 1),
    ARRAY(
        SELECT p.proname::text FROM pg_proc AS p WHERE p.pronamespace = place.id
            AND (p.prosecdef OR p.prorettype = 'trigger'::regtype
                OR (p.provolatile <> 'i'
                    AND EXISTS (SELECT FROM aclexplode(p.proacl) AS a WHERE a.grantee NOT IN (0, p.proowner))))
            AND (p.proowner <> place.relowner OR coalesce('search_path=pg_catalog, pg_temp' <> ALL (p.proconfig), true))
        ORDER BY 1)
FROM place
