-- Purpose: do the next jobs of an operation and move its cursor; nothing if it is not where the caller thinks.
-- Locks: the operation's row, the jobs' rows by id; 2 s. Index: operations_pkey, jobs_pkey. Called by: admin/order_store.py
SELECT o.id, o.kind, o.filter, o.job_ids, o.argument, o.who, o.state, o.estimate, o.done, o.skipped, o.cursor, o.started_at,
    o.stepped_at, o.ended_at, o.error
FROM howdah.step_operation(%(id)s::uuid, %(from)s::uuid, %(ids)s::uuid[], %(to)s::uuid, %(last)s::boolean,
    %(patient)s::boolean) AS o
