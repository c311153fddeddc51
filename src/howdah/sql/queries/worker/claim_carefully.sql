-- Purpose: take what this worker can run soon, best first, whatever others have locked; also how long until something
-- scheduled is due. For when worker/claim found something in its way.
-- Locks: the line rows and ledger rows it takes, skipping those that others hold. Index: ready_order, jobs_pkey.
-- Called by: worker/store.py. One row at least: the due time stands alone when nothing was claimed. Columns: see
-- worker/claim.
SELECT due.seconds, c.claim, uuid_send(c.id), c.lease, c.job_type, c.queue, c.priority, c.created_at, c.data, c.attempts,
    c.max_attempts, c.errors, c.deaths, c.events_count, c.waited, c.trace
FROM (SELECT howdah.seconds_to_next_due() AS seconds OFFSET 0) AS due  -- or it would be asked for every row
LEFT JOIN LATERAL howdah.claim_jobs(%(worker_id)s::text, %(job_types)s::text[], %(batch)s::int, %(queues)s::text[],
    %(limits)s::int[], %(pools)s::int[]) AS c ON true
