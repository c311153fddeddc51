-- Purpose: let an operation do nothing more; what was done stays done.
-- Locks: the operation's row. Index: operations_pkey. Called by: admin/order_store.py
SELECT o.id, o.kind, o.filter, o.job_ids, o.argument, o.who, o.state, o.estimate, o.done, o.skipped, o.cursor, o.started_at,
    o.stepped_at, o.ended_at, o.error
FROM howdah.cancel_operation(%(id)s::uuid, %(who)s::text) AS o
