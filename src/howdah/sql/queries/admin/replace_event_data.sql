-- Purpose: write anew what events carry. They are locked by this transaction.
-- Locks: none that it does not have. Index: job_events_pkey. Called by: admin/store.py
UPDATE howdah.job_events AS e
SET data = t.data::jsonb
FROM unnest(%(job_ids)s::uuid[], %(seqs)s::int[], %(data)s::text[]) AS t (job_id, seq, data)
WHERE e.job_id = t.job_id AND e.seq = t.seq
