-- Purpose: pending jobs that stand in no line, or in a lane that no claim visits; among the newest ids only.
-- Locks: none. Index: jobs_pkey backwards, ready_order, scheduled_order. Called by: admin/doctor/store.py
-- OFFSET 0 keeps each EXISTS a look-up by index: as a join it might read a whole line of millions.
WITH newest AS MATERIALIZED (
    SELECT j.id, j.job_type, howdah.lane_of(j.queue, j.job_type) AS lane, j.status, j.priority, j.created_at, j.run_at,
        j.attempts, j.max_attempts
    FROM howdah.jobs AS j ORDER BY j.id DESC LIMIT %(newest)s::int
)
SELECT n.id, n.job_type, count(*) OVER () FROM newest AS n
WHERE n.status = 'pending' AND n.attempts < n.max_attempts
    AND (n.lane NOT IN (SELECT l.lane FROM howdah.lanes AS l)
        OR (NOT EXISTS (SELECT FROM howdah.ready AS r
            WHERE r.lane = n.lane AND r.rank = ~n.priority AND r.created_at = n.created_at AND r.id = n.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM howdah.scheduled AS s WHERE s.run_at = n.run_at AND s.id = n.id OFFSET 0)))
ORDER BY n.id LIMIT %(most)s::int
