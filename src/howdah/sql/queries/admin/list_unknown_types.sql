-- Purpose: which of these job types no live worker knows: their jobs wait until one comes that does.
-- Locks: none. Index: workers scan (small). Called by: admin/store.py
SELECT t.job_type FROM unnest(%(job_types)s::text[]) AS t (job_type)
WHERE NOT EXISTS (SELECT FROM howdah.workers AS w
    WHERE t.job_type = ANY (w.job_types) AND w.heartbeat_at > clock_timestamp() - w.silence)
