-- Purpose: what silent workers held goes back to the line, or ends. Guarded; any worker may run it at any time.
-- Locks: rows of silent workers, their claims and jobs, skipping what others hold. Index: workers scan (small), jobs_pkey.
-- Called by: maintenance/store.py
SELECT id, status, deaths, worker_id FROM howdah.rescue_jobs()
