-- Purpose: name the bench's schema for make_schema and drop_schema, whose bodies cannot take parameters.
-- Locks: none. Index: none. Called by: bench/store.py
SELECT set_config('howdah_bench.schema', %(schema)s::text, false), set_config('howdah_bench.mark', %(mark)s::text, false)
