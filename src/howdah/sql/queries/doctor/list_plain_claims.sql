-- Purpose: who holds jobs without ever having sent a heartbeat, how many, since when, and when the rescue takes them.
-- Locks: none. Index: jobs_pkey. Called by: admin/doctor/store.py
SELECT c.worker_id, count(*), clock_timestamp() - min(t.held_since), min(t.held_since) + s.plain_claim_timeout - clock_timestamp()
FROM howdah.settings AS s
CROSS JOIN howdah.claims AS c
CROSS JOIN LATERAL unnest(c.job_ids) AS u (id)
JOIN howdah.jobs AS j ON j.id = u.id
CROSS JOIN LATERAL (SELECT coalesce(j.claimed_at, c.claimed_at) AS held_since) AS t
WHERE coalesce(j.worker_id, '?') = c.worker_id AND j.status IN ('claimed', 'running')
    AND NOT EXISTS (SELECT FROM howdah.workers AS w WHERE w.id = c.worker_id)
    AND t.held_since > clock_timestamp() - s.plain_claim_timeout - %(rescue_delay)s::interval
GROUP BY c.worker_id, s.plain_claim_timeout ORDER BY 3 DESC
