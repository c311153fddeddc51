-- Purpose: a page of events, and of each whose data is not sealed with the key given, or with none, that data; of a record of an
-- attempt (0019) if its error is sealed with another key.
-- Locks: the rows, in the order of their key, until the end of the transaction. Index: job_events_pkey.
-- Called by: admin/store.py
SELECT e.job_id, e.seq, e.name,
    CASE
        WHEN e.seq > 0 AND (e.data -> 'howdah:sealed' ->> 'key') IS DISTINCT FROM %(key)s::text THEN e.data::text
        WHEN e.seq < 0 AND e.data ->> 'error' LIKE 'howdah:sealed {%%'
            AND substring(e.data ->> 'error' FROM '^howdah:sealed \{"key":"([^"]*)"') IS DISTINCT FROM %(key)s::text
            THEN e.data::text
    END
FROM howdah.job_events AS e
WHERE %(job_id)s::uuid IS NULL OR (e.job_id, e.seq) > (%(job_id)s::uuid, %(seq)s::int)
ORDER BY e.job_id, e.seq
LIMIT %(limit)s::int
FOR UPDATE
