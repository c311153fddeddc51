-- Purpose: leave the planner no choice, as Howdah's own functions do.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
    set_config('enable_sort', 'off', false), set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),
    set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false)
