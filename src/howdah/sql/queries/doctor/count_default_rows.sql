-- Purpose: how many jobs no dated partition covers, counted up to a limit.
-- Locks: none. Index: none (it stops at the limit). Called by: admin/doctor/store.py
SELECT count(*) FROM (SELECT FROM howdah.jobs_default LIMIT %(most)s::int) AS few
