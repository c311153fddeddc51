-- Purpose: this transaction reads only, and each of its statements ends in time.
-- Locks: none. Index: none. Called by: db/bounded.py
SELECT set_config('statement_timeout', %(milliseconds)s::text, true), set_config('transaction_read_only', 'on', true)
