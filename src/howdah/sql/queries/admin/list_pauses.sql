-- Purpose: what is paused, and since when.
-- Locks: none. Index: pauses scan (small). Called by: admin/store.py
SELECT p.kind, p.name, p.paused_at FROM howdah.pauses AS p ORDER BY p.kind, p.name
