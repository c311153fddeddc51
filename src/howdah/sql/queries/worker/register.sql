-- Purpose: a worker starts: what it serves, and how long it may be silent.
-- Locks: the worker's row. Index: workers_pkey. Called by: worker/store.py
SELECT howdah.register_worker(%(worker_id)s::text, %(silence)s::interval, %(queues)s::text[], %(job_types)s::text[], %(info)s::jsonb)
