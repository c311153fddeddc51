-- Purpose: pending jobs that no claim will take because their attempts are used up; among the newest ids only.
-- Locks: none. Index: jobs_pkey, backwards. Called by: admin/doctor/store.py
SELECT n.id, n.job_type, count(*) OVER ()
FROM (
    SELECT j.id, j.job_type, j.status, j.attempts, j.max_attempts
    FROM howdah.jobs AS j ORDER BY j.id DESC LIMIT %(newest)s::int
) AS n
WHERE n.status = 'pending' AND n.attempts >= n.max_attempts
ORDER BY n.id LIMIT %(most)s::int
