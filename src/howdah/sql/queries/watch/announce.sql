-- Purpose: let workers know that somebody watches, for as long as this session lives; false: one is looking just now, so
-- try again. A shared lock that workers try to take alone (worker/is_watched): no table, no trace after a lost connection.
-- Locks: advisory, shared, of the session. Index: none. Called by: watch/store.py
SELECT pg_try_advisory_lock_shared(hashtext('howdah.watch'), 'howdah.jobs'::regclass::oid::int)
