-- Purpose: silence the trigger that follows INSERTs, so that backlogs of millions can be made at the speed of the disk.
-- Locks: howdah.jobs, for a moment. Index: none. Called by: bench/store.py
ALTER TABLE howdah.jobs DISABLE TRIGGER jobs_inserted
