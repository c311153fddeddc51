-- Writes of a claim. Every one carries the lease; a write with an old lease, or on a job that is no longer held, changes
-- nothing and says so. Callers pass arrays sorted by id: all batch writers lock ledger rows in that order. They wait for a
-- row that somebody else has locked for half a second and then fail whole (lock_not_available): the worker then sets the locked
-- jobs aside, so that they do not hold up the others.

CREATE FUNCTION howdah.refused(p_ids uuid[], p_leases bigint[], p_status text) RETURNS uuid[]
LANGUAGE sql STABLE SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    -- Which of these writes did not count. A job that already stands as this lease left it is not refused: the reply to
    -- an earlier, committed acknowledgement was lost, and repeating it is safe.
    SELECT coalesce(array_agg(t.id), '{}')
    FROM unnest(p_ids, p_leases) AS t (id, lease)
    WHERE NOT EXISTS (SELECT FROM howdah.jobs AS j WHERE j.id = t.id AND j.lease = t.lease AND j.status = p_status)
$$;

CREATE FUNCTION howdah.complete_jobs(p_ids uuid[], p_leases bigint[], p_results text[], p_ran double precision[], p_claims bigint[])
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
SET lock_timeout = '500ms' AS $$
DECLARE
    v_count int;
BEGIN
    -- Returns the ids that were refused. p_ran: seconds that the handler ran, so that started_at is on the database's clock.
    UPDATE howdah.jobs AS j
    SET status = 'completed', progress = 100, completed_at = clock_timestamp(), result = t.result::jsonb,
        started_at = coalesce(j.started_at, clock_timestamp() - make_interval(secs => t.ran))
    FROM unnest(p_ids, p_leases, p_results, p_ran) AS t (id, lease, result, ran)
    WHERE j.id = t.id AND j.lease = t.lease AND j.status IN ('claimed', 'running');
    GET DIAGNOSTICS v_count = ROW_COUNT;
    DELETE FROM howdah.claims AS c WHERE c.claim = ANY (p_claims);
    IF v_count = cardinality(p_ids) THEN
        RETURN '{}';
    END IF;
    RETURN howdah.refused(p_ids, p_leases, 'completed');
END $$;

CREATE FUNCTION howdah.backoff(p_errors int) RETURNS interval
LANGUAGE sql VOLATILE AS $$
    -- Exponential with full jitter: somewhere between nothing and 2, 4, 8, … seconds, at most an hour.
    SELECT random() * least(interval '1 hour', interval '2 seconds' * power(2, least(greatest(p_errors, 0), 20)))
$$;

CREATE FUNCTION howdah.fate(p_outcome text, p_cancelled boolean, p_attempts_left boolean, p_deaths_left boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    -- What becomes of a job whose claim ends so. A job whose cancellation was asked for does not come back.
    SELECT CASE
        WHEN p_outcome = 'fail' THEN 'failed'
        WHEN p_outcome = 'cancel' OR p_cancelled THEN 'cancelled'
        WHEN p_outcome IN ('snooze', 'release') THEN 'pending'
        WHEN p_outcome = 'death' AND NOT p_deaths_left THEN 'failed'
        WHEN p_attempts_left THEN 'pending'
        ELSE 'failed'
    END
$$;

CREATE FUNCTION howdah.finish_jobs(
    p_ids uuid[], p_leases bigint[], p_outcomes text[], p_errors text[], p_delays double precision[],
    p_ran double precision[], p_claims bigint[])
RETURNS TABLE (id uuid, status text, run_in double precision)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
SET lock_timeout = '500ms' AS $$
DECLARE
    v_max_deaths int := (SELECT s.max_deaths FROM howdah.settings AS s);
BEGIN
    -- Every end of a claim that is not a completion. Outcomes:
    --   retry    the handler raised: again after the delay (null: the default backoff) while attempts are left, else failed
    --   fail     the handler gave up: failed
    --   cancel   cancelled
    --   snooze   again after the delay, and this claim is not counted
    --   release  a graceful stop: again at once, and this claim is not counted
    --   death    the process running it died: as retry, but charged as a death, and failed as poison when the budget is gone
    -- Returns what was accepted, with the status it now has. The fate is computed from the row as it is locked, so that a
    -- cancellation that commits at the same moment is not lost.
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
            j.errors + CASE WHEN t.outcome IN ('retry', 'fail') THEN 1 ELSE 0 END,
            j.deaths + CASE WHEN t.outcome = 'death' THEN 1 ELSE 0 END,
            CASE WHEN t.outcome = 'death' AND f.fate = 'failed' AND j.deaths + 1 >= v_max_deaths THEN 'poison: ' ELSE '' END
                || coalesce(t.error, j.last_error)
        FROM (SELECT howdah.fate(t.outcome, j.cancel_requested_at IS NOT NULL, j.attempts < j.max_attempts,
            j.deaths + 1 < v_max_deaths) AS fate) AS f)
    FROM unnest(p_ids, p_leases, p_outcomes, p_errors, p_delays, p_ran) AS t (id, lease, outcome, error, delay, ran)
    WHERE j.id = t.id AND j.lease = t.lease AND j.status IN ('claimed', 'running')
    RETURNING j.id, j.status,
        CASE WHEN isfinite(j.run_at) THEN extract(epoch FROM j.run_at - clock_timestamp())::double precision END;
    DELETE FROM howdah.claims AS c WHERE c.claim = ANY (p_claims);
