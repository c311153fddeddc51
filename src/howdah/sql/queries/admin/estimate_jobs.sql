-- Purpose: about how many jobs there are, as the server last counted them; asking costs nothing.
-- Locks: none. Index: pg_inherits, pg_class. Called by: admin/store.py
SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = 'howdah.jobs'::regclass
