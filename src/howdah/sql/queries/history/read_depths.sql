-- Purpose: for each queue and job type: how many may be claimed now (counted up to `most`), how many are put off, for how long
-- the oldest has been due, and whether it is paused. Locks: none. Index: ready_order, scheduled_order, jobs_pkey; lanes and
-- pauses are small. Called by: admin/history/store.py
SELECT d.queue, d.job_type, d.ready, d.scheduled, d.oldest_seconds, d.paused
FROM howdah.queue_depths(%(most)s::int) AS d
