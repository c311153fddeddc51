-- Purpose: which jobs there are to be watched: those that are held, and the newest of the ledger; of each at most so many.
-- Locks: none. Index: claims scan (one row per claimed batch), jobs_pkey backwards. Called by: watch/store.py
SELECT ARRAY(
        SELECT u.id FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (id) LIMIT %(held)s::int
    ), ARRAY(
        SELECT j.id FROM howdah.jobs AS j ORDER BY j.id DESC LIMIT %(newest)s::int
    )
