-- Purpose: Howdah's tables as new; its own trigger empties the lines.
-- Locks: the tables of the bench's schema. Index: none. Called by: bench/store.py
TRUNCATE howdah.jobs