END $$;

CREATE FUNCTION howdah.not_locked(p_ids uuid[]) RETURNS uuid[]
LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
    -- Those of the jobs that nobody else has locked; they are locked now, until the end of the transaction.
    SELECT coalesce(array_agg(f.id), '{}')
    FROM (SELECT j.id FROM howdah.jobs AS j WHERE j.id = ANY (p_ids) FOR UPDATE SKIP LOCKED) AS f
$$;

CREATE FUNCTION howdah.report_jobs(p_ids uuid[], p_leases bigint[], p_progress int[], p_stages text[], p_ran double precision[])
RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
SET lock_timeout = '500ms' AS $$
BEGIN
    -- What running jobs have to say, all of a worker's in one statement. A null progress or stage says nothing new.
    -- Progress never goes backwards within a claim (a claim sets it to 0). Returns what was accepted.
    RETURN QUERY
    UPDATE howdah.jobs AS j
    SET status = 'running',
        started_at = coalesce(j.started_at, clock_timestamp() - make_interval(secs => t.ran)),
        progress = greatest(j.progress, coalesce(t.progress, 0)),
        current_stage = coalesce(t.stage, j.current_stage)
    FROM unnest(p_ids, p_leases, p_progress, p_stages, p_ran) AS t (id, lease, progress, stage, ran)
    WHERE j.id = t.id AND j.lease = t.lease AND j.status IN ('claimed', 'running')
    RETURNING j.id;
END $$;

CREATE FUNCTION howdah.record_events(
    p_ids uuid[], p_leases bigint[], p_seqs int[], p_names text[], p_data text[], p_ages double precision[])
RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
SET lock_timeout = '500ms' AS $$
BEGIN
    -- Events under the numbers that their worker gave them, on from events_count at the claim: repeating a write whose reply
    -- was lost adds nothing. p_ages: seconds since each happened. Returns the jobs whose events were kept.
    RETURN QUERY
    WITH said AS MATERIALIZED (
        SELECT t.* FROM unnest(p_ids, p_leases, p_seqs, p_names, p_data, p_ages) AS t (id, lease, seq, name, data, age)
    ), counted AS (
        UPDATE howdah.jobs AS j SET events_count = greatest(j.events_count, s.highest)
        FROM (SELECT m.id, m.lease, max(m.seq) AS highest FROM said AS m GROUP BY m.id, m.lease ORDER BY m.id) AS s
        WHERE j.id = s.id AND j.lease = s.lease AND j.status IN ('claimed', 'running')
        RETURNING j.id, j.attempts
    ), kept AS (
        INSERT INTO howdah.job_events (job_id, seq, at, attempt, name, data)
        SELECT c.id, s.seq, clock_timestamp() - make_interval(secs => s.age), c.attempts, s.name, s.data::jsonb
        FROM counted AS c JOIN said AS s ON s.id = c.id
        ON CONFLICT DO NOTHING
    )
    SELECT c.id FROM counted AS c;
END $$;
