-- Batch writers that take their jobs in any order. So far whoever called finish_jobs or report_jobs had to sort its arrays by id,
-- or two calls over the same jobs could wait for each other in a circle; now they sort them themselves, as complete_jobs does
-- (0011). A worker that leaves locks its own row before its claims, as a rescue does. And a count that has come to the end of its
-- type, which only plain SQL can bring about, stays there instead of failing its whole batch.

CREATE OR REPLACE FUNCTION howdah.finish_jobs(
    p_ids uuid[], p_leases bigint[], p_outcomes text[], p_errors text[], p_delays double precision[],
    p_ran double precision[], p_claims bigint[])
RETURNS TABLE (id uuid, status text, run_in double precision)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
SET lock_timeout = '500ms' AS $$
DECLARE
    v_max_deaths int := (SELECT s.max_deaths FROM howdah.settings AS s);
BEGIN
    -- As in 0005, in id order. 2147483646: the last number that can be counted on from.
    RETURN QUERY
    UPDATE howdah.jobs AS j
    SET (status, started_at, completed_at, run_at, worker_id, claimed_at, attempts, errors, deaths, last_error) = (
        SELECT f.fate,
            coalesce(j.started_at, clock_timestamp() - make_interval(secs => t.ran)),
            CASE WHEN f.fate <> 'pending' THEN clock_timestamp() END,
            CASE
                WHEN f.fate <> 'pending' THEN j.run_at
                WHEN t.outcome = 'release' THEN NULL
                WHEN t.delay IS NOT NULL THEN clock_timestamp() + make_interval(secs => t.delay)
                ELSE clock_timestamp() + howdah.backoff(j.errors)
            END,
            CASE WHEN f.fate <> 'pending' THEN j.worker_id END,
            CASE WHEN f.fate <> 'pending' THEN j.claimed_at END,
            j.attempts - CASE WHEN t.outcome IN ('snooze', 'release') AND j.attempts > 0 THEN 1 ELSE 0 END,
            CASE WHEN t.outcome IN ('retry', 'fail') THEN least(j.errors, 2147483646) + 1 ELSE j.errors END,
            CASE WHEN t.outcome = 'death' THEN f.next_death ELSE j.deaths END,
            CASE WHEN t.outcome = 'death' AND f.fate = 'failed' AND f.next_death >= v_max_deaths THEN 'poison: ' ELSE '' END
                || coalesce(t.error, j.last_error)
        FROM (SELECT n.next_death, howdah.fate(t.outcome, j.cancel_requested_at IS NOT NULL, j.attempts < j.max_attempts,
            n.next_death < v_max_deaths) AS fate FROM (SELECT least(j.deaths, 2147483646) + 1 AS next_death) AS n) AS f)
    FROM (SELECT u.* FROM unnest(p_ids, p_leases, p_outcomes, p_errors, p_delays, p_ran)
        AS u (id, lease, outcome, error, delay, ran) ORDER BY u.id) AS t
    WHERE j.id = t.id AND j.lease = t.lease AND j.status IN ('claimed', 'running')
    RETURNING j.id, j.status,
        CASE WHEN isfinite(j.run_at) THEN extract(epoch FROM j.run_at - clock_timestamp())::double precision END;
    DELETE FROM howdah.claims AS c WHERE c.claim = ANY (p_claims);
END $$;

CREATE OR REPLACE FUNCTION howdah.report_jobs(
    p_ids uuid[], p_leases bigint[], p_progress int[], p_stages text[], p_ran double precision[])
RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
SET lock_timeout = '500ms' AS $$
BEGIN
    -- As in 0005, in id order.
    RETURN QUERY
    UPDATE howdah.jobs AS j
    SET status = 'running',
        started_at = coalesce(j.started_at, clock_timestamp() - make_interval(secs => t.ran)),
        progress = greatest(j.progress, coalesce(t.progress, 0)),
        current_stage = coalesce(t.stage, j.current_stage)
    FROM (SELECT u.* FROM unnest(p_ids, p_leases, p_progress, p_stages, p_ran) AS u (id, lease, progress, stage, ran)
        ORDER BY u.id) AS t
    WHERE j.id = t.id AND j.lease = t.lease AND j.status IN ('claimed', 'running')
    RETURNING j.id;
