-- Purpose: let the next transaction keep one snapshot, as a long report does.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT set_config('default_transaction_isolation', 'repeatable read', false),
    set_config('default_transaction_read_only', %(read_only)s::text, false)
