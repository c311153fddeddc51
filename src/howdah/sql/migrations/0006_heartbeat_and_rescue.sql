-- Who is alive, and what becomes of the jobs of those who are not. The database's clock only.

CREATE FUNCTION howdah.heartbeat(p_worker_id text, p_ids uuid[] DEFAULT '{}', p_leases bigint[] DEFAULT '{}')
RETURNS TABLE (id uuid, verdict text)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    -- One beat for all of a worker's jobs. May be called as often as one likes: the row is written only when a sixth of
    -- the allowed silence has passed. Answers for each job: held, cancel (held, and its cancellation was asked for) or
    -- lost (another claim has it, or it has ended: stop working on it).
    UPDATE howdah.workers AS w SET heartbeat_at = clock_timestamp()
    WHERE w.id = p_worker_id AND w.heartbeat_at < clock_timestamp() - w.silence / 6;
    IF NOT FOUND THEN
        INSERT INTO howdah.workers AS w (id)
        SELECT p_worker_id WHERE NOT EXISTS (SELECT FROM howdah.workers AS k WHERE k.id = p_worker_id)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN QUERY
    SELECT t.id,
        CASE WHEN j.id IS NULL THEN 'lost' WHEN j.cancel_requested_at IS NOT NULL THEN 'cancel' ELSE 'held' END
    FROM unnest(p_ids, p_leases) AS t (id, lease)
    LEFT JOIN howdah.jobs AS j ON j.id = t.id AND j.lease = t.lease AND j.status IN ('claimed', 'running');
END $$;

CREATE FUNCTION howdah.register_worker(p_worker_id text, p_silence interval, p_queues text[], p_job_types text[], p_info jsonb)
RETURNS void
LANGUAGE sql VOLATILE AS $$
    -- Registering promises to call start_job (or report_jobs) and wait for it before running a job with deaths > 0.
    INSERT INTO howdah.workers AS w (id, silence, queues, job_types, info, marks_starts)
    VALUES (p_worker_id, p_silence, p_queues, p_job_types, p_info, true)
    ON CONFLICT (id) DO UPDATE
    SET heartbeat_at = clock_timestamp(), silence = excluded.silence, queues = excluded.queues,
        job_types = excluded.job_types, info = excluded.info, marks_starts = true
$$;

CREATE FUNCTION howdah.reconcile_claims(p_worker_id text, p_ids uuid[], p_older interval) RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_ids uuid[];
    v_leases bigint[];
    v_count int;
BEGIN
    -- Jobs that the table says this worker holds and the worker does not know of: the reply to its claim was lost. They
    -- have never started here, so they are released at no charge. p_ids: all that the worker knows of. Claims younger than
    -- p_older are left alone: their reply may be on its way.
    SELECT array_agg(k.id), array_agg(k.lease) INTO v_ids, v_leases FROM (
        SELECT j.id, j.lease FROM howdah.jobs AS j
        WHERE j.id = ANY (ARRAY(
                SELECT u.i FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (i)
                WHERE c.worker_id = p_worker_id AND c.claimed_at < clock_timestamp() - p_older
                EXCEPT SELECT unnest(p_ids)))
            AND j.worker_id = p_worker_id AND j.status IN ('claimed', 'running')
        ORDER BY j.id FOR UPDATE SKIP LOCKED) AS k;
    IF v_ids IS NULL THEN
        RETURN 0;
    END IF;
    SELECT count(*) INTO v_count FROM howdah.finish_jobs(
        v_ids, v_leases, array_fill('release'::text, ARRAY[cardinality(v_ids)]), '{}', '{}', '{}', '{}');
    RETURN v_count;
END $$;

CREATE FUNCTION howdah.unregister_worker(p_worker_id text) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    -- A worker leaves in peace. False: it still holds jobs; release them first, or a rescue will take them for dead.
    WITH emptied AS (
        DELETE FROM howdah.claims AS c WHERE c.worker_id = p_worker_id
            AND NOT EXISTS (SELECT FROM howdah.jobs AS j WHERE j.id = ANY (c.job_ids) AND j.worker_id = p_worker_id
                AND j.status IN ('claimed', 'running'))
        RETURNING c.claim
    ), gone AS (
        DELETE FROM howdah.workers AS w WHERE w.id = p_worker_id
            AND NOT EXISTS (SELECT FROM howdah.claims AS c WHERE c.worker_id = p_worker_id
                AND c.claim NOT IN (SELECT e.claim FROM emptied AS e))
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM gone)
$$;

