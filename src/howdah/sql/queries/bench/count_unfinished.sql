-- Purpose: how many of these jobs have not completed.
-- Locks: none. Index: jobs_pkey. Called by: bench/store.py
SELECT count(*) FROM howdah.jobs WHERE id = ANY (%(ids)s::uuid[]) AND status <> 'completed'
