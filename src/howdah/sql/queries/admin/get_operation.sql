-- Purpose: an operation as it stands.
-- Locks: none. Index: operations_pkey. Called by: admin/order_store.py
SELECT o.id, o.kind, o.filter, o.job_ids, o.argument, o.who, o.state, o.estimate, o.done, o.skipped, o.cursor, o.started_at,
    o.stepped_at, o.ended_at, o.error
FROM howdah.operations AS o WHERE o.id = %(id)s::uuid
