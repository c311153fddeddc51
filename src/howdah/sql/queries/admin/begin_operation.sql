-- Purpose: put a bulk operation on record; repeating it with the same id is safe.
-- Locks: none. Index: operations_pkey. Called by: admin/order_store.py
SELECT o.id, o.kind, o.filter, o.job_ids, o.argument, o.who, o.state, o.estimate, o.done, o.skipped, o.cursor, o.started_at,
    o.stepped_at, o.ended_at, o.error
FROM howdah.begin_operation(%(id)s::uuid, %(kind)s::text, %(filter)s::text, %(job_ids)s::uuid[], %(argument)s::text,
    %(who)s::text, %(estimate)s::bigint) AS o
