-- Purpose: ids that the claims (of this worker) name, in no order; more than `most`: too many to be of use. What stands
-- there need not be held any more.
-- Locks: none. Index: claims scan (one row per claimed batch). Called by: admin/store.py
WITH held AS MATERIALIZED (
    SELECT u.id FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (id)
    WHERE %(worker_id)s::text IS NULL OR c.worker_id = %(worker_id)s::text
    LIMIT %(most)s::int + 1
)
SELECT (SELECT count(*) FROM held) > %(most)s::int AS capped, ARRAY(SELECT h.id FROM held AS h) AS ids
