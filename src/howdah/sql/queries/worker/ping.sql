-- Purpose: is this connection alive? Locks: none. Index: none. Called by: worker/listener.py
SELECT 1
