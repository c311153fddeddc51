-- Purpose: how quick the queue is, from its newest jobs: how many of the `newest` were created, and how many ended as what, in
-- the last minute; and since when the oldest of them exists, if there are older ones. Jobs older than all these and ended just now
-- are not seen: where many wait, this is less than the truth.
-- Locks: none. Index: jobs_pkey, backwards. Called by: admin/store.py
WITH recent AS MATERIALIZED (
    SELECT j.created_at, j.status, j.completed_at
    FROM howdah.jobs AS j ORDER BY j.id DESC LIMIT %(newest)s::int
)
SELECT count(*) FILTER (WHERE r.created_at > now() - interval '1 minute'),
    count(*) FILTER (WHERE r.completed_at > now() - interval '1 minute' AND r.status = 'completed'),
    count(*) FILTER (WHERE r.completed_at > now() - interval '1 minute' AND r.status = 'failed'),
    count(*) FILTER (WHERE r.completed_at > now() - interval '1 minute' AND r.status = 'cancelled'),
    CASE WHEN count(*) = %(newest)s::int THEN extract(epoch FROM now() - min(r.created_at) FILTER (WHERE isfinite(r.created_at)))::double precision END
FROM recent AS r
