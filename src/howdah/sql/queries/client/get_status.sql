-- Purpose: how one job stands; asked again and again by wait().
-- Locks: none. Index: jobs_pkey. Called by: client/store.py
SELECT s.status FROM howdah.get_status(%(id)s::uuid) AS s (status)
