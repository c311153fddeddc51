-- Purpose: an order for these jobs, done and put on record: what became of each that was found.
-- Locks: the jobs' rows, by id; 2 s. Index: jobs_pkey. Called by: admin/order_store.py
SELECT a.id, a.answer, a.changed
FROM howdah.administer_jobs(%(kind)s::text, %(ids)s::uuid[], %(argument)s::text, %(who)s::text) AS a
