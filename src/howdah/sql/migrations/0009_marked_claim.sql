-- The claim of Howdah's own workers. As claim_jobs (0004), in the same strict order, but from marks (0008), and it does not
-- lock ledger rows before it updates them: where another transaction holds one of them, or a line row turns out to be surplus, it
-- fails whole, and the worker falls back to claim_jobs for a while.

CREATE FUNCTION howdah.open_ranges(p_queues text[], p_job_types text[]) RETURNS TABLE (lane bigint, rank int)
LANGUAGE sql STABLE AS $$
    -- The ranges of these types, on these queues (null: on every queue), that are not paused.
    SELECT DISTINCT l.lane, l.rank FROM howdah.lanes AS l
    WHERE l.job_type = ANY (p_job_types) AND (p_queues IS NULL OR l.queue = ANY (p_queues))
        AND NOT EXISTS (SELECT FROM howdah.pauses AS p
            WHERE (p.kind = 'queue' AND p.name = l.queue) OR (p.kind = 'type' AND p.name = l.job_type))
$$;

CREATE FUNCTION howdah.surplus(p_id uuid) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE EXCEPTION 'the line row of job % is not where the ledger says', p_id USING ERRCODE = 'lock_not_available';
END $$;

CREATE FUNCTION howdah.take_from_lane(p_from howdah.mark, p_until timestamptz, p_most int, OUT ids uuid[], OUT last howdah.mark)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_ats timestamptz[];
BEGIN
    -- One lane has the best rank to itself, or some of it is known to lie behind the mark: straight down its index.
    WITH line AS MATERIALIZED (
        SELECT r.ctid AS place, r.created_at, r.id FROM howdah.ready AS r
        WHERE r.lane = p_from.lane AND r.rank = p_from.rank AND (r.created_at, r.id) >= (p_from.at, p_from.id)
            AND r.created_at <= p_until
        ORDER BY r.created_at, r.id LIMIT p_most
        FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM howdah.ready WHERE ctid = ANY (ARRAY(SELECT place FROM line))
    )
    SELECT array_agg(l.id), array_agg(l.created_at) FROM line AS l INTO ids, v_ats;
    last := p_from;
    IF ids IS NOT NULL THEN
        last.at := v_ats[cardinality(ids)];
        last.id := ids[cardinality(ids)];
    END IF;
END $$;

