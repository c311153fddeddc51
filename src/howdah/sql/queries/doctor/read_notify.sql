-- Purpose: whether enqueues ring at all, and how full the server's queue of notifications is (0 to 1).
-- Locks: none. Index: settings, one row. Called by: admin/doctor/store.py
SELECT s.notify, pg_notification_queue_usage() FROM howdah.settings AS s