CREATE FUNCTION howdah.settle_stale(p_ids uuid[], p_worker_id text, p_reason text, p_marks_starts boolean) RETURNS SETOF howdah.jobs
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_max_deaths int := (SELECT s.max_deaths FROM howdah.settings AS s);
BEGIN
    -- The jobs that a silent worker still holds. A worker that marks starts begins a suspect job (deaths > 0) only after
    -- its start was written down, so where no start stands it never ran in this claim: nothing is charged. This is what
    -- keeps the batch-mates of a poison job from being blamed again and again.
    RETURN QUERY
    UPDATE howdah.jobs AS j
    SET status = f.fate, worker_id = CASE WHEN f.fate = 'pending' THEN NULL ELSE j.worker_id END,
        claimed_at = CASE WHEN f.fate = 'pending' THEN NULL ELSE j.claimed_at END,
        run_at = CASE WHEN f.fate = 'pending' THEN NULL ELSE j.run_at END,
        completed_at = CASE WHEN f.fate = 'pending' THEN NULL ELSE clock_timestamp() END,
        attempts = j.attempts - CASE WHEN f.unstarted THEN 1 ELSE 0 END,
        deaths = j.deaths + CASE WHEN f.unstarted THEN 0 ELSE 1 END,
        last_error = CASE
            WHEN f.fate = 'failed' AND j.deaths + 1 >= v_max_deaths
                THEN format('poison: %s while holding this job, death %s of %s allowed', p_reason, j.deaths + 1, v_max_deaths)
            WHEN f.fate = 'failed' THEN format('%s while holding this job, on its last attempt (%s of %s)', p_reason, j.attempts, j.max_attempts)
            WHEN f.unstarted THEN j.last_error
            ELSE format('%s while holding this job (death %s of %s allowed)', p_reason, j.deaths + 1, v_max_deaths)
        END
    FROM (
        SELECT h.id, h.lease, s.unstarted,
            howdah.fate(CASE WHEN s.unstarted THEN 'release' ELSE 'death' END, h.cancel_requested_at IS NOT NULL,
                h.attempts < h.max_attempts, h.deaths + 1 < v_max_deaths) AS fate
        FROM (SELECT DISTINCT i FROM unnest(p_ids) AS u (i) ORDER BY i) AS p
        JOIN howdah.jobs AS h ON h.id = p.i
        CROSS JOIN LATERAL (SELECT p_marks_starts AND h.deaths > 0 AND h.started_at IS NULL AND h.attempts > 0 AS unstarted) AS s
        WHERE coalesce(h.worker_id, '?') = p_worker_id AND h.status IN ('claimed', 'running')
        FOR UPDATE OF h SKIP LOCKED
    ) AS f
    WHERE j.id = f.id AND j.lease = f.lease AND j.status IN ('claimed', 'running')
    RETURNING j.*;
END $$;

