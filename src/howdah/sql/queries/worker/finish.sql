-- Purpose: end claims in every other way than by completion; returns what was accepted and what became of it.
-- Locks: the ledger rows, in id order. Index: jobs_pkey. Called by: worker/store.py
SELECT uuid_send(id), status, run_in FROM howdah.finish_jobs(%(ids)s::uuid[], %(leases)s::bigint[], %(outcomes)s::text[],
    %(errors)s::text[], %(delays)s::float8[], %(ran)s::float8[], %(claims)s::bigint[])
