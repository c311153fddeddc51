-- Purpose: every worker, and for how long it has been silent. As for the rescue, silence counts from the server's own start:
-- before it nobody could have been heard. Who has long been silent and holds nothing is gone (0013).
-- Locks: none. Index: none (small). Called by: admin/doctor/store.py
SELECT w.id, s.silent, w.silence, s.silent < w.silence AS alive, w.job_types = '{}' AND w.queues = '{}' AS undeclared
FROM howdah.workers AS w
CROSS JOIN LATERAL (SELECT clock_timestamp() - greatest(w.heartbeat_at, pg_postmaster_start_time()) AS silent) AS s
WHERE s.silent < 10 * least(w.silence, interval '1 year') OR EXISTS (SELECT FROM howdah.claims AS c WHERE c.worker_id = w.id)
ORDER BY s.silent DESC
