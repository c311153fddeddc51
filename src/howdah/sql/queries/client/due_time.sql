-- Purpose: a delay as a time on the database's clock, for COPY, which cannot compute it.
-- Locks: none. Index: none. Called by: client/store.py
SELECT now() + %(delay)s::interval