CREATE FUNCTION howdah.take_from_lanes(p_from howdah.mark[], p_most int, OUT ids uuid[], OUT lanes bigint[], OUT last howdah.mark[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_want int := p_most;
    v_peeked int;
    v_ids uuid[];
    v_lanes bigint[];
    v_last howdah.mark[];
    v_again boolean := false;
BEGIN
    -- Several lanes share the best rank: peek into each without locking, merge, and take what nobody holds. What others hold
    -- is passed by: the next round begins behind it.
    ids := '{}';
    lanes := '{}';
    last := p_from;
    LOOP
        WITH peek AS MATERIALIZED (
            SELECT h.place, h.lane, h.created_at, h.id
            FROM unnest(last) AS m (lane, rank, at, id)
            CROSS JOIN LATERAL (
                SELECT r.ctid AS place, r.lane, r.created_at, r.id FROM howdah.ready AS r
                WHERE r.lane = m.lane AND r.rank = m.rank AND (r.created_at, r.id) >= (m.at, m.id)
                    AND NOT (v_again AND r.id = m.id)
                ORDER BY r.created_at, r.id LIMIT v_want
            ) AS h
            ORDER BY h.created_at, h.id LIMIT v_want
        ), line AS MATERIALIZED (
            SELECT r.ctid AS place, r.lane, r.id FROM howdah.ready AS r
            WHERE r.ctid = ANY (ARRAY(SELECT place FROM peek))
            FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM howdah.ready WHERE ctid = ANY (ARRAY(SELECT place FROM line))
        )
        SELECT (SELECT count(*) FROM peek), array_agg(l.id), array_agg(l.lane), (
            SELECT array_agg((m.lane, m.rank, coalesce(f.created_at, m.at), coalesce(f.id, m.id))::howdah.mark)
            FROM unnest(last) AS m (lane, rank, at, id)
            LEFT JOIN (SELECT DISTINCT ON (p.lane) p.lane, p.created_at, p.id FROM peek AS p
                       ORDER BY p.lane, p.created_at DESC, p.id DESC) AS f ON f.lane = m.lane)
        FROM line AS l INTO v_peeked, v_ids, v_lanes, v_last;
        last := v_last;
        ids := ids || v_ids;
        lanes := lanes || v_lanes;
        -- Either there was nothing more to peek at, or somebody else holds what was not taken: look behind it.
        EXIT WHEN cardinality(ids) >= p_most OR v_peeked < v_want;
        v_want := p_most - cardinality(ids);
        v_again := true;
    END LOOP;
END $$;

CREATE FUNCTION howdah.new_strays(p_seen pg_snapshot, p_strays howdah.stray[], p_marks howdah.mark[])
RETURNS howdah.stray[]
LANGUAGE sql STABLE AS $$
    -- What lies, or may lie, behind these marks: what the worker knew of already, and what has become visible since its last
    -- look. Found by transaction, so however long somebody holds a snapshot, old rows are not read again.
    SELECT array_agg(DISTINCT s.*::howdah.stray)
    FROM (
        SELECT k.lane, k.rank, k.since, k.until FROM unnest(p_strays) AS k (lane, rank, since, until)
        UNION ALL
        SELECT l.lane, l.rank, l.since, l.until FROM howdah.late AS l WHERE l.xid >= pg_snapshot_xmax(p_seen)
        UNION ALL
        SELECT l.lane, l.rank, l.since, l.until FROM howdah.late AS l WHERE l.xid = ANY (ARRAY(SELECT pg_snapshot_xip(p_seen)))
    ) AS s JOIN unnest(p_marks) AS m (lane, rank, at, id) ON m.lane = s.lane AND m.rank = s.rank
    WHERE s.since <= m.at
$$;

CREATE FUNCTION howdah.take_strays(p_strays howdah.stray[], p_rank int, p_most int, OUT ids uuid[], OUT lanes bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_stray howdah.stray;
    v_ids uuid[];
BEGIN
    -- What lies behind the marks of this rank: older than all else of it.
    ids := '{}';
    lanes := '{}';
    FOR v_stray IN SELECT s.* FROM unnest(p_strays) AS s (lane, rank, since, until) WHERE s.rank = p_rank ORDER BY s.since LOOP
        EXIT WHEN cardinality(ids) >= p_most;
        SELECT t.ids INTO v_ids FROM howdah.take_from_lane(
            (v_stray.lane, p_rank, v_stray.since, '00000000-0000-0000-0000-000000000000')::howdah.mark, v_stray.until,
            p_most - cardinality(ids)) AS t;
        ids := ids || v_ids;
        lanes := lanes || array_fill(v_stray.lane, ARRAY[coalesce(cardinality(v_ids), 0)]);
    END LOOP;
END $$;

CREATE TYPE howdah.taken AS (ids uuid[], lanes bigint[], ranks int[], near howdah.mark[], far howdah.mark[],
    strays howdah.stray[], looked double precision);

CREATE FUNCTION howdah.look(p_queues text[], p_job_types text[], p_marks howdah.mark[], INOUT strays howdah.stray[],
    OUT heads howdah.mark[], OUT near howdah.mark[], OUT far howdah.mark[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    -- Younger rows than this may be joined by older ones: their transactions are still under way.
    v_settled timestamptz := clock_timestamp() - interval '2 seconds';
    v_lowest uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
    -- heads: the first row of every range from its mark on, if there is one. near: the marks of ranges without one, which are
    -- not looked at again. far: the new far marks. strays: those of them where something lies.
    SELECT array_agg((o.lane, o.rank, h.created_at, h.id)::howdah.mark) FILTER (WHERE h.id IS NOT NULL),
        coalesce(array_agg((o.lane, o.rank, greatest(m.at, v_settled), CASE WHEN m.at > v_settled THEN m.id ELSE v_lowest END)::howdah.mark)
            FILTER (WHERE h.id IS NULL), '{}'),
        array_agg((o.lane, o.rank, least(h.created_at, v_settled), CASE WHEN h.created_at <= v_settled THEN h.id ELSE v_lowest END)::howdah.mark)
    FROM howdah.open_ranges(p_queues, p_job_types) AS o
    LEFT JOIN unnest(p_marks) AS m (lane, rank, at, id) ON m.lane = o.lane AND m.rank = o.rank
    LEFT JOIN LATERAL (
        SELECT r.created_at, r.id FROM howdah.ready AS r
        WHERE r.lane = o.lane AND r.rank = o.rank
            AND (r.created_at, r.id) >= (coalesce(m.at, '-infinity'), coalesce(m.id, v_lowest))
        ORDER BY r.created_at, r.id LIMIT 1
    ) AS h ON true
    INTO heads, near, far;
    IF strays IS NOT NULL THEN
        SELECT array_agg((s.lane, s.rank, s.since, s.until)::howdah.stray)
        FROM unnest(strays) AS s (lane, rank, since, until)
        WHERE EXISTS (SELECT FROM unnest(far) AS f (lane, rank, at, id) WHERE f.lane = s.lane AND f.rank = s.rank)
            AND EXISTS (SELECT FROM howdah.ready AS r
                WHERE r.lane = s.lane AND r.rank = s.rank AND r.created_at BETWEEN s.since AND s.until)
        INTO strays;
    END IF;
END $$;

CREATE FUNCTION howdah.take_marked(p_queues text[], p_job_types text[], p_most int, p_marks howdah.mark[],
    p_strays howdah.stray[]) RETURNS howdah.taken
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_all howdah.taken := ('{}', '{}', '{}', '{}', '{}', NULL, 0);
    v_began timestamptz := clock_timestamp();
    v_look record;
    v_best howdah.mark[];
    v_rank int;
    v_some record;
BEGIN
    v_look := howdah.look(p_queues, p_job_types, p_marks, p_strays);
    v_all.near := v_look.near;
    v_all.far := v_look.far;
    v_all.strays := v_look.strays;
    v_all.looked := extract(epoch FROM clock_timestamp() - v_began);
    IF v_all.strays IS NULL AND cardinality(v_look.heads) = 1 THEN
        -- One range has something: nothing to put in order.
        v_some := howdah.take_from_lane(v_look.heads[1], 'infinity', p_most);
        v_all.ids := coalesce(v_some.ids, '{}');
        v_all.lanes := array_fill(v_look.heads[1].lane, ARRAY[cardinality(v_all.ids)]);
        v_all.ranks := array_fill(v_look.heads[1].rank, ARRAY[cardinality(v_all.ids)]);
        v_all.near := v_all.near || v_some.last;
        RETURN v_all;
    ELSIF v_all.strays IS NULL AND v_look.heads IS NULL THEN
        RETURN v_all;
    END IF;
    -- Strict order: all of the best rank before the next. The ranges behind are left as they are.
    FOR v_rank, v_best IN
        SELECT h.rank, array_agg(h.*::howdah.mark) FILTER (WHERE h.at IS NOT NULL) FROM (
            SELECT * FROM unnest(v_look.heads) AS u (lane, rank, at, id)
            UNION ALL SELECT s.lane, s.rank, NULL, NULL FROM unnest(v_all.strays) AS s (lane, rank, since, until)) AS h
        GROUP BY h.rank ORDER BY h.rank
    LOOP
        IF v_all.strays IS NOT NULL AND cardinality(v_all.ids) < p_most THEN
            v_some := howdah.take_strays(v_all.strays, v_rank, p_most - cardinality(v_all.ids));
            v_all.ids := v_all.ids || v_some.ids;
            v_all.lanes := v_all.lanes || v_some.lanes;
        END IF;
        IF v_best IS NULL OR cardinality(v_all.ids) >= p_most THEN
            v_all.near := v_all.near || v_best;
        ELSIF cardinality(v_best) = 1 THEN
            v_some := howdah.take_from_lane(v_best[1], 'infinity', p_most - cardinality(v_all.ids));
            v_all.ids := v_all.ids || v_some.ids;
            v_all.lanes := v_all.lanes || array_fill(v_best[1].lane, ARRAY[coalesce(cardinality(v_some.ids), 0)]);
            v_all.near := v_all.near || v_some.last;
        ELSE
            v_some := howdah.take_from_lanes(v_best, p_most - cardinality(v_all.ids));
            v_all.ids := v_all.ids || v_some.ids;
            v_all.lanes := v_all.lanes || v_some.lanes;
            v_all.near := v_all.near || v_some.last;
        END IF;
        v_all.ranks := v_all.ranks || array_fill(v_rank, ARRAY[cardinality(v_all.ids) - cardinality(v_all.ranks)]);
    END LOOP;
    RETURN v_all;
END $$;

CREATE FUNCTION howdah.take_marked_by_pool(p_queues text[], p_limits int[], p_pools int[], p_job_types text[], p_batch int,
    p_marks howdah.mark[], p_strays howdah.stray[]) RETURNS howdah.taken
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_all howdah.taken := ('{}', '{}', '{}', '{}', '{}', NULL, 0);
    v_now howdah.taken;
    v_pool int;
    v_most int;
BEGIN
    -- As take_ready_by_pool (0004).
    FOR v_pool, v_most IN SELECT DISTINCT q.pool, q.most FROM unnest(p_pools, p_limits) AS q (pool, most) LOOP
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

CREATE FUNCTION howdah.claim_from_marks(p_worker_id text, p_job_types text[], p_batch int, p_queues text[], p_limits int[],
    p_pools int[], p_marks howdah.mark[], p_strays howdah.stray[], p_seen pg_snapshot)
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
    RETURN QUERY
    WITH noted AS (
        INSERT INTO howdah.claims AS c (worker_id, job_ids) VALUES (p_worker_id, v_took.ids) RETURNING c.claim
    ), taken AS (
        UPDATE howdah.jobs AS j
        SET status = 'claimed', worker_id = p_worker_id, claimed_at = now(), attempts = j.attempts + 1,
            lease = greatest(j.lease + 1, v_lease), progress = 0, current_stage = NULL, started_at = NULL,
            cancel_requested_at = NULL
        WHERE j.id = ANY (v_took.ids) AND j.status = 'pending' AND j.attempts < j.max_attempts
            AND (j.run_at IS NULL OR j.run_at <= clock_timestamp())
        RETURNING j.id, j.lease, j.job_type, j.queue, j.priority, j.created_at, j.data, j.attempts, j.max_attempts, j.errors,
            j.deaths, j.events_count
    )
    SELECT (SELECT n.claim FROM noted AS n),
        CASE WHEN ~t.priority = l.rank AND howdah.lane_of(t.queue, t.job_type) = l.lane THEN uuid_send(t.id)
            ELSE uuid_send(howdah.surplus(t.id)) END,
        t.lease, t.job_type, t.queue, t.priority, date_part('epoch', t.created_at),
        t.data::text, t.attempts, t.max_attempts, t.errors, t.deaths, t.events_count
    FROM taken AS t JOIN unnest(v_took.ids, v_took.lanes, v_took.ranks) AS l (id, lane, rank) ON l.id = t.id;
END $$;
