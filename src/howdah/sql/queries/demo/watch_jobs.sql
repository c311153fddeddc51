-- Purpose: how every job of the demo stands. The columns are those of demo/standing.py, in that order.
-- Locks: none. Index: none (a dozen rows in a database of their own). Called by: demo/store.py
SELECT id, status, progress, current_stage, split_part(worker_id, ':', 1), attempts, errors, deaths, started_at, run_at,
    extract(epoch FROM run_at - clock_timestamp())::float8,
    extract(epoch FROM coalesce(completed_at, clock_timestamp()) - created_at)::float8,
    last_error, result
FROM howdah.jobs
