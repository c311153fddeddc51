-- Purpose: scheduled jobs that should have moved to the ready line by now, up to a limit, and the oldest delay.
-- Locks: none. Index: scheduled_order. Called by: admin/doctor/store.py
SELECT count(*), max(clock_timestamp() - o.run_at)
FROM (
    SELECT s.run_at FROM howdah.scheduled AS s
    WHERE s.run_at < now() - %(overdue)s::interval ORDER BY s.run_at LIMIT %(most)s::int
) AS o
