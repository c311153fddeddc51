-- Purpose: the newest migration applied, and the version of the oldest code that works with it; null: only its own does.
-- Locks: none. Index: none, a row for each migration. Called by: db/migrator.py, admin/doctor/store.py
-- The column is read through JSON, because it is not there before migration 16.
SELECT max(m.version), max((to_jsonb(m) ->> 'oldest_code')::int) FROM howdah.migrations AS m
