-- Purpose: the time by the clock that writes all times: ages told by another are wrong by how far it goes wrong.
-- Locks: none. Index: none. Called by: admin/store.py
SELECT clock_timestamp()
