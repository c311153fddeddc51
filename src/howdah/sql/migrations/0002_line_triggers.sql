-- Triggers that keep plain SQL on howdah.jobs honest: whatever INSERT, UPDATE or DELETE does to the ledger, the lines follow
-- in the same transaction.

CREATE FUNCTION howdah.lane_of(p_queue text, p_job_type text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    -- A hash, so that an enqueue looks nothing up and waits for nobody; char 31 separates the two names.
    SELECT pg_catalog.hashtextextended(p_queue || E'\x1f' || p_job_type, 0::bigint)
$$;

CREATE FUNCTION howdah.new_lease(p_old bigint) RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    -- Microseconds of the database's clock: it grows on every claim even where a crash took back a claim that had been
    -- committed without waiting for the disk, so that two claims can never carry the same lease.
    SELECT greatest(p_old + 1, floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
$$;

CREATE FUNCTION howdah.ring() RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- The doorbell: a hint that something may be claimable. No data in it; polling is the truth.
    IF (SELECT notify FROM howdah.settings) THEN
        PERFORM pg_notify('howdah', '');
    END IF;
END $$;

CREATE FUNCTION howdah.guard_revival(p_oldest_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- A job old enough to stand in a partition that retention may be about to drop is coming (back) to life: wait for
    -- the drop that is under way, or keep it from starting before this transaction ends. See drop_expired_partition.
    IF p_oldest_id < howdah.job_id_at(now() - (SELECT retention FROM howdah.settings)) THEN
        PERFORM pg_advisory_xact_lock_shared(hashtext('howdah.revival'), 'howdah.jobs'::regclass::oid::int);
    END IF;
END $$;

CREATE FUNCTION howdah.jobs_inserted() RETURNS trigger
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

    INSERT INTO howdah.lanes (lane, queue, job_type)
    SELECT howdah.lane_of(f.queue, f.job_type), f.queue, f.job_type
    FROM (SELECT DISTINCT queue, job_type FROM fresh) AS f
    WHERE NOT EXISTS (SELECT FROM howdah.lanes AS l WHERE l.lane = howdah.lane_of(f.queue, f.job_type));

    PERFORM howdah.guard_revival((SELECT f.id FROM fresh AS f ORDER BY f.id LIMIT 1));
    PERFORM howdah.note_plain_claim(f.worker_id, f.id) FROM fresh AS f WHERE f.status IN ('claimed', 'running');
    RETURN NULL;
END $$;

CREATE FUNCTION howdah.note_plain_claim(p_worker_id text, p_id uuid) RETURNS void
LANGUAGE sql VOLATILE AS $$
    -- A job marked claimed by plain SQL, not through a claim function: without this row no rescue would ever find it.
    INSERT INTO howdah.claims (worker_id, job_ids) VALUES (coalesce(p_worker_id, '?'), ARRAY[p_id])
$$;

CREATE FUNCTION howdah.leave_line(p_job howdah.jobs) RETURNS void
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
    -- SKIP LOCKED: a claimer holding the line row waits for our ledger row, so waiting for its line row would be a
    -- deadlock. It will see that the job is no longer pending and throw the line row away itself.
    DELETE FROM howdah.ready WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM howdah.ready AS r
        WHERE r.lane = howdah.lane_of(p_job.queue, p_job.job_type) AND r.rank = ~p_job.priority
            AND r.created_at = p_job.created_at AND r.id = p_job.id
        FOR UPDATE SKIP LOCKED));
    IF p_job.run_at IS NOT NULL THEN
        DELETE FROM howdah.scheduled WHERE ctid = ANY (ARRAY(
            SELECT s.ctid FROM howdah.scheduled AS s
            WHERE s.run_at = p_job.run_at AND s.id = p_job.id
            FOR UPDATE SKIP LOCKED));
    END IF;
END $$;

CREATE FUNCTION howdah.join_line(p_job howdah.jobs) RETURNS void
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
    IF NOT EXISTS (SELECT FROM howdah.lanes AS l WHERE l.lane = v_lane) THEN
        INSERT INTO howdah.lanes (lane, queue, job_type) VALUES (v_lane, p_job.queue, p_job.job_type);
    END IF;
END $$;

CREATE FUNCTION howdah.jobs_updated() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = 'pending' THEN
        PERFORM howdah.leave_line(OLD);
        IF NEW.status IN ('claimed', 'running') THEN
            -- Claimed by plain SQL: a lease of its own, so that whoever held the job before is refused from now on.
            PERFORM howdah.note_plain_claim(NEW.worker_id, NEW.id);
            IF NEW.lease = OLD.lease THEN
                UPDATE howdah.jobs SET lease = howdah.new_lease(lease) WHERE id = NEW.id;
            END IF;
        END IF;
    END IF;
    IF NEW.status = 'pending' THEN
        PERFORM howdah.guard_revival(NEW.id);
        IF NEW.cancel_requested_at IS NOT NULL THEN
            -- Put back while its cancellation was under way: it does not run again. (retry_job withdraws the request.)
            UPDATE howdah.jobs SET status = 'cancelled', completed_at = clock_timestamp(), last_error = 'cancelled on request'
            WHERE id = NEW.id;
        ELSIF NEW.attempts < NEW.max_attempts THEN
            PERFORM howdah.join_line(NEW);
        END IF;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION howdah.jobs_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM howdah.leave_line(g::howdah.jobs) FROM gone AS g WHERE g.status = 'pending';
    DELETE FROM howdah.job_events AS e USING gone AS g WHERE e.job_id = g.id AND g.events_count > 0;
    RETURN NULL;
END $$;

CREATE FUNCTION howdah.jobs_truncated() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE howdah.ready, howdah.scheduled, howdah.claims, howdah.job_events;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_inserted AFTER INSERT ON howdah.jobs
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION howdah.jobs_inserted();

-- Row level, and false on the hot path: a claim takes its line row itself and changes the lease with the status, and a
-- completion touches no pending row.
CREATE TRIGGER jobs_updated AFTER UPDATE ON howdah.jobs
    FOR EACH ROW
    WHEN ((OLD.status = 'pending' OR NEW.status = 'pending')
        AND NOT (OLD.status = 'pending' AND NEW.status = 'claimed' AND OLD.lease <> NEW.lease)
        AND (OLD.status <> NEW.status OR OLD.id <> NEW.id OR OLD.priority <> NEW.priority OR OLD.queue <> NEW.queue
            OR OLD.job_type <> NEW.job_type OR OLD.created_at <> NEW.created_at
            OR OLD.run_at IS DISTINCT FROM NEW.run_at
            OR (OLD.attempts < OLD.max_attempts) <> (NEW.attempts < NEW.max_attempts)))
    EXECUTE FUNCTION howdah.jobs_updated();

CREATE TRIGGER jobs_deleted AFTER DELETE ON howdah.jobs
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION howdah.jobs_deleted();

CREATE TRIGGER jobs_truncated AFTER TRUNCATE ON howdah.jobs
    FOR EACH STATEMENT EXECUTE FUNCTION howdah.jobs_truncated();
