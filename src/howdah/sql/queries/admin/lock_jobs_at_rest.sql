-- Purpose: what these jobs carry, to be written anew: only of those that no worker holds and nobody has locked.
-- Locks: the ledger rows, in id order, until the end of the transaction. Index: jobs_pkey. Called by: admin/store.py
SELECT j.id, j.job_type, j.data::text, j.result::text, j.last_error
FROM howdah.jobs AS j
WHERE j.id = ANY (%(ids)s::uuid[]) AND j.status NOT IN ('claimed', 'running')
ORDER BY j.id
FOR UPDATE SKIP LOCKED
