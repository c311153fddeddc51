-- The claim. Order: highest priority first, oldest first within a priority, across all lanes that one claim serves.
-- The planner has no choice here (function settings): these tables go from empty to millions between two ANALYZEs.

CREATE FUNCTION howdah.promote_due(p_limit int DEFAULT 5000) RETURNS int
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_now int;
    v_count int := 0;
BEGIN
    -- What is due moves to the ready line, all of it (up to a bound), because a job of high priority may be due last. The
    -- line row carries all that is needed, so the ledger is not touched.
    FOR n IN 1 .. 20 LOOP
        WITH due AS MATERIALIZED (
            SELECT s.ctid AS place FROM howdah.scheduled AS s
            WHERE s.run_at <= now() ORDER BY s.run_at, s.id LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ), moved AS (
            DELETE FROM howdah.scheduled WHERE ctid = ANY (ARRAY(SELECT place FROM due))
            RETURNING lane, rank, created_at, id
        )
        INSERT INTO howdah.ready (lane, rank, created_at, id) SELECT lane, rank, created_at, id FROM moved;
        GET DIAGNOSTICS v_now = ROW_COUNT;
        v_count := v_count + v_now;
        EXIT WHEN v_now < p_limit;
    END LOOP;
    RETURN v_count;
END $$;

CREATE FUNCTION howdah.open_lanes(p_queues text[], p_job_types text[])
RETURNS TABLE (lane bigint, queue text)
LANGUAGE sql STABLE AS $$
    -- The lanes of these types, on these queues (null: on every queue), that are not paused.
    SELECT DISTINCT l.lane, l.queue FROM howdah.lanes AS l
    WHERE l.job_type = ANY (p_job_types) AND (p_queues IS NULL OR l.queue = ANY (p_queues))
        AND NOT EXISTS (SELECT FROM howdah.pauses AS p
            WHERE (p.kind = 'queue' AND p.name = l.queue) OR (p.kind = 'type' AND p.name = l.job_type))
$$;

CREATE FUNCTION howdah.take_places(p_places tid[], p_lanes bigint[], p_most int) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_taken uuid[];
BEGIN
    -- Of these line rows, the first that nobody else holds, line row and ledger row both; waits for nobody. What is locked
    -- and still stands in the ledger exactly as in the line is taken. What is locked and stands otherwise is a surplus line
    -- row (its true one is elsewhere) and goes; so does one without a ledger row. What another transaction holds stays.
    WITH line AS MATERIALIZED (
        SELECT r.ctid AS place, r.lane, r.rank, r.created_at, r.id FROM howdah.ready AS r
        WHERE r.ctid = ANY (p_places) AND r.lane = ANY (p_lanes) ORDER BY r.rank, r.created_at, r.id LIMIT p_most
        FOR UPDATE SKIP LOCKED
    ), ledger AS MATERIALIZED (
        SELECT j.id, j.status, j.queue, j.job_type, j.priority, j.created_at, j.run_at, j.attempts < j.max_attempts AS may
        FROM howdah.jobs AS j WHERE j.id = ANY (ARRAY(SELECT id FROM line))
        FOR UPDATE SKIP LOCKED
    ), judged AS MATERIALIZED (
        SELECT l.place, l.id, g.id IS NOT NULL AS held,
            g.status = 'pending' AND g.may AND howdah.lane_of(g.queue, g.job_type) = l.lane AND ~g.priority = l.rank
                AND g.created_at = l.created_at AND (g.run_at IS NULL OR g.run_at <= clock_timestamp()) AS good
        FROM line AS l LEFT JOIN ledger AS g ON g.id = l.id
    ), gone AS (
        DELETE FROM howdah.ready WHERE ctid = ANY (ARRAY(
            SELECT j.place FROM judged AS j
            WHERE j.held OR NOT EXISTS (SELECT FROM howdah.jobs AS k WHERE k.id = j.id)))
    )
    SELECT array_agg(DISTINCT j.id) FROM judged AS j WHERE j.good INTO v_taken;
    RETURN coalesce(v_taken, '{}');
END $$;

CREATE FUNCTION howdah.take_ready(p_lanes bigint[], p_batch int) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_taken uuid[] := '{}';
    v_tried tid[] := '{}';
    v_peeked tid[];
    v_width int := p_batch;
BEGIN
    -- Peek at the head of every lane without locking, merge, and take what nobody holds. What others hold is skipped: the
    -- next round looks past it, and wider.
    LOOP
        SELECT array_agg(p.place) INTO v_peeked FROM (
            SELECT h.place
            FROM unnest(p_lanes) AS l (lane)
            CROSS JOIN LATERAL (
                SELECT r.ctid AS place, r.rank, r.created_at, r.id FROM howdah.ready AS r
                WHERE r.lane = l.lane ORDER BY r.rank, r.created_at, r.id
                LIMIT v_width + cardinality(v_tried)
            ) AS h
            WHERE h.place <> ALL (v_tried)
            ORDER BY h.rank, h.created_at, h.id LIMIT v_width
        ) AS p;
        EXIT WHEN v_peeked IS NULL;
        v_taken := v_taken || howdah.take_places(v_peeked, p_lanes, p_batch - cardinality(v_taken));
        -- A peek that came back short has nothing behind it.
        EXIT WHEN cardinality(v_taken) >= p_batch OR cardinality(v_peeked) < v_width;
        v_tried := v_tried || v_peeked;
        EXIT WHEN cardinality(v_tried) > 20000;
        v_width := least(2 * v_width + 10, 2000);
    END LOOP;
    RETURN v_taken;
