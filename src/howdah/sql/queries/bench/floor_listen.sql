-- Purpose: be told of the floor's new jobs. Locks: none. Index: none. Called by: bench/store.py
LISTEN howdah_bench
