-- Purpose: the next events of these jobs, through the door of those who may not list them; of each job at most `page`.
-- Locks: none. Index: job_events_pkey. Called by: watch/store.py
SELECT t.id, j.seq, j.at, j.attempt, j.name, j.data
FROM unnest(%(ids)s::uuid[], %(after)s::int[]) AS t (id, after)
CROSS JOIN LATERAL (
    SELECT e.seq, e.at, e.attempt, e.name, e.data FROM howdah.list_events(t.id, t.after) AS e
    ORDER BY e.seq LIMIT %(page)s::int
) AS j
ORDER BY t.id, j.seq
