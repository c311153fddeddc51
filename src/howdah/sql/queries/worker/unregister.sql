-- Purpose: a worker leaves in peace, holding nothing.
-- Locks: the worker's row. Index: workers_pkey. Called by: worker/store.py
DELETE FROM howdah.workers AS w WHERE w.id = %(worker_id)s::text
    AND NOT EXISTS (SELECT FROM howdah.claims AS c WHERE c.worker_id = w.id)
