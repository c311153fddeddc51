-- Purpose: is this connection alive, and does whoever enqueues ring the bell? Locks: none. Index: none (one row).
-- Called by: db/notices.py
SELECT notify FROM howdah.settings
