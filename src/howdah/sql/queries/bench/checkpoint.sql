-- Purpose: write out what was filled in. Locks: none. Index: none. Called by: bench/store.py
CHECKPOINT
