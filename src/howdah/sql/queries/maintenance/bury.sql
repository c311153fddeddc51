-- Purpose: what a worker held whose process was seen to end goes back to the line, or ends.
-- Locks: the worker's row, and its jobs, skipping what others hold. Index: workers_pkey, claims scan (small),
-- jobs_pkey. Called by: maintenance/store.py
SELECT id, status, deaths, worker_id FROM howdah.bury_worker(%(worker_id)s::text)
