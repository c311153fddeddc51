-- Purpose: have the transaction hold an id, as one that writes does.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT pg_current_xact_id()::text
