-- Purpose: this worker lives; and for each of its jobs: held, cancel or lost.
-- Locks: the worker's row, at most every sixth of its silence. Index: workers_pkey, jobs_pkey. Called by: worker/store.py
SELECT uuid_send(id), verdict FROM howdah.heartbeat(%(worker_id)s::text, %(ids)s::uuid[], %(leases)s::bigint[],
    %(load)s::jsonb)
