-- Purpose: write anew what jobs carry. They are locked by this transaction, and wait where they waited.
-- Locks: none that it does not have. Index: jobs_pkey. Called by: admin/store.py
UPDATE howdah.jobs AS j
SET data = t.data::jsonb, result = t.result::jsonb, last_error = t.last_error
FROM unnest(%(ids)s::uuid[], %(data)s::text[], %(results)s::text[], %(errors)s::text[]) AS t (id, data, result, last_error)
WHERE j.id = t.id
