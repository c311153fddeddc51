-- Purpose: has any job or worker named this queue or type so far? If not, the name may be misspelt.
-- Locks: none. Index: lanes and workers scans (small). Called by: admin/store.py
SELECT EXISTS (SELECT FROM howdah.lanes AS l
        WHERE %(name)s::text = CASE %(kind)s::text WHEN 'queue' THEN l.queue ELSE l.job_type END)
    OR EXISTS (SELECT FROM howdah.workers AS w
        WHERE %(name)s::text = ANY (CASE %(kind)s::text WHEN 'queue' THEN w.queues ELSE w.job_types END))
