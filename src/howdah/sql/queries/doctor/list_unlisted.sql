-- Purpose: held jobs that no claim lists, so that no rescue will ever find them; among the newest ids only.
-- Locks: none. Index: jobs_pkey, backwards. Called by: admin/doctor/store.py
WITH listed AS MATERIALIZED (SELECT unnest(c.job_ids) AS id FROM howdah.claims AS c),
newest AS MATERIALIZED (
    SELECT j.id, j.job_type, j.status, coalesce(j.claimed_at, j.created_at) AS held_since
    FROM howdah.jobs AS j ORDER BY j.id DESC LIMIT %(newest)s::int
)
SELECT n.id, n.job_type, count(*) OVER () FROM newest AS n
WHERE n.status IN ('claimed', 'running') AND n.held_since < clock_timestamp() - %(rescue_delay)s::interval
    AND NOT EXISTS (SELECT FROM listed WHERE listed.id = n.id)
ORDER BY n.id LIMIT %(most)s::int
