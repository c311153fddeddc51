-- Purpose: how many sessions of other roles this role may not look into.
-- Locks: none. Index: none. Called by: admin/doctor/store.py
SELECT count(*) FROM pg_stat_activity AS a WHERE a.query = '<insufficient privilege>'
