-- Purpose: what this worker did since it last said so, merged into the rows of this minute and this hour.
-- Locks: those rows, in one order for all, with a lock timeout. Index: stats_pkey. Called by: worker/store.py
SELECT howdah.record_stats(%(stats)s::jsonb)
