-- Purpose: does a live worker serve this type in this queue? NULL: any type, any queue.
-- Locks: none. Index: workers scan (small). Called by: admin/store.py
SELECT EXISTS (SELECT FROM howdah.workers AS w
    WHERE w.heartbeat_at > clock_timestamp() - w.silence
        AND (%(job_type)s::text IS NULL OR %(job_type)s::text = ANY (w.job_types))
        AND (%(queue)s::text IS NULL OR %(queue)s::text = ANY (w.queues)))
