-- Purpose: hear the doorbell. Locks: none. Index: none. Called by: worker/listener.py
LISTEN howdah
