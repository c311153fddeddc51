-- Purpose: let nobody, or everybody, claim from this queue or of this type, on record; false: it was so already.
-- Locks: the pause's row. Index: pauses_pkey. Called by: admin/order_store.py
SELECT howdah.set_pause(%(kind)s::text, %(name)s::text, %(paused)s::boolean, %(who)s::text)
