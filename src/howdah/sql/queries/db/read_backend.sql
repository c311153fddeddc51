-- Purpose: which server process answers? Locks: none. Index: none. Called by: db/preparing.py, db/bounded.py
SELECT pg_backend_pid()
