-- Purpose: a page of the ledger, and what of it is not sealed as it should be: arguments and results with the key given, or
-- with none if none is given; an error only if it is sealed with another key, since most errors are nobody's secret.
-- Locks: none. Index: jobs_pkey. Called by: admin/store.py
SELECT j.id,
    (j.data -> 'howdah:sealed' ->> 'key') IS DISTINCT FROM %(key)s::text
        OR (j.result IS NOT NULL AND (j.result -> 'howdah:sealed' ->> 'key') IS DISTINCT FROM %(key)s::text)
        OR coalesce(substring(j.last_error FROM '^howdah:sealed \{"key":"([^"]*)"') IS DISTINCT FROM %(key)s::text
            AND j.last_error LIKE 'howdah:sealed {%%', false)
FROM howdah.jobs AS j
WHERE %(after)s::uuid IS NULL OR j.id > %(after)s::uuid
ORDER BY j.id
LIMIT %(limit)s::int
