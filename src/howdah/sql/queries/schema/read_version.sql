-- Purpose: the newest migration applied.
-- Locks: none. Index: migrations_pkey. Called by: db/migrator.py
SELECT max(version) FROM howdah.migrations
