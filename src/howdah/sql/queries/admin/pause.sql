-- Purpose: no more claims from this queue or of this type; false: it was paused already.
-- Locks: the pause's row. Index: pauses_pkey. Called by: admin/store.py
SELECT howdah.pause(%(kind)s::text, %(name)s::text)
