-- Purpose: release what the table says this worker holds and the worker does not know of: a reply was lost.
-- Locks: those ledger rows, skipping what others hold. Index: claims scan (small), jobs_pkey. Called by: worker/store.py
SELECT howdah.reconcile_claims(%(worker_id)s::text, %(ids)s::uuid[], %(older)s::interval)
