-- Purpose: how many jobs stand where, without reading the ledger through: those that wait or are held are counted from
-- the lines and the claims up to `most`, ended ones among the `newest` jobs. `capped`: the count stopped there.
-- Locks: none. Index: scans of the lines and claims that stop at `most`, jobs_pkey. Called by: admin/store.py
WITH waiting AS MATERIALIZED (
    SELECT w.id FROM (SELECT r.id FROM howdah.ready AS r UNION ALL SELECT s.id FROM howdah.scheduled AS s) AS w
    LIMIT %(most)s::int + 1
), held AS MATERIALIZED (
    SELECT u.id FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (id) LIMIT %(most)s::int + 1
), held_now AS MATERIALIZED (
    SELECT n.status FROM (SELECT DISTINCT h.id FROM held AS h) AS h
    CROSS JOIN LATERAL (SELECT j.status FROM howdah.jobs AS j WHERE j.id = h.id LIMIT 1) AS n
), ended AS MATERIALIZED (
    -- One more than is counted, to know whether there are older ones.
    SELECT j.status, row_number() OVER (ORDER BY j.id DESC) <= %(newest)s::int AS counted
    FROM howdah.jobs AS j ORDER BY j.id DESC LIMIT %(newest)s::int + 1
)
SELECT 'pending' AS status, least(count(*), %(most)s::int) AS jobs, count(*) > %(most)s::int AS capped FROM waiting
UNION ALL
SELECT s.status, count(h.status), (SELECT count(*) > %(most)s::int FROM held)
FROM (VALUES ('claimed'), ('running')) AS s (status) LEFT JOIN held_now AS h ON h.status = s.status GROUP BY s.status
UNION ALL
SELECT s.status, count(e.status), (SELECT count(*) > %(newest)s::int FROM ended)
FROM (VALUES ('completed'), ('failed'), ('cancelled')) AS s (status)
LEFT JOIN ended AS e ON e.status = s.status AND e.counted
GROUP BY s.status
