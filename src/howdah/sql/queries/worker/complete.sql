-- Purpose: acknowledge completed jobs; returns the ids that were refused because the lease is no longer theirs.
-- Locks: the ledger rows, in id order. Index: jobs_pkey. Called by: worker/store.py
SELECT ARRAY(SELECT uuid_send(r) FROM unnest(howdah.complete_jobs(%(ids)s::uuid[], %(leases)s::bigint[], %(results)s::text[], %(ran)s::float8[], %(claims)s::bigint[])) AS r)
