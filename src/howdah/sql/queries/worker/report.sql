-- Purpose: that jobs are running, how far they are and at what, and the events that they published: all of a worker's jobs
-- in one statement. Returns the jobs whose report was accepted, and those whose events were.
-- Locks: the ledger rows, in id order. Index: jobs_pkey, job_events_pkey. Called by: worker/store.py
SELECT ARRAY(SELECT uuid_send(r) FROM howdah.report_jobs(%(ids)s::uuid[], %(leases)s::bigint[], %(progress)s::int[], %(stages)s::text[],
        %(ran)s::float8[]) AS r),
    ARRAY(SELECT uuid_send(e) FROM howdah.record_events(%(event_ids)s::uuid[], %(event_leases)s::bigint[], %(seqs)s::int[], %(names)s::text[],
        %(data)s::text[], %(ages)s::float8[]) AS e)
