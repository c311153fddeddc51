-- Purpose: how one job stands; asked again and again by wait().
-- Locks: none. Index: jobs_pkey. Called by: client/store.py
SELECT status FROM howdah.jobs WHERE id = %(id)s::uuid
