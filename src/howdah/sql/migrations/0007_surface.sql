-- The small SQL surface for any language, one job at a time. Workers written in Python use the batch functions instead.

CREATE FUNCTION howdah.enqueue_job(
    p_job_type text, p_data jsonb DEFAULT '{}', p_priority int DEFAULT 100, p_queue text DEFAULT 'default',
    p_run_at timestamptz DEFAULT NULL, p_max_attempts int DEFAULT 3, p_id uuid DEFAULT NULL)
RETURNS uuid
LANGUAGE sql VOLATILE AS $$
    -- With an id of the caller's making, a call whose reply was lost can be repeated: the second changes nothing.
    WITH made AS (SELECT coalesce(p_id, howdah.new_job_id()) AS id), inserted AS (
        INSERT INTO howdah.jobs (id, job_type, data, priority, queue, run_at, max_attempts)
        SELECT made.id, p_job_type, p_data, p_priority, p_queue, p_run_at, p_max_attempts FROM made
        ON CONFLICT (id) DO NOTHING
    )
    SELECT id FROM made
$$;

CREATE FUNCTION howdah.start_job(p_id uuid, p_lease bigint) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (SELECT FROM howdah.report_jobs(ARRAY[p_id], ARRAY[p_lease], ARRAY[NULL::int], ARRAY[NULL::text], ARRAY[0::double precision]))
$$;

CREATE FUNCTION howdah.report_progress(p_id uuid, p_lease bigint, p_progress int, p_stage text DEFAULT NULL) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (SELECT FROM howdah.report_jobs(ARRAY[p_id], ARRAY[p_lease], ARRAY[p_progress], ARRAY[p_stage], ARRAY[0::double precision]))
$$;

CREATE FUNCTION howdah.record_event(p_id uuid, p_lease bigint, p_name text, p_data jsonb DEFAULT NULL) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    WITH counted AS (
        UPDATE howdah.jobs AS j SET events_count = j.events_count + 1
        WHERE j.id = p_id AND j.lease = p_lease AND j.status IN ('claimed', 'running')
        RETURNING j.id, j.events_count, j.attempts
    ), kept AS (
        INSERT INTO howdah.job_events (job_id, seq, attempt, name, data)
        SELECT c.id, c.events_count, c.attempts, p_name, p_data FROM counted AS c RETURNING 1
    )
    SELECT EXISTS (SELECT FROM kept)
$$;

CREATE FUNCTION howdah.complete_job(p_id uuid, p_lease bigint, p_result jsonb DEFAULT NULL) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT cardinality(howdah.complete_jobs(ARRAY[p_id], ARRAY[p_lease], ARRAY[p_result::text], ARRAY[0::double precision], '{}')) = 0
$$;

CREATE FUNCTION howdah.fail_job(p_id uuid, p_lease bigint, p_error text, p_retry_in interval DEFAULT NULL, p_final boolean DEFAULT false)
RETURNS text
LANGUAGE sql VOLATILE AS $$
    -- The status that the job now has: pending (it will be tried again), failed or cancelled; null: refused.
    SELECT f.status FROM howdah.finish_jobs(ARRAY[p_id], ARRAY[p_lease],
        ARRAY[CASE WHEN p_final THEN 'fail' ELSE 'retry' END], ARRAY[p_error],
        ARRAY[extract(epoch FROM p_retry_in)::double precision], '{}', '{}') AS f
$$;

CREATE FUNCTION howdah.release_job(p_id uuid, p_lease bigint) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (SELECT FROM howdah.finish_jobs(ARRAY[p_id], ARRAY[p_lease], ARRAY['release'], ARRAY[NULL::text], '{}', '{}', '{}'))
$$;

CREATE FUNCTION howdah.cancel_job(p_id uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_status text;
BEGIN
    -- cancelled: it will never run. requested: it is running and its worker will be told. The status it ended with: too
    -- late. null: no such job.
    SELECT j.status INTO v_status FROM howdah.jobs AS j WHERE j.id = p_id FOR UPDATE;
    IF v_status = 'pending' THEN
        UPDATE howdah.jobs AS j SET status = 'cancelled', completed_at = clock_timestamp(), last_error = 'cancelled on request'
        WHERE j.id = p_id;
        RETURN 'cancelled';
    ELSIF v_status IN ('claimed', 'running') THEN
        UPDATE howdah.jobs AS j SET cancel_requested_at = coalesce(j.cancel_requested_at, clock_timestamp()) WHERE j.id = p_id;
        PERFORM howdah.ring();
        RETURN 'requested';
    END IF;
    RETURN v_status;
END $$;

CREATE FUNCTION howdah.retry_job(p_id uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_status text;
BEGIN
    -- pending: it will run (again) now, with at least one attempt left. claimed or running: refused. null: no such job.
    SELECT j.status INTO v_status FROM howdah.jobs AS j WHERE j.id = p_id FOR UPDATE;
    IF v_status IN ('claimed', 'running') THEN
        RETURN v_status;
    END IF;
    UPDATE howdah.jobs AS j
    SET status = 'pending', run_at = NULL, max_attempts = greatest(j.max_attempts, j.attempts + 1), deaths = 0,
        completed_at = NULL, claimed_at = NULL, worker_id = NULL, result = NULL, cancel_requested_at = NULL, progress = 0,
        current_stage = NULL, started_at = NULL
    WHERE j.id = p_id;
    RETURN CASE WHEN v_status IS NULL THEN NULL ELSE 'pending' END;
END $$;

CREATE FUNCTION howdah.pause(p_kind text, p_name text) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    WITH done AS (INSERT INTO howdah.pauses (kind, name) VALUES (p_kind, p_name) ON CONFLICT DO NOTHING RETURNING 1)
    SELECT EXISTS (SELECT FROM done)
$$;

CREATE FUNCTION howdah.resume(p_kind text, p_name text) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    WITH done AS (DELETE FROM howdah.pauses WHERE kind = p_kind AND name = p_name RETURNING 1), rung AS (SELECT howdah.ring())
    SELECT EXISTS (SELECT FROM done) FROM rung
$$;
