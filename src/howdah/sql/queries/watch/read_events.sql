-- Purpose: the next events of these jobs, with what they carry; of each job at most `page`.
-- Locks: none. Index: job_events_pkey. Called by: watch/store.py
SELECT t.id, j.seq, j.at, j.attempt, j.name, j.data
FROM unnest(%(ids)s::uuid[], %(after)s::int[]) AS t (id, after)
CROSS JOIN LATERAL (
    SELECT e.seq, e.at, e.attempt, e.name, e.data AS data FROM howdah.job_events AS e
    WHERE e.job_id = t.id AND e.seq > t.after ORDER BY e.seq LIMIT %(page)s::int
) AS j
ORDER BY t.id, j.seq
