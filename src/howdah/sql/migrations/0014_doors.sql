-- Doors: what somebody needs who has no rights on the tables, as a role of docs/decisions/0008-roles.md. Here they are
-- plain functions in the caller's own name; `howdah roles` makes them doors. Their plans are kept in the session and prune
-- partitions when they run: asking through them is quicker than planning the same SELECT anew.

CREATE FUNCTION howdah.get_job(p_id uuid) RETURNS SETOF howdah.jobs
LANGUAGE plpgsql STABLE ROWS 1 SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    -- By its id only: who does not know the id cannot ask.
    RETURN QUERY SELECT j.* FROM howdah.jobs AS j WHERE j.id = p_id;
END $$;

CREATE FUNCTION howdah.get_status(p_id uuid) RETURNS SETOF text
LANGUAGE plpgsql STABLE ROWS 1 SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY SELECT j.status FROM howdah.jobs AS j WHERE j.id = p_id;
END $$;

CREATE FUNCTION howdah.list_events(p_id uuid, p_after int DEFAULT 0)
RETURNS TABLE (seq int, at timestamptz, attempt int, name text, data jsonb)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY SELECT e.seq, e.at, e.attempt, e.name, e.data FROM howdah.job_events AS e
        WHERE e.job_id = p_id AND e.seq > p_after ORDER BY e.seq;
END $$;

CREATE FUNCTION howdah.bury_worker(p_worker_id text) RETURNS TABLE (id uuid, status text, deaths int, worker_id text)
LANGUAGE sql VOLATILE AS $$
    -- What a worker held whose process was seen to end goes back to the line, or ends, as a rescue would have it. The
    -- worker's row and its claims stay until its silence is over: a claim of its that the server is still at work on
    -- would otherwise commit without a worker, and count as a plain caller's, which is left alone for an hour.
    WITH dead AS (
        SELECT w.id, w.marks_starts FROM howdah.workers AS w WHERE w.id = p_worker_id FOR UPDATE
    )
    SELECT s.id, s.status, s.deaths, d.id
    FROM dead AS d
    CROSS JOIN LATERAL howdah.settle_stale(
        ARRAY(SELECT u.i FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (i) WHERE c.worker_id = d.id),
        d.id, concat('worker ', d.id, ' died'), d.marks_starts) AS s
$$;

-- Jobs without what they carry, for lists. The error may quote what a job carries: it is shown to those who may read it
-- in the ledger, and is null for others. The question is asked once for a statement, not for every row.
CREATE VIEW howdah.job_lines AS
SELECT j.id, j.job_type, j.priority, j.status, j.progress, j.current_stage, j.events_count, j.worker_id, j.claimed_at,
    j.created_at, j.started_at, j.completed_at, j.attempts, j.max_attempts, j.queue, j.run_at, j.lease, j.errors,
    j.deaths, j.cancel_requested_at,
    CASE WHEN (SELECT pg_catalog.has_column_privilege('howdah.jobs'::regclass, 'last_error', 'SELECT'))
        THEN j.last_error END AS last_error
FROM howdah.jobs AS j;

-- As in 0002, with every name written out: `howdah roles` opens it to readers, and pins the search_path of all others
-- that it opens. A pin would keep this one from being dissolved into the claim.
CREATE OR REPLACE FUNCTION howdah.lane_of(p_queue text, p_job_type text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT pg_catalog.hashtextextended(
        p_queue OPERATOR(pg_catalog.||) E'\x1f' OPERATOR(pg_catalog.||) p_job_type, 0::bigint)
$$;
