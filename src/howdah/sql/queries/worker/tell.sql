-- Purpose: tell whoever watches that something was written, if anybody does: watchers share a lock (watch/announce) that
-- can be taken alone only while there are none. Two workers that ask at the same moment may take each other for watchers,
-- which costs a ring that nobody hears. After the write and by itself: a NOTIFY in the write's own transaction would make
-- all such commits wait for each other.
-- Locks: advisory, for this statement only. Index: none. Called by: worker/store.py
SELECT w.watched, CASE WHEN w.watched AND (SELECT s.notify FROM howdah.settings AS s) THEN pg_notify('howdah_watch', '') END
FROM (
    SELECT NOT pg_try_advisory_xact_lock(hashtext('howdah.watch'), 'howdah.jobs'::regclass::oid::int) AS watched OFFSET 0
) AS w
