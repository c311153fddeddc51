-- Purpose: whether anything waits to be claimed now.
-- Locks: none. Index: scheduled_order. Called by: admin/doctor/store.py
SELECT EXISTS (SELECT FROM howdah.ready) OR EXISTS (SELECT FROM howdah.scheduled AS s WHERE s.run_at <= now())
