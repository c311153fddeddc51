-- Purpose: remove minutes older than a day and hours older than a month.
-- Locks: those rows. Index: stats_pkey. Called by: maintenance/store.py
SELECT howdah.prune_stats()
