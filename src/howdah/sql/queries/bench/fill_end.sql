-- Purpose: let the trigger work again.
-- Locks: howdah.jobs, for a moment. Index: none. Called by: bench/store.py
ALTER TABLE howdah.jobs ENABLE TRIGGER jobs_inserted
