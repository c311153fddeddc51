-- Purpose: that jobs are running, how far they are and at what; returns what was accepted.
-- Locks: the ledger rows, in id order. Index: jobs_pkey. Called by: worker/store.py
SELECT howdah.report_jobs(%(ids)s::uuid[], %(leases)s::bigint[], %(progress)s::int[], %(stages)s::text[], %(ran)s::float8[])
