-- Purpose: write down how many jobs of which kind were rescued; a rescue knows ids only.
-- Locks: rows of this minute and this hour. Index: jobs_pkey, stats_pkey. Called by: maintenance/store.py
SELECT queue, job_type, rescued FROM howdah.note_rescues(%(ids)s::uuid[], %(statuses)s::text[])
