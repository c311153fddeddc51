-- Purpose: this transaction reads only, and each of its statements ends in time. No compiling: for a question asked once
-- it took as long as the answer (100,000 jobs, PostgreSQL 15). Plans for the values at hand: what is searched for differs.
-- Locks: none. Index: none. Called by: db/limits.py
SELECT set_config('statement_timeout', %(milliseconds)s::text, true), set_config('transaction_read_only', 'on', true),
    set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)
