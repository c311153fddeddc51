-- Purpose: each statement of this transaction ends in time, and waits for nobody's lock for long.
-- Locks: none. Index: none. Called by: db/bounded_pool.py
SELECT set_config('statement_timeout', %(milliseconds)s::text, true), set_config('lock_timeout', '2s', true),
    set_config('jit', 'off', true)
