-- The claim. Order: highest priority first, oldest first within a priority, across all lanes that one claim serves.
-- The planner has no choice here (function settings): these tables go from empty to millions between two ANALYZEs.

CREATE FUNCTION howdah.promote_due(p_limit int DEFAULT 1000) RETURNS int
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_count int;
BEGIN
    -- What is due moves to the ready line. The line row carries all that is needed, so the ledger is not touched.
    WITH due AS MATERIALIZED (
        SELECT s.ctid AS place FROM howdah.scheduled AS s
        WHERE s.run_at <= now() ORDER BY s.run_at, s.id LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ), moved AS (
        DELETE FROM howdah.scheduled WHERE ctid = ANY (ARRAY(SELECT place FROM due))
        RETURNING lane, rank, created_at, id
    )
    INSERT INTO howdah.ready (lane, rank, created_at, id) SELECT lane, rank, created_at, id FROM moved;
    GET DIAGNOSTICS v_count = ROW_COUNT;
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

CREATE FUNCTION howdah.take_ready(p_lanes bigint[], p_batch int) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_taken uuid[] := '{}';
    v_tried tid[] := '{}';
    v_peeked tid[];
    v_got uuid[];
BEGIN
    -- Peek at the head of every lane without locking, merge, lock only the winners, delete those that could be locked.
    -- One statement, one snapshot: a row that it saw cannot be replaced under its ctid while it runs. Rows that another
    -- claimer holds are skipped; the next round looks past them.
    LOOP
        WITH peek AS MATERIALIZED (
            SELECT h.place, h.rank, h.created_at, h.id
            FROM unnest(p_lanes) AS l (lane)
            CROSS JOIN LATERAL (
                SELECT r.ctid AS place, r.rank, r.created_at, r.id FROM howdah.ready AS r
                WHERE r.lane = l.lane ORDER BY r.rank, r.created_at, r.id
                LIMIT p_batch - cardinality(v_taken) + cardinality(v_tried)
            ) AS h
            WHERE h.place <> ALL (v_tried)
            ORDER BY h.rank, h.created_at, h.id
            LIMIT p_batch - cardinality(v_taken)
        ), held AS MATERIALIZED (
            SELECT r.ctid AS place FROM howdah.ready AS r
            WHERE r.ctid = ANY (ARRAY(SELECT place FROM peek)) FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM howdah.ready WHERE ctid = ANY (ARRAY(SELECT place FROM held)) RETURNING id
        )
        SELECT (SELECT array_agg(place) FROM peek), (SELECT array_agg(id) FROM gone) INTO v_peeked, v_got;
        v_taken := v_taken || coalesce(v_got, '{}');
        -- Done when the batch is full, or when a peek came back short: nothing lies behind it.
        EXIT WHEN cardinality(v_taken) >= p_batch OR v_peeked IS NULL
            OR cardinality(v_peeked) = coalesce(cardinality(v_got), 0);
        v_tried := v_tried || v_peeked;
        EXIT WHEN cardinality(v_tried) > 20 * p_batch;
    END LOOP;
    RETURN v_taken;
END $$;

CREATE FUNCTION howdah.take_ready_by_pool(p_queues text[], p_limits int[], p_pools int[], p_job_types text[], p_batch int) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_got uuid[];
BEGIN
    -- As take_ready, but the queues of one pool together give no more than its limit: a worker's free slots differ from
    -- pool to pool. One round only: what others hold is left for the next claim.
    WITH peek AS MATERIALIZED (
        SELECT ranked.place
        FROM (
            SELECT h.place, h.rank, h.created_at, h.id, q.most,
                row_number() OVER (PARTITION BY q.pool ORDER BY h.rank, h.created_at, h.id) AS nth
            FROM unnest(p_queues, p_limits, p_pools) AS q (name, most, pool)
            JOIN howdah.open_lanes(p_queues, p_job_types) AS l ON l.queue = q.name
            CROSS JOIN LATERAL (
                SELECT r.ctid AS place, r.rank, r.created_at, r.id FROM howdah.ready AS r
                WHERE r.lane = l.lane ORDER BY r.rank, r.created_at, r.id LIMIT least(q.most, p_batch)
            ) AS h
        ) AS ranked
        WHERE ranked.nth <= ranked.most
        ORDER BY ranked.rank, ranked.created_at, ranked.id LIMIT p_batch
    ), held AS MATERIALIZED (
        SELECT r.ctid AS place FROM howdah.ready AS r
        WHERE r.ctid = ANY (ARRAY(SELECT place FROM peek)) FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM howdah.ready WHERE ctid = ANY (ARRAY(SELECT place FROM held)) RETURNING id
    )
    SELECT array_agg(id) FROM gone INTO v_got;
    RETURN coalesce(v_got, '{}');
END $$;

CREATE FUNCTION howdah.claim_jobs(p_worker_id text, p_job_types text[], p_batch int, p_queues text[] DEFAULT NULL,
    p_limits int[] DEFAULT NULL, p_pools int[] DEFAULT NULL)
RETURNS TABLE (claim bigint, job howdah.jobs)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    v_ids uuid[];
    v_claim bigint;
    -- Microseconds of the database's clock: it grows on every claim even where a crash took a claim back that had been
    -- committed without waiting for the disk, so that two claims can never carry the same lease.
    v_lease bigint := floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
BEGIN
    IF p_batch IS NULL OR p_batch < 1 THEN
        RETURN;
    END IF;
    PERFORM howdah.promote_due();
    IF p_limits IS NULL THEN
        v_ids := howdah.take_ready(ARRAY(SELECT l.lane FROM howdah.open_lanes(p_queues, p_job_types) AS l), p_batch);
    ELSE
        v_ids := howdah.take_ready_by_pool(p_queues, p_limits, p_pools, p_job_types, p_batch);
    END IF;
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
        RETURNING j.*
    )
    SELECT v_claim, row(t.*)::howdah.jobs FROM taken AS t ORDER BY t.priority DESC, t.created_at, t.id;
END $$;

CREATE FUNCTION howdah.claim_job_batch(p_worker_id varchar, p_job_types varchar[], p_batch_size int DEFAULT 10)
RETURNS SETOF howdah.jobs
LANGUAGE sql VOLATILE AS $$
    -- The contract's claim, for any language: every queue, whole rows.
    SELECT (c.job).* FROM howdah.claim_jobs(p_worker_id, p_job_types, p_batch_size) AS c
$$;

CREATE FUNCTION howdah.seconds_to_next_due() RETURNS double precision
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    -- How long until the scheduled line's head is due, by the database's clock; null when the line is empty.
    SELECT extract(epoch FROM (SELECT s.run_at FROM howdah.scheduled AS s ORDER BY s.run_at LIMIT 1) - clock_timestamp())::double precision
$$;
