-- Purpose: how these jobs stand, through the door of those who may not list them; of those only that differ from what
-- `marks` says was seen of them (null: never seen). A mark of -1 says that there is no such job.
-- Locks: none. Index: jobs_pkey. Called by: watch/store.py
SELECT t.id, clock_timestamp(), coalesce(j.mark, -1), j.job_type, j.queue, j.priority, j.status, j.progress, j.current_stage,
    j.attempts, j.max_attempts, j.worker_id, j.created_at, j.run_at, j.started_at, j.completed_at, j.to_be_cancelled,
    j.error_end, j.events_count
FROM unnest(%(ids)s::uuid[], %(marks)s::bigint[]) AS t (id, mark)
LEFT JOIN LATERAL (
    SELECT n.job_type, n.queue, n.priority, n.status, n.progress, n.current_stage, n.attempts, n.max_attempts,
        n.worker_id, n.created_at, n.run_at, n.started_at, n.completed_at, n.cancel_requested_at IS NOT NULL AS to_be_cancelled,
        right(n.last_error, 300) AS error_end, n.events_count,
        hash_record_extended(ROW(n.job_type, n.queue, n.priority, n.status, n.progress, n.current_stage, n.attempts,
            n.max_attempts, n.lease, n.errors, n.deaths, n.events_count, n.cancel_requested_at IS NULL, n.run_at), 0) AS mark
    FROM howdah.get_job(t.id) AS n
) AS j ON true
WHERE coalesce(j.mark, -1) IS DISTINCT FROM t.mark
