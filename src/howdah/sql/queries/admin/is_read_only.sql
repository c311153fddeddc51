-- Purpose: does this server refuse to write: a standby, or set to be read-only?
-- Locks: none. Index: none. Called by: admin/store.py
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean
