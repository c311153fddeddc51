-- Purpose: as find_ids, also by error and arguments: a statement of its own, because not everybody may read those.
-- Locks: none. Index: jobs_pkey, backwards, `look` rows. Called by: admin/store.py
WITH looked AS MATERIALIZED (
SELECT j.id, ((%(statuses)s::text[] IS NULL OR j.status = ANY (%(statuses)s::text[]))
    AND (%(job_type)s::text IS NULL OR j.job_type = %(job_type)s::text)
    AND (%(queue)s::text IS NULL OR j.queue = %(queue)s::text)
    AND (%(worker_id)s::text IS NULL OR j.worker_id = %(worker_id)s::text)
    AND (%(priority_from)s::int IS NULL OR j.priority >= %(priority_from)s::int)
    AND (%(priority_to)s::int IS NULL OR j.priority <= %(priority_to)s::int)
    AND (%(created_since)s::timestamptz IS NULL OR j.created_at >= %(created_since)s::timestamptz)
    AND (%(created_until)s::timestamptz IS NULL OR j.created_at < %(created_until)s::timestamptz)
    AND (%(started_since)s::timestamptz IS NULL OR j.started_at >= %(started_since)s::timestamptz)
    AND (%(started_until)s::timestamptz IS NULL OR j.started_at < %(started_until)s::timestamptz)
    AND (%(completed_since)s::timestamptz IS NULL OR j.completed_at >= %(completed_since)s::timestamptz)
    AND (%(completed_until)s::timestamptz IS NULL OR j.completed_at < %(completed_until)s::timestamptz)
    AND (%(error)s::text IS NULL OR strpos(lower(j.last_error), lower(%(error)s::text)) > 0)
    AND (%(data)s::text IS NULL OR j.data @@ %(data)s::text::jsonpath)) AS fits
FROM (
    SELECT n.id, n.status, n.job_type, n.queue, n.worker_id, n.priority, n.created_at, n.started_at, n.completed_at,
        n.last_error, n.data
    FROM howdah.jobs AS n
    WHERE (%(before)s::uuid IS NULL OR n.id < %(before)s::uuid) AND (%(floor)s::uuid IS NULL OR n.id >= %(floor)s::uuid)
    ORDER BY n.id DESC LIMIT %(look)s::int
) AS j
)
SELECT ARRAY(SELECT l.id FROM looked AS l WHERE l.fits ORDER BY l.id DESC LIMIT %(limit)s::int),
    (SELECT l.id FROM looked AS l OFFSET greatest(%(look)s::int - 1, 0) LIMIT 1)
