-- Purpose: the bench's schema with its mark, both or none, so that the next run knows it for its own.
-- Locks: none that anyone waits for. Index: none. Called by: bench/store.py
DO $$
BEGIN
    EXECUTE format('CREATE SCHEMA %%I', current_setting('howdah_bench.schema'));
    EXECUTE format('COMMENT ON SCHEMA %%I IS %%L', current_setting('howdah_bench.schema'), current_setting('howdah_bench.mark'));
END $$
