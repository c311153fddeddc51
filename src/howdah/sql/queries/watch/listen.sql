-- Purpose: hear workers say that they have written something. Locks: none. Index: none. Called by: watch/store.py
LISTEN howdah_watch
