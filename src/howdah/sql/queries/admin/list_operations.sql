-- Purpose: operations, newest first, below `before`; of this state, if one is given.
-- Locks: none. Index: operations_pkey, backwards. Called by: admin/order_store.py
SELECT o.id, o.kind, o.filter, o.job_ids, o.argument, o.who, o.state, o.estimate, o.done, o.skipped, o.cursor, o.started_at,
    o.stepped_at, o.ended_at, o.error
FROM howdah.operations AS o
WHERE (%(before)s::uuid IS NULL OR o.id < %(before)s::uuid) AND (%(state)s::text IS NULL OR o.state = %(state)s::text)
ORDER BY o.id DESC LIMIT %(limit)s::int
