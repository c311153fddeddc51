-- Purpose: the newest migration applied, and the version of the oldest code that works with all of them.
-- Locks: none. Index: none, a row for each migration. Called by: db/migrator.py, admin/doctor/store.py
-- The column is read through JSON, because it is not there before migration 16; a migration without a word serves only its own code.
SELECT max(m.version), max(coalesce((to_jsonb(m) ->> 'oldest_code')::int, m.version)) FROM howdah.migrations AS m
