-- Claims from a mark: a worker remembers how far it has read each range of the ready line and begins there, not at the head.
--
-- A range is one lane at one rank. Rows that were claimed stay in the index as dead entries until vacuum may remove them,
-- which it may not while any transaction holds an older snapshot: whoever begins at the head walks over all of them again
-- and again. The mark is in the worker's memory only; a row would itself be updated to death.
--
-- What commits late with an older key lies behind the mark. The worker therefore keeps two marks for each range, near and
-- far, and sometimes uses the far one or none (worker/marks.py says when). RULE: the far mark never passes a row that is
-- there to be claimed, nor what was created in the last two seconds.
--
-- What may commit more than two seconds after its created_at writes itself into howdah.late, in the same transaction: jobs
-- enqueued inside a transaction that may go on, retries, jobs that became due. A claim from the far mark reads what has become
-- visible there since its worker last looked, and looks at those places too.

CREATE TYPE howdah.mark AS (lane bigint, rank int, at timestamptz, id uuid);
CREATE TYPE howdah.stray AS (lane bigint, rank int, since timestamptz, until timestamptz);

CREATE TABLE howdah.late (
    xid   xid8 NOT NULL DEFAULT pg_current_xact_id(),
    lane  bigint NOT NULL,
    rank  int NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX late_xid ON howdah.late (xid);
ALTER TABLE howdah.late REPLICA IDENTITY FULL;

-- Up to which transaction everything in howdah.late was over when it was last swept, and when that was.
ALTER TABLE howdah.settings ADD COLUMN late_horizon xid8 NOT NULL DEFAULT '0',
    ADD COLUMN late_swept_at timestamptz NOT NULL DEFAULT '-infinity';

CREATE FUNCTION howdah.sweep_late() RETURNS void
LANGUAGE sql VOLATILE AS $$
    -- Removes what was visible to everybody at the last sweep, a minute or more ago. RULE: a worker that has not looked for
    -- half a minute starts again without marks.
    WITH turn AS (
        UPDATE howdah.settings AS s
        SET late_horizon = pg_snapshot_xmin(pg_current_snapshot()), late_swept_at = clock_timestamp()
        FROM (SELECT o.late_horizon AS horizon FROM howdah.settings AS o) AS old
        WHERE s.only_row AND s.late_swept_at < clock_timestamp() - interval '1 minute'
        RETURNING old.horizon)
    DELETE FROM howdah.late WHERE xid < (SELECT horizon FROM turn)
$$;

-- The ranges of a lane, so that a claim knows where to look. A lane with very many priorities has one row without a rank:
-- claims then read it from its head.
ALTER TABLE howdah.lanes ADD COLUMN rank int;
INSERT INTO howdah.lanes (lane, queue, job_type, rank)
SELECT DISTINCT l.lane, l.queue, l.job_type, w.rank
FROM howdah.lanes AS l
JOIN (SELECT lane, rank FROM howdah.ready UNION SELECT lane, rank FROM howdah.scheduled) AS w ON w.lane = l.lane;
DELETE FROM howdah.lanes AS l
WHERE l.rank IS NULL AND EXISTS (SELECT FROM howdah.lanes AS k WHERE k.lane = l.lane AND k.rank IS NOT NULL);
UPDATE howdah.lanes SET rank = ~100 WHERE rank IS NULL;

-- Ids are random bits: trying to compress them costs more than it saves.
ALTER TABLE howdah.claims ALTER COLUMN job_ids SET STORAGE EXTERNAL;

CREATE FUNCTION howdah.note_range(p_queue text, p_job_type text, p_rank int) RETURNS void
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    v_lane bigint := howdah.lane_of(p_queue, p_job_type);
    v_ranks int;
BEGIN
    -- RULE: in the transaction that puts the first row of a range into a line; never removed. Two transactions may both
    -- do it: readers use DISTINCT, and maintenance removes what is double.
    SELECT count(DISTINCT l.rank) INTO v_ranks FROM howdah.lanes AS l WHERE l.lane = v_lane;
    INSERT INTO howdah.lanes (lane, queue, job_type, rank)
    VALUES (v_lane, p_queue, p_job_type, CASE WHEN v_ranks < 32 THEN p_rank END);
END $$;

CREATE OR REPLACE FUNCTION howdah.sweep_lanes() RETURNS void
LANGUAGE sql VOLATILE AS $$
    -- Doubles from two first enqueues at once (0001: lanes has no unique index).
    DELETE FROM howdah.lanes AS l WHERE EXISTS (
        SELECT FROM howdah.lanes AS k WHERE k.lane = l.lane AND k.rank IS NOT DISTINCT FROM l.rank AND k.ctid < l.ctid)
$$;

CREATE OR REPLACE FUNCTION howdah.jobs_inserted() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    v_notify boolean;
    v_kept_since uuid;
    v_some record;
BEGIN
    -- One look at everything, so that a single job costs only the statements that it needs.
    SELECT s.notify, howdah.job_id_at(now() - s.retention) FROM howdah.settings AS s INTO v_notify, v_kept_since;
    SELECT bool_or(f.status = 'pending' AND f.attempts < f.max_attempts AND (f.run_at IS NULL OR f.run_at <= now())) AS ready,
        bool_or(f.status = 'pending' AND f.attempts < f.max_attempts AND f.run_at > now()) AS scheduled,
        bool_or(f.status IN ('claimed', 'running')) AS claimed,
        bool_or(f.id < v_kept_since) AS old
    FROM fresh AS f INTO v_some;
    IF v_some.ready THEN
        INSERT INTO howdah.ready (lane, rank, created_at, id)
        SELECT howdah.lane_of(f.queue, f.job_type), ~f.priority, f.created_at, f.id
        FROM fresh AS f
        WHERE f.status = 'pending' AND f.attempts < f.max_attempts AND (f.run_at IS NULL OR f.run_at <= now());
    END IF;
    IF v_some.scheduled THEN
        INSERT INTO howdah.scheduled (run_at, id, lane, rank, created_at)
        SELECT f.run_at, f.id, howdah.lane_of(f.queue, f.job_type), ~f.priority, f.created_at
        FROM fresh AS f
        WHERE f.status = 'pending' AND f.attempts < f.max_attempts AND f.run_at > now();
    END IF;
    PERFORM howdah.note_range(f.queue, f.job_type, ~f.priority)
    FROM (SELECT DISTINCT queue, job_type, priority FROM fresh) AS f
    WHERE NOT EXISTS (SELECT FROM howdah.lanes AS l
        WHERE l.lane = howdah.lane_of(f.queue, f.job_type) AND (l.rank = ~f.priority OR l.rank IS NULL));
    -- Unless it is known to commit at once: it may commit late.
    IF v_some.ready AND (current_setting('howdah_enqueue.commits_at_once', true) IS DISTINCT FROM 'on'
        OR clock_timestamp() > now() + interval '1 second') THEN
        INSERT INTO howdah.late (lane, rank, since, until)
        SELECT howdah.lane_of(f.queue, f.job_type), ~f.priority, min(f.created_at), max(f.created_at)
        FROM fresh AS f WHERE f.status = 'pending' AND (f.run_at IS NULL OR f.run_at <= now())
        GROUP BY f.queue, f.job_type, f.priority;
    END IF;
    IF v_some.old THEN
        PERFORM howdah.guard_revival((SELECT f.id FROM fresh AS f ORDER BY f.id LIMIT 1));
    END IF;
    IF v_some.claimed THEN
        PERFORM howdah.note_plain_claim(f.worker_id, f.id) FROM fresh AS f WHERE f.status IN ('claimed', 'running');
    END IF;
    -- For what is due later too: workers poll seldom, and it may be due before they do.
    IF v_notify AND (v_some.ready OR v_some.scheduled) THEN
        PERFORM pg_notify('howdah', '');
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION howdah.join_line(p_job howdah.jobs) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lane bigint := howdah.lane_of(p_job.queue, p_job.job_type);
BEGIN
    IF p_job.run_at > now() THEN
        INSERT INTO howdah.scheduled (run_at, id, lane, rank, created_at)
        VALUES (p_job.run_at, p_job.id, v_lane, ~p_job.priority, p_job.created_at);
    ELSE
        INSERT INTO howdah.ready (lane, rank, created_at, id)
        VALUES (v_lane, ~p_job.priority, p_job.created_at, p_job.id);
        INSERT INTO howdah.late (lane, rank, since, until)
        VALUES (v_lane, ~p_job.priority, p_job.created_at, p_job.created_at);
    END IF;
    PERFORM howdah.ring();
    IF NOT EXISTS (SELECT FROM howdah.lanes AS l WHERE l.lane = v_lane AND (l.rank = ~p_job.priority OR l.rank IS NULL)) THEN
        PERFORM howdah.note_range(p_job.queue, p_job.job_type, ~p_job.priority);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION howdah.promote_due(p_limit int DEFAULT 5000) RETURNS int
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_now int;
    v_count int := 0;
BEGIN
    -- What is due moves to the ready line, all of it (up to a bound), because a job of high priority may be due last. The
    -- line row carries all that is needed, so the ledger is not touched. Its place in the line is that of its created_at.
    FOR n IN 1 .. 20 LOOP
        WITH due AS MATERIALIZED (
            SELECT s.ctid AS place FROM howdah.scheduled AS s
            WHERE s.run_at <= now() ORDER BY s.run_at, s.id LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ), moved AS (
            DELETE FROM howdah.scheduled WHERE ctid = ANY (ARRAY(SELECT place FROM due))
            RETURNING lane, rank, created_at, id
        ), noted AS (
            -- Second by second, so that whoever looks there walks over a second's dead rows at most.
            INSERT INTO howdah.late (lane, rank, since, until)
            SELECT lane, rank, min(created_at), max(created_at) FROM moved GROUP BY lane, rank, date_trunc('second', created_at)
        )
        INSERT INTO howdah.ready (lane, rank, created_at, id) SELECT lane, rank, created_at, id FROM moved;
        GET DIAGNOSTICS v_now = ROW_COUNT;
        v_count := v_count + v_now;
        EXIT WHEN v_now < p_limit;
    END LOOP;
    RETURN v_count;
END $$;
