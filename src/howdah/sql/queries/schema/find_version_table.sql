-- Purpose: is Howdah in this database? Null when not.
-- Locks: none. Index: pg_class by name. Called by: db/migrator.py
SELECT to_regclass('howdah.migrations')
