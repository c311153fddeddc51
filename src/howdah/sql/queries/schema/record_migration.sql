-- Purpose: note a migration as applied, in its own transaction. Also printed by `howdah migrate --sql`.
-- Locks: none. Index: migrations_pkey. Called by: db/migrator.py
INSERT INTO howdah.migrations (version, name) VALUES (%(version)s, %(name)s);
