-- Purpose: what is paused, since when, and how many jobs wait for it, up to a limit.
-- Locks: none. Index: ready_order. Called by: admin/doctor/store.py
SELECT p.kind, p.name, clock_timestamp() - p.paused_at,
    (SELECT count(*) FROM (
        SELECT FROM (SELECT DISTINCT l.lane FROM howdah.lanes AS l
            WHERE p.name = CASE p.kind WHEN 'queue' THEN l.queue ELSE l.job_type END) AS l
        JOIN howdah.ready AS r ON r.lane = l.lane LIMIT %(most)s::int) AS few)
FROM howdah.pauses AS p ORDER BY p.kind, p.name
