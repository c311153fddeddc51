-- Purpose: a job's events, in the order in which it published them, after the one given.
-- Locks: none. Index: job_events_pkey. Called by: client/store.py
SELECT e.seq, e.at, e.attempt, e.name, e.data FROM howdah.list_events(%(id)s::uuid, %(after)s::int) AS e ORDER BY e.seq
