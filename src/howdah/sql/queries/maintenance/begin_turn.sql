-- Purpose: is it this worker's turn to look after retention, and to look at what waits? One statement, because every idle worker
-- asks it every minute. Locks: the one row of the settings, for a moment. Index: settings_pkey. Called by: maintenance/store.py
SELECT howdah.begin_sweep(%(sweep_every)s::interval), howdah.begin_sample(%(sample_every)s::interval)
