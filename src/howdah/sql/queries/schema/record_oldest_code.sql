-- Purpose: note which code a migration still serves. Also printed by `howdah migrate --sql`.
-- Locks: none. Index: migrations_pkey. Called by: db/migrator.py
UPDATE howdah.migrations SET oldest_code = %(oldest_code)s WHERE version = %(version)s;
