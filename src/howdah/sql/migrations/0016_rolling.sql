-- Oldest code: 15
-- Every migration from here on says in its first line which code can go on using the schema after it: a rolling deploy migrates
-- first, and for a while processes of the release before work, and start again, beside new ones. A migration that serves nothing
-- older than itself says its own number. Without a word (all up to 15) only code of its own version may use it.
ALTER TABLE howdah.migrations ADD COLUMN oldest_code int;