CREATE FUNCTION howdah.rescue_jobs() RETURNS TABLE (id uuid, status text, deaths int, worker_id text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_settings howdah.settings;
    v_silent record;
BEGIN
    -- Any worker's tick. The row of a silent worker is locked first and its silence checked again under the lock, so a
    -- heartbeat under way wins. After a restart of the server nobody could have beaten: their silence counts from then.
    SELECT * INTO STRICT v_settings FROM howdah.settings;
    FOR v_silent IN
        SELECT w.id, w.marks_starts FROM howdah.workers AS w
        WHERE w.heartbeat_at < clock_timestamp() - w.silence AND pg_postmaster_start_time() < clock_timestamp() - w.silence
        ORDER BY w.id FOR UPDATE SKIP LOCKED
    LOOP
        RETURN QUERY
        SELECT s.id, s.status, s.deaths, v_silent.id
        FROM howdah.settle_stale(
            ARRAY(SELECT u.i FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (i) WHERE c.worker_id = v_silent.id),
            v_silent.id, format('worker %s died or lost its connection', v_silent.id), v_silent.marks_starts) AS s;
        DELETE FROM howdah.claims AS c WHERE c.worker_id = v_silent.id
            AND NOT EXISTS (SELECT FROM howdah.jobs AS j WHERE j.id = ANY (c.job_ids) AND coalesce(j.worker_id, '?') = v_silent.id
                AND j.status IN ('claimed', 'running'));
        DELETE FROM howdah.workers AS w WHERE w.id = v_silent.id
            AND NOT EXISTS (SELECT FROM howdah.claims AS c WHERE c.worker_id = v_silent.id);
    END LOOP;
    -- Claims by plain callers, who never send a heartbeat.
    FOR v_silent IN
        SELECT c.claim, c.worker_id AS id, c.job_ids, c.claimed_at FROM howdah.claims AS c
        WHERE c.claimed_at < now() - least(v_settings.plain_claim_timeout, interval '1 minute')
            AND NOT EXISTS (SELECT FROM howdah.workers AS w WHERE w.id = c.worker_id)
        ORDER BY c.claim LIMIT 1000 FOR UPDATE SKIP LOCKED
    LOOP
        RETURN QUERY
        SELECT s.id, s.status, s.deaths, v_silent.id
        FROM howdah.settle_stale(
            ARRAY(SELECT j.id FROM howdah.jobs AS j WHERE j.id = ANY (v_silent.job_ids)
                AND coalesce(j.claimed_at, v_silent.claimed_at) < now() - v_settings.plain_claim_timeout),
            v_silent.id, format('worker %s sent no heartbeat for %s', v_silent.id, v_settings.plain_claim_timeout), false) AS s;
    END LOOP;
    -- Callers in plain SQL do not close their claims: those of which nothing is held any more go here.
    DELETE FROM howdah.claims AS c
    WHERE c.claim = ANY (ARRAY(
            SELECT k.claim FROM howdah.claims AS k
            WHERE k.claimed_at < now() - least(v_settings.plain_claim_timeout, interval '1 minute')
            ORDER BY k.claim LIMIT 1000 FOR UPDATE SKIP LOCKED))
        AND NOT EXISTS (SELECT FROM howdah.jobs AS j WHERE j.id = ANY (c.job_ids) AND coalesce(j.worker_id, '?') = c.worker_id
            AND j.status IN ('claimed', 'running'));
END $$;

CREATE FUNCTION howdah.recover_stale_jobs(p_timeout interval DEFAULT '5 minutes') RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_claim record;
    v_now int;
    v_count int := 0;
BEGIN
    -- For plain callers, by hand or from cron: jobs claimed longer ago than this whose worker has been silent as long, and
    -- longer than it may be if it sends heartbeats.
    FOR v_claim IN
        SELECT c.claim, c.worker_id, c.job_ids,
            EXISTS (SELECT FROM howdah.workers AS w WHERE w.id = c.worker_id AND w.marks_starts) AS marks_starts
        FROM howdah.claims AS c
        WHERE NOT EXISTS (SELECT FROM howdah.workers AS w
            WHERE w.id = c.worker_id AND w.heartbeat_at > clock_timestamp() - greatest(p_timeout, w.silence))
        ORDER BY c.claim FOR UPDATE SKIP LOCKED
    LOOP
        SELECT count(*) INTO v_now FROM howdah.settle_stale(
            ARRAY(SELECT j.id FROM howdah.jobs AS j WHERE j.id = ANY (v_claim.job_ids)
                AND coalesce(j.claimed_at, '-infinity') <= clock_timestamp() - p_timeout),
            v_claim.worker_id, format('worker %s sent no heartbeat for %s', v_claim.worker_id, p_timeout), v_claim.marks_starts);
        v_count := v_count + v_now;
        DELETE FROM howdah.claims AS c WHERE c.claim = v_claim.claim
            AND NOT EXISTS (SELECT FROM howdah.jobs AS j WHERE j.id = ANY (c.job_ids) AND coalesce(j.worker_id, '?') = c.worker_id
                AND j.status IN ('claimed', 'running'));
    END LOOP;
    RETURN v_count;
END $$;

CREATE FUNCTION howdah.sweep_lanes() RETURNS void
LANGUAGE sql VOLATILE AS $$
    -- Doubles from two first enqueues at once (0001: lanes has no unique index).
    DELETE FROM howdah.lanes AS l WHERE EXISTS (SELECT FROM howdah.lanes AS k WHERE k.lane = l.lane AND k.ctid < l.ctid)
$$;
