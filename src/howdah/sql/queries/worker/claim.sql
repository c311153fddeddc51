-- Purpose: take what this worker can run soon, best first; also how long until something scheduled is due.
-- Locks: the line rows and ledger rows it takes, skipping those that others hold. Index: ready_order, jobs_pkey.
-- Called by: worker/store.py. One row at least: the due time stands alone when nothing was claimed. Nothing here may fail
-- to be read, or a whole batch would be claimed and unknown: hence data as text and the time as a number.
SELECT due.seconds, c.claim, c.id, c.lease, c.job_type, c.queue, c.priority, c.created_at, c.data, c.attempts,
    c.max_attempts, c.errors, c.deaths, c.events_count
FROM (SELECT howdah.seconds_to_next_due() AS seconds) AS due
LEFT JOIN LATERAL howdah.claim_jobs(%(worker_id)s::text, %(job_types)s::text[], %(batch)s::int, %(queues)s::text[],
    %(limits)s::int[], %(pools)s::int[]) AS c ON true
