-- Purpose: those of the named jobs that fit, newest first, below `before`.
-- Locks: none. Index: jobs_pkey. Called by: admin/store.py
SELECT j.id
FROM (
    SELECT DISTINCT u.id FROM unnest(%(ids)s::uuid[]) AS u (id)
    WHERE %(before)s::uuid IS NULL OR u.id < %(before)s::uuid
    ORDER BY u.id DESC
) AS w
CROSS JOIN LATERAL (SELECT n.id, n.status, n.job_type, n.queue, n.worker_id, n.priority, n.created_at, n.started_at, n.completed_at
    FROM howdah.jobs AS n WHERE n.id = w.id LIMIT 1) AS j
WHERE (%(statuses)s::text[] IS NULL OR j.status = ANY (%(statuses)s::text[]))
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
ORDER BY w.id DESC LIMIT %(limit)s::int
