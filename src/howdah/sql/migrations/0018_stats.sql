-- Oldest code: 15
-- What the workers did, minute by minute and hour by hour; how long jobs waited; and whom to ask where a job came from.
--
-- howdah.stats    a row per period and series. A series is a queue and a job type, a queue with the type '', or '' twice: all of
--                 it. Names have a character at least, so '' is nobody's. Minutes are kept for a day, hours for 31 days.
-- RULE: the number of rows is bounded whatever is enqueued: about 150 series an hour (record_stats). What comes after that is
-- counted in the rows of its queue, or of all, only: `all` less what is listed is "other".
-- RULE: written by workers about every ten seconds while they have something to tell, never by a statement of a job's own.
-- Histograms count what took at most 0.1 ms, 0.16 ms, 0.25 ms and so on: five steps to a factor of ten, up to 100,000 s, and
-- what took longer (telemetry/histogram.py). They end where nothing but zeros follows.

CREATE TABLE howdah.stats (
    per             text NOT NULL CHECK (per IN ('minute', 'hour')),
    at              timestamptz NOT NULL,
    queue           text NOT NULL CHECK (char_length(queue) <= 50),
    job_type        text NOT NULL CHECK (char_length(job_type) <= 50),
    started         bigint NOT NULL DEFAULT 0,
    completed       bigint NOT NULL DEFAULT 0,
    failed          bigint NOT NULL DEFAULT 0,
    cancelled       bigint NOT NULL DEFAULT 0,
    retried         bigint NOT NULL DEFAULT 0,
    snoozed         bigint NOT NULL DEFAULT 0,
    released        bigint NOT NULL DEFAULT 0,
    rescued         bigint NOT NULL DEFAULT 0,
    ran             bigint[] NOT NULL DEFAULT '{}',
    ran_seconds     double precision NOT NULL DEFAULT 0,
    waited          bigint[] NOT NULL DEFAULT '{}',
    waited_seconds  double precision NOT NULL DEFAULT 0,
    -- Looked at once a minute; null: nobody looked, or nothing waited. An hour has its worst minute.
    waiting         bigint,
    oldest_seconds  double precision,
    PRIMARY KEY (per, at, queue, job_type)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- When the queues were last looked at: one worker of the fleet does it, once a minute.
ALTER TABLE howdah.settings ADD COLUMN sampled_at timestamptz NOT NULL DEFAULT '-infinity';

CREATE FUNCTION howdah.add_counts(p_one bigint[], p_other bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    -- Item by item; where one is longer, the rest of it.
    SELECT coalesce(array_agg(coalesce(u.one, 0) + coalesce(u.other, 0) ORDER BY u.place), '{}')
    FROM unnest(p_one, p_other) WITH ORDINALITY AS u (one, other, place)
$$;

CREATE AGGREGATE howdah.sum_counts(bigint[]) (
    SFUNC = howdah.add_counts, STYPE = bigint[], INITCOND = '{}', PARALLEL = SAFE);

CREATE FUNCTION howdah.merge_stats(p_rows howdah.stats[]) RETURNS void
LANGUAGE sql VOLATILE SET lock_timeout = '500ms' AS $$
    -- Into the minute and the hour of now. In one order for all, so that two workers never wait for each other in a circle.
    INSERT INTO howdah.stats AS s
    SELECT p.per, date_trunc(p.per, now(), 'UTC'), r.queue, r.job_type, r.started, r.completed, r.failed, r.cancelled,
        r.retried, r.snoozed, r.released, r.rescued, r.ran, r.ran_seconds, r.waited, r.waited_seconds, r.waiting,
        r.oldest_seconds
    FROM unnest(p_rows) AS r CROSS JOIN (VALUES ('hour'), ('minute')) AS p (per)
    ORDER BY p.per, r.queue, r.job_type
    ON CONFLICT (per, at, queue, job_type) DO UPDATE
    SET started = s.started + excluded.started, completed = s.completed + excluded.completed,
        failed = s.failed + excluded.failed, cancelled = s.cancelled + excluded.cancelled,
        retried = s.retried + excluded.retried, snoozed = s.snoozed + excluded.snoozed,
        released = s.released + excluded.released, rescued = s.rescued + excluded.rescued,
        ran = howdah.add_counts(s.ran, excluded.ran), ran_seconds = s.ran_seconds + excluded.ran_seconds,
        waited = howdah.add_counts(s.waited, excluded.waited), waited_seconds = s.waited_seconds + excluded.waited_seconds,
        waiting = greatest(s.waiting, excluded.waiting), oldest_seconds = greatest(s.oldest_seconds, excluded.oldest_seconds)
$$;

CREATE FUNCTION howdah.record_stats(p_stats jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_most int := 150;
    v_rows howdah.stats[];
BEGIN
    -- p_stats: an array of objects with the names of the columns; each a queue and a job type, or '' for either where the
    -- caller has lost count of them. Their sums go into the rows of the queues and of all.
    WITH said AS MATERIALIZED (
        SELECT coalesce(s.queue, '') AS queue, coalesce(s.job_type, '') AS job_type,
            coalesce(s.started, 0) AS started, coalesce(s.completed, 0) AS completed, coalesce(s.failed, 0) AS failed,
            coalesce(s.cancelled, 0) AS cancelled, coalesce(s.retried, 0) AS retried, coalesce(s.snoozed, 0) AS snoozed,
            coalesce(s.released, 0) AS released, coalesce(s.rescued, 0) AS rescued,
            coalesce(s.ran, '{}') AS ran, coalesce(s.ran_seconds, 0) AS ran_seconds,
            coalesce(s.waited, '{}') AS waited, coalesce(s.waited_seconds, 0) AS waited_seconds, s.waiting, s.oldest_seconds
        FROM jsonb_populate_recordset(NULL::howdah.stats, p_stats) AS s
    ), summed AS (
        SELECT coalesce(CASE WHEN grouping(s.queue) = 0 THEN s.queue END, '') AS queue,
            coalesce(CASE WHEN grouping(s.job_type) = 0 THEN s.job_type END, '') AS job_type,
            grouping(s.queue, s.job_type) AS level,
            sum(s.started) AS started, sum(s.completed) AS completed, sum(s.failed) AS failed,
            sum(s.cancelled) AS cancelled, sum(s.retried) AS retried, sum(s.snoozed) AS snoozed,
            sum(s.released) AS released, sum(s.rescued) AS rescued, howdah.sum_counts(s.ran) AS ran,
            sum(s.ran_seconds) AS ran_seconds, howdah.sum_counts(s.waited) AS waited,
            sum(s.waited_seconds) AS waited_seconds, sum(s.waiting) AS waiting, max(s.oldest_seconds) AS oldest_seconds
        FROM said AS s GROUP BY GROUPING SETS ((s.queue, s.job_type), (s.queue), ())
        -- A pair without a name is in the sums already.
        HAVING grouping(s.queue, s.job_type) = 3
            OR (grouping(s.queue, s.job_type) = 1 AND s.queue <> '')
            OR (grouping(s.queue, s.job_type) = 0 AND s.queue <> '' AND s.job_type <> '')
    ), placed AS (
        SELECT m.*, k.at IS NOT NULL OR m.level = 3 AS known,
            row_number() OVER (PARTITION BY k.at IS NULL AND m.level < 3 ORDER BY m.level DESC, m.queue, m.job_type)
                + (SELECT count(*) FROM howdah.stats AS h
                    WHERE h.per = 'hour' AND h.at = date_trunc('hour', now(), 'UTC')) AS place
        FROM summed AS m LEFT JOIN howdah.stats AS k ON k.per = 'hour' AND k.at = date_trunc('hour', now(), 'UTC')
            AND k.queue = m.queue AND k.job_type = m.job_type
    )
    SELECT array_agg(ROW('minute', now(), p.queue, p.job_type, p.started, p.completed, p.failed, p.cancelled, p.retried,
        p.snoozed, p.released, p.rescued, p.ran, p.ran_seconds, p.waited, p.waited_seconds, p.waiting,
        p.oldest_seconds)::howdah.stats)
    FROM placed AS p WHERE p.known OR p.place <= v_most INTO v_rows;
    PERFORM howdah.merge_stats(v_rows);
END $$;

CREATE FUNCTION howdah.note_rescues(p_ids uuid[], p_statuses text[])
RETURNS TABLE (queue text, job_type text, rescued bigint, failed bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    v_stats jsonb;
BEGIN
    -- What a rescue took back, and what it ended as failed, which no worker acknowledges. It knows ids only.
    SELECT jsonb_agg(to_jsonb(k)) FROM (
        SELECT j.queue::text AS queue, j.job_type::text AS job_type, count(*) AS rescued,
            count(*) FILTER (WHERE t.status = 'failed') AS failed
        FROM unnest(p_ids, p_statuses) AS t (id, status) JOIN howdah.jobs AS j ON j.id = t.id
        GROUP BY j.queue, j.job_type) AS k INTO v_stats;
    IF v_stats IS NOT NULL THEN
        PERFORM howdah.record_stats(v_stats);
        RETURN QUERY SELECT r.queue, r.job_type, r.rescued, r.failed
            FROM jsonb_populate_recordset(NULL::howdah.stats, v_stats) AS r;
    END IF;
END $$;

CREATE FUNCTION howdah.queue_depths(p_most int DEFAULT 10000)
RETURNS TABLE (queue text, job_type text, ready bigint, scheduled bigint, oldest_seconds double precision, paused boolean)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    -- How many jobs of each lane may be claimed now, counted up to p_most; how many are put off, among the next p_most of all;
    -- and for how long the oldest of them has been due, of the first hundred at each priority. At most 300 lanes.
    RETURN QUERY
    WITH lanes AS MATERIALIZED (
        SELECT DISTINCT k.lane, k.queue, k.job_type FROM howdah.lanes AS k ORDER BY k.queue, k.job_type LIMIT 300
    ), scheduled AS MATERIALIZED (
        SELECT s.lane, count(*) AS jobs
        FROM (SELECT n.lane FROM howdah.scheduled AS n ORDER BY n.run_at, n.id LIMIT p_most) AS s GROUP BY s.lane
    )
    SELECT l.queue::text, l.job_type::text, r.jobs, coalesce((SELECT s.jobs FROM scheduled AS s WHERE s.lane = l.lane), 0),
        CASE WHEN r.jobs > 0 THEN (
            SELECT max(greatest(0, date_part('epoch', now()) - date_part('epoch', greatest(h.created_at, j.run_at))))
            FROM (SELECT DISTINCT k.rank FROM howdah.lanes AS k WHERE k.lane = l.lane) AS g
            CROSS JOIN LATERAL (
                SELECT f.id, f.created_at FROM howdah.ready AS f
                WHERE f.lane = l.lane AND (g.rank IS NULL OR f.rank = g.rank)
                ORDER BY f.rank, f.created_at, f.id LIMIT 100) AS h
            JOIN howdah.jobs AS j ON j.id = h.id
            WHERE isfinite(greatest(h.created_at, j.run_at))) END,
        EXISTS (SELECT FROM howdah.pauses AS p
            WHERE (p.kind = 'queue' AND p.name = l.queue) OR (p.kind = 'type' AND p.name = l.job_type))
    FROM lanes AS l
    CROSS JOIN LATERAL (
        SELECT count(*) AS jobs FROM (
            SELECT FROM howdah.ready AS f WHERE f.lane = l.lane ORDER BY f.rank, f.created_at, f.id LIMIT p_most) AS c) AS r;
END $$;

CREATE FUNCTION howdah.begin_sample(p_every interval) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- Whether it is the caller's turn to look at the queues.
    UPDATE howdah.settings SET sampled_at = clock_timestamp() WHERE sampled_at <= clock_timestamp() - p_every;
    RETURN FOUND;
END $$;

CREATE FUNCTION howdah.sample_queues() RETURNS void
LANGUAGE sql VOLATILE AS $$
    -- Where nothing waits it says so, of all of them: a minute in which nobody looked is another matter.
    SELECT howdah.record_stats((SELECT jsonb_build_object('queue', '', 'job_type', '', 'waiting', 0) || coalesce(
        jsonb_agg(jsonb_build_object(
            'queue', d.queue, 'job_type', d.job_type, 'waiting', d.ready, 'oldest_seconds', d.oldest_seconds)), '[]')
        FROM howdah.queue_depths() AS d WHERE d.ready > 0))
$$;

CREATE FUNCTION howdah.prune_stats() RETURNS void
LANGUAGE sql VOLATILE AS $$
    DELETE FROM howdah.stats AS s
    WHERE (s.per = 'minute' AND s.at < now() - interval '1 day') OR (s.per = 'hour' AND s.at < now() - interval '31 days')
$$;

-- What a worker is doing: jobs running and waiting in it, memory, and how late its event loop is. Written with the heartbeat.
ALTER TABLE howdah.workers ADD COLUMN load jsonb NOT NULL DEFAULT '{}';

DROP FUNCTION howdah.heartbeat(text, uuid[], bigint[]);
CREATE FUNCTION howdah.heartbeat(p_worker_id text, p_ids uuid[] DEFAULT '{}', p_leases bigint[] DEFAULT '{}',
    p_load jsonb DEFAULT NULL)
RETURNS TABLE (id uuid, verdict text)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    -- As in 0006; p_load is kept when the row is written anyway.
    UPDATE howdah.workers AS w SET heartbeat_at = clock_timestamp(), load = coalesce(p_load, w.load)
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

-- Where a job came from: what the enqueuer's OpenTelemetry wants passed on, as JSON text; null where nobody traces. Not in
-- `data`, which is the handler's alone.
ALTER TABLE howdah.jobs ADD COLUMN trace text;
COMMENT ON COLUMN howdah.jobs.trace IS 'Trace context of the enqueuer, as a JSON object; null where nobody traces.';

-- As in 0012, and how many seconds the job had been due, by the database's clock. Differences of numbers, not of times: those
-- of infinite times fail.
DROP FUNCTION howdah.claim_jobs(text, text[], int, text[], int[], int[]);
CREATE FUNCTION howdah.claim_jobs(p_worker_id text, p_job_types text[], p_batch int, p_queues text[] DEFAULT NULL,
    p_limits int[] DEFAULT NULL, p_pools int[] DEFAULT NULL)
RETURNS TABLE (claim bigint, id uuid, lease bigint, job_type text, queue text, priority int, created_at double precision,
    data text, attempts int, max_attempts int, errors int, deaths int, events_count int,
    waited double precision, trace text)
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
            j.deaths, j.events_count, j.run_at, j.trace
    )
    SELECT v_claim, t.id, t.lease::bigint, t.job_type::text, t.queue::text, t.priority, date_part('epoch', t.created_at),
        t.data::text, t.attempts, t.max_attempts::int, t.errors, t.deaths, t.events_count,
        date_part('epoch', now()) - date_part('epoch', greatest(t.created_at, t.run_at)), t.trace
    FROM taken AS t ORDER BY t.priority DESC, t.created_at, t.id;
END $$;

-- As in 0011, and the same.
DROP FUNCTION howdah.claim_from_marks(text, text[], int, text[], int[], int[], howdah.mark[], howdah.stray[], pg_snapshot);
CREATE FUNCTION howdah.claim_from_marks(p_worker_id text, p_job_types text[], p_batch int, p_queues text[],
    p_limits int[], p_pools int[], p_marks howdah.mark[], p_strays howdah.stray[], p_seen pg_snapshot)
RETURNS TABLE (claim bigint, id bytea, lease bigint, job_type text, queue text, priority int, created_at double precision,
    data text, attempts int, max_attempts int, errors int, deaths int, events_count int,
    waited double precision, trace text)
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
            c.max_attempts, c.errors, c.deaths, c.events_count, c.waited, c.trace
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
            j.deaths, j.events_count, j.run_at, j.trace
    )
    SELECT (SELECT n.claim FROM noted AS n),
        CASE WHEN ~t.priority = l.rank AND howdah.lane_of(t.queue, t.job_type) = l.lane THEN uuid_send(t.id)
            ELSE uuid_send(howdah.surplus(t.id)) END,
        t.lease::bigint, t.job_type::text, t.queue::text, t.priority, date_part('epoch', t.created_at),
        t.data::text, t.attempts, t.max_attempts::int, t.errors, t.deaths, t.events_count,
        date_part('epoch', now()) - date_part('epoch', greatest(t.created_at, t.run_at)), t.trace
    FROM taken AS t JOIN unnest(v_took.ids, v_took.lanes, v_took.ranks) AS l (id, lane, rank) ON l.id = t.id;
END $$;
