-- Purpose: write down how many jobs wait and for how long, once a minute for the whole fleet.
-- Locks: rows of this minute and this hour. Index: ready_order, scheduled_order, jobs_pkey, stats_pkey; reads at most 10,000
-- places of each of 300 lanes. Called by: maintenance/store.py
SELECT howdah.sample_queues()
