-- Purpose: ids that stand in the lines of this type and queue, in no order; more than `most`: too many to be of use. What
-- stands there need not be pending any more, and a pending job without attempts left stands nowhere.
-- Locks: none. Index: ready_order, scheduled_order. Called by: admin/store.py
WITH chosen AS MATERIALIZED (
    SELECT DISTINCT l.lane FROM howdah.lanes AS l
    WHERE (%(job_type)s::text IS NULL OR l.job_type = %(job_type)s::text)
        AND (%(queue)s::text IS NULL OR l.queue = %(queue)s::text)
), ready AS MATERIALIZED (
    SELECT r.id FROM chosen AS c
    CROSS JOIN LATERAL (
        SELECT h.id FROM howdah.ready AS h
        WHERE h.lane = c.lane ORDER BY h.rank, h.created_at, h.id LIMIT %(most)s::int + 1
    ) AS r
    LIMIT %(most)s::int + 1
), scheduled AS MATERIALIZED (
    SELECT s.id, s.lane FROM howdah.scheduled AS s ORDER BY s.run_at, s.id LIMIT %(most)s::int + 1
)
SELECT (SELECT count(*) FROM ready) > %(most)s::int OR (SELECT count(*) FROM scheduled) > %(most)s::int AS capped,
    ARRAY(SELECT r.id FROM ready AS r
        UNION ALL SELECT s.id FROM scheduled AS s WHERE s.lane IN (SELECT c.lane FROM chosen AS c)) AS ids
