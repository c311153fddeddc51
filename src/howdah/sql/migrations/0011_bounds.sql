-- Only the partitions that the ids of a batch can be in. PostgreSQL does not prune by an array, so every batch looked for every id in
-- every partition, of which a month's history has seven; it does prune by bounds.

CREATE OR REPLACE FUNCTION howdah.take_marked_by_pool(p_queues text[], p_limits int[], p_pools int[], p_job_types text[], p_batch int,
    p_marks howdah.mark[], p_strays howdah.stray[]) RETURNS howdah.taken
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_all howdah.taken := ('{}', '{}', '{}', '{}', '{}', NULL, 0);
    v_now howdah.taken;
    v_pool int;
    v_most int;
BEGIN
    -- As take_ready_by_pool (0004).
    FOR v_pool, v_most IN SELECT DISTINCT q.pool, q.most FROM unnest(p_pools, p_limits) AS q (pool, most) ORDER BY q.pool LOOP
        v_now := howdah.take_marked(ARRAY(
            SELECT q.name FROM unnest(p_queues, p_pools) AS q (name, pool) WHERE q.pool = v_pool), p_job_types,
            least(v_most, p_batch - cardinality(v_all.ids)), p_marks, p_strays);
        v_all := (v_all.ids || v_now.ids, v_all.lanes || v_now.lanes, v_all.ranks || v_now.ranks, v_all.near || v_now.near,
            v_all.far || v_now.far, v_all.strays || v_now.strays, v_all.looked + v_now.looked);
    END LOOP;
    -- What is remembered of ranges that this claim did not ask for stays as it is.
    SELECT v_all.strays || array_agg(s.*::howdah.stray)
    FROM unnest(p_strays) AS s (lane, rank, since, until)
    WHERE NOT EXISTS (SELECT FROM unnest(v_all.far) AS f (lane, rank, at, id) WHERE f.lane = s.lane AND f.rank = s.rank)
    INTO v_all.strays;
    SELECT v_all.near || coalesce(array_agg(m.*::howdah.mark), '{}'), v_all.far || coalesce(array_agg(m.*::howdah.mark), '{}')
    FROM unnest(p_marks) AS m (lane, rank, at, id)
    WHERE NOT EXISTS (SELECT FROM unnest(v_all.far) AS f (lane, rank, at, id) WHERE f.lane = m.lane AND f.rank = m.rank)
    INTO v_all.near, v_all.far;
    RETURN v_all;
END $$;

CREATE OR REPLACE FUNCTION howdah.claim_from_marks(p_worker_id text, p_job_types text[], p_batch int, p_queues text[],
    p_limits int[], p_pools int[], p_marks howdah.mark[], p_strays howdah.stray[], p_seen pg_snapshot)
RETURNS TABLE (claim bigint, id bytea, lease bigint, job_type text, queue text, priority int, created_at double precision,
    data text, attempts int, max_attempts int, errors int, deaths int, events_count int)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_nestloop = off SET enable_mergejoin = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '2ms' SET datestyle = 'ISO' AS $$
DECLARE
    v_took howdah.taken;
    v_strays howdah.stray[];
    v_seen pg_snapshot;
    v_state record;
    v_promoted boolean := false;
    v_lease bigint;
    v_sorted uuid[];
