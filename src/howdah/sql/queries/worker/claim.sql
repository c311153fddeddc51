-- Purpose: take what this worker can run soon, of the best there are behind its marks.
-- Locks: the line rows and ledger rows it takes, skipping line rows that others hold. Index: ready_order, jobs_pkey.
-- Called by: worker/store.py. The first row is about the claim, the others are the jobs. Nothing here may fail to be read, or a
-- whole batch would be claimed and unknown: hence data as text and the time as a number.
SELECT c.claim, c.id, c.lease, c.job_type, c.queue, c.priority, c.created_at, c.data, c.attempts, c.max_attempts, c.errors,
    c.deaths, c.events_count, c.waited, c.trace
FROM howdah.claim_from_marks(%(worker_id)s::text, %(job_types)s::text[], %(batch)s::int, %(queues)s::text[],
    %(limits)s::int[], %(pools)s::int[], %(marks)s::howdah.mark[], %(strays)s::howdah.stray[],
    %(seen)s::pg_snapshot) AS c
