-- Purpose: a worker leaves in peace, holding nothing.
-- Locks: the worker's row and its claims. Index: workers_pkey. Called by: worker/store.py
SELECT howdah.unregister_worker(%(worker_id)s::text)
