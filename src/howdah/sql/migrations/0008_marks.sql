-- Claims from a mark: a worker remembers how far it has read each range of the ready line and begins there, not at the head.
--
-- A range is one lane at one rank. Rows that were claimed stay in the index as dead entries until vacuum may remove them,
-- which it may not while any transaction holds an older snapshot: whoever begins at the head walks over all of them again
-- and again. The mark is in the worker's memory only; a row would itself be updated to death.
--
-- What commits late with an older key lies behind the mark. The worker therefore keeps two marks for each range, near and
-- far, and sometimes uses the far one or none (worker/marks.py says when). RULE: the far mark never passes a row that is
-- there to be claimed, nor what was created in the last two seconds.

CREATE TYPE howdah.mark AS (lane bigint, rank int, at timestamptz, id uuid);

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
BEGIN
    INSERT INTO howdah.ready (lane, rank, created_at, id)
    SELECT howdah.lane_of(f.queue, f.job_type), ~f.priority, f.created_at, f.id
    FROM fresh AS f
    WHERE f.status = 'pending' AND f.attempts < f.max_attempts AND (f.run_at IS NULL OR f.run_at <= now());
    IF FOUND THEN
        PERFORM howdah.ring();
    END IF;

    INSERT INTO howdah.scheduled (run_at, id, lane, rank, created_at)
    SELECT f.run_at, f.id, howdah.lane_of(f.queue, f.job_type), ~f.priority, f.created_at
    FROM fresh AS f
    WHERE f.status = 'pending' AND f.attempts < f.max_attempts AND f.run_at > now();

    PERFORM howdah.note_range(f.queue, f.job_type, ~f.priority)
    FROM (SELECT DISTINCT queue, job_type, priority FROM fresh) AS f
    WHERE NOT EXISTS (SELECT FROM howdah.lanes AS l
        WHERE l.lane = howdah.lane_of(f.queue, f.job_type) AND (l.rank = ~f.priority OR l.rank IS NULL));

    PERFORM howdah.guard_revival((SELECT f.id FROM fresh AS f ORDER BY f.id LIMIT 1));
    PERFORM howdah.note_plain_claim(f.worker_id, f.id) FROM fresh AS f WHERE f.status IN ('claimed', 'running');
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
        PERFORM howdah.ring();
    END IF;
    IF NOT EXISTS (SELECT FROM howdah.lanes AS l WHERE l.lane = v_lane AND (l.rank = ~p_job.priority OR l.rank IS NULL)) THEN
        PERFORM howdah.note_range(p_job.queue, p_job.job_type, ~p_job.priority);
    END IF;
END $$;
