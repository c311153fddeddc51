-- Purpose: ids of jobs of all ages.
-- Locks: none. Index: jobs_pkey. Called by: bench/store.py
SELECT k.id FROM generate_series(1, %(count)s::int) AS n
CROSS JOIN LATERAL (
    SELECT j.id FROM howdah.jobs AS j
    WHERE j.id >= howdah.job_id_at(now() - interval '28 days' * random() - interval '0 seconds' * n)
    ORDER BY j.id LIMIT 1) AS k
