-- What a column may hold is its type's business, not the table's. PostgreSQL reads the text of a table's checks, and of a
-- trigger's condition, anew at every statement that writes to it, and tries every check at every change of a row: 80
-- microseconds of the 600 that the claim of a single job took. A domain is read once in a session, and tried where a value
-- is assigned. This rewrites the ledger, so with a long history it takes a while.

CREATE DOMAIN howdah.job_type AS text CONSTRAINT has_1_to_50_characters CHECK (char_length(VALUE) BETWEEN 1 AND 50);
CREATE DOMAIN howdah.queue AS text CONSTRAINT has_1_to_50_characters CHECK (char_length(VALUE) BETWEEN 1 AND 50);
CREATE DOMAIN howdah.progress AS int CONSTRAINT is_0_to_100 CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN howdah.current_stage AS text CONSTRAINT has_at_most_100_characters CHECK (char_length(VALUE) <= 100);
CREATE DOMAIN howdah.worker_id AS text CONSTRAINT has_at_most_100_characters CHECK (char_length(VALUE) <= 100);
CREATE DOMAIN howdah.max_attempts AS int CONSTRAINT is_at_least_1 CHECK (VALUE >= 1);
CREATE DOMAIN howdah.lease AS bigint CONSTRAINT is_0_to_9e18 CHECK (VALUE BETWEEN 0 AND 9000000000000000000);

DROP TRIGGER jobs_updated ON howdah.jobs;

DO $$
DECLARE
    v_check name;
BEGIN
    FOR v_check IN SELECT c.conname FROM pg_constraint AS c WHERE c.contype = 'c' AND c.conrelid = 'howdah.jobs'::regclass
            AND c.conname <> 'jobs_status_check'
    LOOP
        EXECUTE format('ALTER TABLE howdah.jobs DROP CONSTRAINT %I', v_check);
    END LOOP;
END $$;

ALTER TABLE howdah.jobs
    ALTER COLUMN job_type TYPE howdah.job_type,
    ALTER COLUMN queue TYPE howdah.queue,
    ALTER COLUMN progress TYPE howdah.progress,
    ALTER COLUMN current_stage TYPE howdah.current_stage,
    ALTER COLUMN worker_id TYPE howdah.worker_id,
    ALTER COLUMN max_attempts TYPE howdah.max_attempts,
    ALTER COLUMN lease TYPE howdah.lease;

-- As in 0004, with the columns as the types that it returns.
CREATE OR REPLACE FUNCTION howdah.claim_jobs(p_worker_id text, p_job_types text[], p_batch int, p_queues text[] DEFAULT NULL,
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
    SELECT v_claim, t.id, t.lease::bigint, t.job_type::text, t.queue::text, t.priority, date_part('epoch', t.created_at),
        t.data::text, t.attempts, t.max_attempts::int, t.errors, t.deaths, t.events_count
    FROM taken AS t ORDER BY t.priority DESC, t.created_at, t.id;
END $$;

-- As in 0002, with what the trigger's condition said.
CREATE OR REPLACE FUNCTION howdah.jobs_updated() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = NEW.status AND OLD.id = NEW.id AND OLD.priority = NEW.priority AND OLD.queue = NEW.queue
        AND OLD.job_type = NEW.job_type AND OLD.created_at = NEW.created_at AND OLD.run_at IS NOT DISTINCT FROM NEW.run_at
        AND (OLD.attempts < OLD.max_attempts) = (NEW.attempts < NEW.max_attempts) THEN
        RETURN NULL;  -- it waits where it waited
    END IF;
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

-- False on the hot path: a claim takes its line row itself and changes the lease with the status, and a completion touches no
-- pending row.
CREATE TRIGGER jobs_updated AFTER UPDATE ON howdah.jobs
    FOR EACH ROW
    WHEN (NEW.status = 'pending' OR (OLD.status = 'pending' AND (NEW.status <> 'claimed' OR NEW.lease = OLD.lease)))
    EXECUTE FUNCTION howdah.jobs_updated();
