-- Purpose: what was done in some time by each queue, job type, or pair of both; the row without either is everything, with what
-- no row of its own is kept for. Locks: none. Index: stats_pkey. Called by: admin/history/store.py
SELECT g.queue, g.job_type,
    sum(s.started)::bigint, sum(s.completed)::bigint, sum(s.failed)::bigint, sum(s.cancelled)::bigint,
    sum(s.retried)::bigint, sum(s.snoozed)::bigint, sum(s.released)::bigint, sum(s.rescued)::bigint,
    howdah.sum_counts(s.ran), sum(s.ran_seconds), howdah.sum_counts(s.waited), sum(s.waited_seconds)
FROM howdah.stats AS s
CROSS JOIN LATERAL (
    SELECT CASE WHEN s.queue <> '' AND %(by)s::text IN ('queue', 'pair') THEN s.queue END AS queue,
        CASE WHEN s.job_type <> '' AND %(by)s::text IN ('type', 'pair') THEN s.job_type END AS job_type
) AS g
WHERE s.per = %(per)s::text
    AND s.at > coalesce(%(until)s::timestamptz, now()) - %(span)s::interval
    AND s.at < coalesce(%(until)s::timestamptz, now())
    AND ((s.queue = '' AND s.job_type = '') OR (s.queue <> '' AND (s.job_type = '') = (%(by)s::text = 'queue')))
GROUP BY g.queue, g.job_type
