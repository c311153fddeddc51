-- Purpose: who ordered what, newest first, below `before`; of this person or about this target, if one is given.
-- Locks: none. Index: audit_pkey, backwards; at most 100,000 entries are kept. Called by: admin/order_store.py
SELECT a.id, a.at, a.who, a.login, a.what, a.target, a.jobs, a.details
FROM howdah.audit AS a
WHERE (%(before)s::bigint IS NULL OR a.id < %(before)s::bigint) AND (%(who)s::text IS NULL OR a.who = %(who)s::text)
    AND (%(target)s::text IS NULL OR a.target = %(target)s::text)
ORDER BY a.id DESC LIMIT %(limit)s::int
