-- Purpose: which server this is, and whether it takes writes. The default is asked for, because the doctor's own
-- transaction is read-only. Locks: none. Index: none. Called by: admin/doctor/store.py
SELECT current_setting('server_version_num')::int, current_setting('server_version'), pg_is_in_recovery(),
    current_setting('default_transaction_read_only')::boolean
