-- Purpose: claims from this queue or of this type again; false: it was not paused.
-- Locks: the pause's row. Index: pauses_pkey. Called by: admin/store.py
SELECT howdah.resume(%(kind)s::text, %(name)s::text)
