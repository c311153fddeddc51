-- Purpose: keep what jobs published, in order; returns the jobs whose lease still held.
-- Locks: the ledger rows, in id order. Index: jobs_pkey, job_events_pkey. Called by: worker/store.py
SELECT howdah.record_events(%(ids)s::uuid[], %(leases)s::bigint[], %(names)s::text[], %(data)s::text[], %(ages)s::float8[])