END $$;

CREATE FUNCTION howdah.take_ready_by_pool(p_queues text[], p_limits int[], p_pools int[], p_job_types text[], p_batch int) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_taken uuid[] := '{}';
    v_now uuid[];
    v_pool int;
    v_most int;
BEGIN
    -- The queues of one pool together give no more than its limit: a worker's free slots differ from pool to pool. Pool by
    -- pool, each in strict order; the worker starts what it got in strict order again.
    FOR v_pool, v_most IN SELECT DISTINCT q.pool, q.most FROM unnest(p_pools, p_limits) AS q (pool, most) ORDER BY q.pool LOOP
        v_now := howdah.take_ready(ARRAY(
            SELECT l.lane FROM howdah.open_lanes(ARRAY(
                SELECT q.name FROM unnest(p_queues, p_pools) AS q (name, pool) WHERE q.pool = v_pool), p_job_types) AS l),
            least(v_most, p_batch - cardinality(v_taken)));
        v_taken := v_taken || v_now;
        EXIT WHEN cardinality(v_taken) >= p_batch;
    END LOOP;
    RETURN v_taken;
END $$;

CREATE FUNCTION howdah.pick_jobs(p_job_types text[], p_batch int, p_queues text[], p_limits int[], p_pools int[]) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- The jobs to claim, their ledger rows locked and their line rows gone; whoever calls this claims them in the same
    -- transaction.
    IF p_batch IS NULL OR p_batch < 1 THEN
        RETURN '{}';
    END IF;
    PERFORM howdah.promote_due();
    IF p_limits IS NULL THEN
        RETURN howdah.take_ready(ARRAY(SELECT l.lane FROM howdah.open_lanes(p_queues, p_job_types) AS l), p_batch);
    END IF;
    RETURN howdah.take_ready_by_pool(p_queues, p_limits, p_pools, p_job_types, p_batch);
END $$;

CREATE FUNCTION howdah.claim_jobs(p_worker_id text, p_job_types text[], p_batch int, p_queues text[] DEFAULT NULL,
    p_limits int[] DEFAULT NULL, p_pools int[] DEFAULT NULL)
RETURNS TABLE (claim bigint, id uuid, lease bigint, job_type text, queue text, priority int, created_at double precision,
    data text, attempts int, max_attempts int, errors int, deaths int, events_count int)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_ids uuid[] := howdah.pick_jobs(p_job_types, p_batch, p_queues, p_limits, p_pools);
    v_lease bigint := howdah.new_lease(0);
    v_claim bigint;
BEGIN
    -- The claim of Howdah's own workers: only the columns that they need, none of which can fail to be read.
    IF cardinality(v_ids) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO howdah.claims AS c (worker_id, job_ids) VALUES (p_worker_id, v_ids) RETURNING c.claim INTO v_claim;
    RETURN QUERY
    WITH taken AS (
        UPDATE howdah.jobs AS j
        SET status = 'claimed', worker_id = p_worker_id, claimed_at = now(), attempts = j.attempts + 1,
            lease = greatest(j.lease + 1, v_lease), progress = 0, current_stage = NULL, started_at = NULL,
            cancel_requested_at = NULL
        WHERE j.id = ANY (v_ids) AND j.status = 'pending'
        RETURNING j.id, j.lease, j.job_type, j.queue, j.priority, j.created_at, j.data, j.attempts, j.max_attempts, j.errors,
            j.deaths, j.events_count
    )
    SELECT v_claim, t.id, t.lease, t.job_type, t.queue, t.priority, extract(epoch FROM t.created_at)::double precision,
        t.data::text, t.attempts, t.max_attempts, t.errors, t.deaths, t.events_count
    FROM taken AS t ORDER BY t.priority DESC, t.created_at, t.id;
END $$;

CREATE FUNCTION howdah.claim_job_batch(p_worker_id varchar, p_job_types varchar[], p_batch_size int DEFAULT 10)
RETURNS SETOF howdah.jobs
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_ids uuid[] := howdah.pick_jobs(p_job_types, p_batch_size, NULL, NULL, NULL);
    v_lease bigint := howdah.new_lease(0);
BEGIN
    -- The contract's claim, for any language: every queue, whole rows. The same statement as in claim_jobs; a test runs both.
    IF cardinality(v_ids) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO howdah.claims (worker_id, job_ids) VALUES (p_worker_id, v_ids);
    RETURN QUERY
    WITH taken AS (
        UPDATE howdah.jobs AS j
        SET status = 'claimed', worker_id = p_worker_id, claimed_at = now(), attempts = j.attempts + 1,
            lease = greatest(j.lease + 1, v_lease), progress = 0, current_stage = NULL, started_at = NULL,
            cancel_requested_at = NULL
        WHERE j.id = ANY (v_ids) AND j.status = 'pending'
        RETURNING j.*
    )
    SELECT t.* FROM taken AS t ORDER BY t.priority DESC, t.created_at, t.id;
END $$;

CREATE FUNCTION howdah.seconds_to_next_due() RETURNS double precision
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    -- How long until the scheduled line's head is due, by the database's clock; null when the line is empty.
    SELECT extract(epoch FROM s.run_at - clock_timestamp())::double precision
    FROM (SELECT n.run_at FROM howdah.scheduled AS n ORDER BY n.run_at LIMIT 1) AS s WHERE isfinite(s.run_at)
$$;