BEGIN
    -- The first row is about the claim itself: how many line rows it took (attempts), when the next job is due (created_at),
    -- and, as JSON (data), the marks. The others are the jobs, in no order.
    v_seen := pg_current_snapshot();  -- before the look, so that what commits in between is seen twice and not never
    LOOP
        SELECT (SELECT n.run_at FROM howdah.scheduled AS n ORDER BY n.run_at LIMIT 1) AS due,
            EXISTS (SELECT FROM howdah.lanes AS l WHERE l.rank IS NULL AND l.job_type = ANY (p_job_types)) AS wide,
            p_strays IS NOT NULL OR EXISTS (SELECT FROM howdah.late AS l WHERE l.xid >= pg_snapshot_xmax(p_seen))
                OR EXISTS (SELECT FROM howdah.late AS l WHERE l.xid = ANY (ARRAY(SELECT pg_snapshot_xip(p_seen)))) AS late
        INTO v_state;
        EXIT WHEN v_promoted OR v_state.due IS NULL OR v_state.due > now();
        PERFORM howdah.promote_due();
        v_promoted := true;
    END LOOP;
    created_at := CASE WHEN isfinite(v_state.due) THEN extract(epoch FROM v_state.due - clock_timestamp()) END;
    IF v_state.wide THEN
        -- A lane of very many priorities has no ranges to remember.
        RETURN NEXT;
        RETURN QUERY SELECT c.claim, uuid_send(c.id), c.lease, c.job_type, c.queue, c.priority, c.created_at, c.data, c.attempts,
            c.max_attempts, c.errors, c.deaths, c.events_count
        FROM howdah.claim_jobs(p_worker_id, p_job_types, p_batch, p_queues, p_limits, p_pools) AS c;
        RETURN;
    END IF;
    IF v_state.late AND p_seen IS NOT NULL THEN
        v_strays := howdah.new_strays(p_seen, p_strays, p_marks);
        IF cardinality(v_strays) > 500 THEN
            -- Too many to look at one by one: from the head, where all of them are.
            p_marks := NULL;
            v_strays := NULL;
        END IF;
    END IF;
    IF p_limits IS NULL THEN
        v_took := howdah.take_marked(p_queues, p_job_types, p_batch, p_marks, v_strays);
    ELSE
        v_took := howdah.take_marked_by_pool(p_queues, p_limits, p_pools, p_job_types, p_batch, p_marks, v_strays);
    END IF;
    attempts := cardinality(v_took.ids);
    data := json_build_object('near', v_took.near::text, 'far', v_took.far::text, 'strays', v_took.strays::text,
        'seen', v_seen::text, 'looked', v_took.looked);
    RETURN NEXT;
    IF attempts = 0 THEN
        RETURN;
    END IF;
    v_lease := howdah.new_lease(0);
    v_sorted := ARRAY(SELECT t.id FROM unnest(v_took.ids) AS t (id) ORDER BY t.id);
    RETURN QUERY
    WITH noted AS (
        INSERT INTO howdah.claims AS c (worker_id, job_ids) VALUES (p_worker_id, v_took.ids) RETURNING c.claim
    ), taken AS (
        UPDATE howdah.jobs AS j
        SET status = 'claimed', worker_id = p_worker_id, claimed_at = now(), attempts = j.attempts + 1,
            lease = greatest(j.lease + 1, v_lease), progress = 0, current_stage = NULL, started_at = NULL,
            cancel_requested_at = NULL
        WHERE j.id = ANY (v_sorted) AND j.id BETWEEN v_sorted[1] AND v_sorted[cardinality(v_sorted)]
            AND j.status = 'pending' AND j.attempts < j.max_attempts AND (j.run_at IS NULL OR j.run_at <= clock_timestamp())
        RETURNING j.id, j.lease, j.job_type, j.queue, j.priority, j.created_at, j.data, j.attempts, j.max_attempts, j.errors,
            j.deaths, j.events_count
    )
    SELECT (SELECT n.claim FROM noted AS n),
        CASE WHEN ~t.priority = l.rank AND howdah.lane_of(t.queue, t.job_type) = l.lane THEN uuid_send(t.id)
            ELSE uuid_send(howdah.surplus(t.id)) END,
        t.lease::bigint, t.job_type::text, t.queue::text, t.priority, date_part('epoch', t.created_at),
        t.data::text, t.attempts, t.max_attempts::int, t.errors, t.deaths, t.events_count
    FROM taken AS t JOIN unnest(v_took.ids, v_took.lanes, v_took.ranks) AS l (id, lane, rank) ON l.id = t.id;
END $$;

CREATE OR REPLACE FUNCTION howdah.complete_jobs(
    p_ids uuid[], p_leases bigint[], p_results text[], p_ran double precision[], p_claims bigint[])
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_nestloop = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off SET lock_timeout = '500ms' AS $$
DECLARE
    v_count int;
    v_sorted uuid[] := ARRAY(SELECT t.id FROM unnest(p_ids) AS t (id) ORDER BY t.id);
BEGIN
    -- Returns the ids that were refused. p_results may be null: none of them has one. p_ran: seconds that the handler ran, so
    -- that started_at is on the database's clock. The ledger is read once, in id order, and joined to the arrays by hashing.
    UPDATE howdah.jobs AS j
    SET status = 'completed', progress = 100, completed_at = clock_timestamp(), result = t.result::jsonb,
        started_at = coalesce(j.started_at, clock_timestamp() - make_interval(secs => t.ran))
    FROM unnest(p_ids, p_leases, p_results, p_ran) AS t (id, lease, result, ran)
    WHERE j.id = ANY (v_sorted) AND j.id BETWEEN v_sorted[1] AND v_sorted[cardinality(v_sorted)]
        AND j.id = t.id AND j.lease = t.lease AND j.status IN ('claimed', 'running');
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF p_claims IS NOT NULL THEN
        DELETE FROM howdah.claims AS c WHERE c.claim = ANY (p_claims);
    END IF;
    IF v_count = cardinality(p_ids) THEN
        RETURN '{}';
    END IF;
    RETURN howdah.refused(p_ids, p_leases, 'completed');
END $$;
