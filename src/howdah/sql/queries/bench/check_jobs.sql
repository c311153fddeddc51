-- Purpose: of the jobs of a range of ids: how many there are, how many completed, how many at their first attempt.
-- Locks: none. Index: jobs_pkey. Called by: bench/store.py
SELECT count(*), count(*) FILTER (WHERE status = 'completed'),
    count(*) FILTER (WHERE status = 'completed' AND attempts = 1)
FROM howdah.jobs
WHERE id BETWEEN %(first)s::uuid AND %(last)s::uuid AND job_type = %(job_type)s::text AND priority = %(priority)s::int
