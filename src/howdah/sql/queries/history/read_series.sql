-- Purpose: the history of one series in steps of equal length, without gaps; the first column is where each begins, the
-- second how many seconds of it have passed. Steps are those of the clock, so that bars stay where they are.
-- Locks: none. Index: stats_pkey. Called by: admin/history/store.py
WITH asked AS (
    SELECT coalesce(%(until)s::timestamptz, now()) AS until, %(step)s::interval AS step, timestamptz '2000-01-03 00:00:00+00' AS origin
), bounds AS (
    SELECT a.*, date_bin(a.step, a.until - %(span)s::interval + a.step, a.origin) AS first FROM asked AS a
), moments AS (
    -- One job type may stand in several queues.
    SELECT s.at, sum(s.waiting) AS waiting, max(s.oldest_seconds) AS oldest, sum(s.started) AS started,
        sum(s.completed) AS completed, sum(s.failed) AS failed, sum(s.cancelled) AS cancelled, sum(s.retried) AS retried,
        sum(s.snoozed) AS snoozed, sum(s.released) AS released, sum(s.rescued) AS rescued,
        howdah.sum_counts(s.ran) AS ran, sum(s.ran_seconds) AS ran_seconds,
        howdah.sum_counts(s.waited) AS waited, sum(s.waited_seconds) AS waited_seconds
    FROM howdah.stats AS s, bounds AS b
    WHERE s.per = %(per)s::text AND s.at >= b.first AND s.at < b.until AND s.job_type = %(job_type)s::text
        AND (s.queue = %(queue)s::text OR %(queue)s::text IS NULL)
    GROUP BY s.at
)
SELECT steps.at, date_part('epoch', least(steps.at + b.step, b.until) - steps.at), max(m.waiting)::bigint, max(m.oldest),
    sum(m.started)::bigint, sum(m.completed)::bigint, sum(m.failed)::bigint, sum(m.cancelled)::bigint,
    sum(m.retried)::bigint, sum(m.snoozed)::bigint, sum(m.released)::bigint, sum(m.rescued)::bigint,
    howdah.sum_counts(m.ran), sum(m.ran_seconds), howdah.sum_counts(m.waited), sum(m.waited_seconds)
FROM bounds AS b
CROSS JOIN LATERAL generate_series(b.first, b.until, b.step) AS steps (at)
LEFT JOIN moments AS m ON m.at >= steps.at AND m.at < steps.at + b.step
WHERE steps.at < b.until
GROUP BY steps.at, b.step, b.until
ORDER BY steps.at