END $$;

CREATE OR REPLACE FUNCTION howdah.settle_stale(p_ids uuid[], p_worker_id text, p_reason text, p_marks_starts boolean)
RETURNS SETOF howdah.jobs
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_max_deaths int := (SELECT s.max_deaths FROM howdah.settings AS s);
BEGIN
    -- As in 0006.
    RETURN QUERY
    UPDATE howdah.jobs AS j
    SET status = f.fate, worker_id = CASE WHEN f.fate = 'pending' THEN NULL ELSE j.worker_id END,
        claimed_at = CASE WHEN f.fate = 'pending' THEN NULL ELSE j.claimed_at END,
        run_at = CASE WHEN f.fate = 'pending' THEN NULL ELSE j.run_at END,
        completed_at = CASE WHEN f.fate = 'pending' THEN NULL ELSE clock_timestamp() END,
        attempts = j.attempts - CASE WHEN f.unstarted THEN 1 ELSE 0 END,
        deaths = CASE WHEN f.unstarted THEN j.deaths ELSE f.next_death END,
        last_error = CASE
            WHEN f.fate = 'failed' AND f.next_death >= v_max_deaths
                THEN format('poison: %s while holding this job, death %s of %s allowed', p_reason, f.next_death, v_max_deaths)
            WHEN f.fate = 'failed' THEN format('%s while holding this job, on its last attempt (%s of %s)', p_reason, j.attempts, j.max_attempts)
            WHEN f.unstarted THEN j.last_error
            ELSE format('%s while holding this job (death %s of %s allowed)', p_reason, f.next_death, v_max_deaths)
        END
    FROM (
        SELECT h.id, h.lease, s.unstarted, s.next_death,
            howdah.fate(CASE WHEN s.unstarted THEN 'release' ELSE 'death' END, h.cancel_requested_at IS NOT NULL,
                h.attempts < h.max_attempts, s.next_death < v_max_deaths) AS fate
        FROM (SELECT DISTINCT i FROM unnest(p_ids) AS u (i) ORDER BY i) AS p
        JOIN howdah.jobs AS h ON h.id = p.i
        CROSS JOIN LATERAL (SELECT p_marks_starts AND h.deaths > 0 AND h.started_at IS NULL AND h.attempts > 0 AS unstarted,
            least(h.deaths, 2147483646) + 1 AS next_death) AS s
        WHERE coalesce(h.worker_id, '?') = p_worker_id AND h.status IN ('claimed', 'running')
        FOR UPDATE OF h SKIP LOCKED
    ) AS f
    WHERE j.id = f.id AND j.lease = f.lease AND j.status IN ('claimed', 'running')
    RETURNING j.*;
END $$;

CREATE OR REPLACE FUNCTION howdah.unregister_worker(p_worker_id text) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- As in 0006, but its own row first: a rescue that takes it for dead locks that and then its claims.
    PERFORM FROM howdah.workers AS w WHERE w.id = p_worker_id FOR UPDATE;
    DELETE FROM howdah.claims AS c WHERE c.worker_id = p_worker_id
        AND NOT EXISTS (SELECT FROM howdah.jobs AS j WHERE j.id = ANY (c.job_ids) AND j.worker_id = p_worker_id
            AND j.status IN ('claimed', 'running'));
    DELETE FROM howdah.workers AS w WHERE w.id = p_worker_id
        AND NOT EXISTS (SELECT FROM howdah.claims AS c WHERE c.worker_id = p_worker_id);
    RETURN FOUND;
END $$;
