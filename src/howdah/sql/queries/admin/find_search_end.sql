-- Purpose: the last id that a search of `look` jobs comes to; no row where there are fewer.
-- Locks: none. Index: jobs_pkey, backwards, index only as far as vacuum has been. Called by: admin/store.py
SELECT n.id FROM howdah.jobs AS n
WHERE %(before)s::uuid IS NULL OR n.id < %(before)s::uuid
ORDER BY n.id DESC OFFSET greatest(%(look)s::int - 1, 0) LIMIT 1
