-- Oldest code: 15
-- Administration: changes to many jobs at once, operations that go on in the background, and the audit of both.
--
-- howdah.operations  one row per bulk operation: what is to be done to which jobs, and how far it has come. Whoever carries
--                    it out finds the next few hundred jobs, newest first, and calls step_operation with their ids. RULE:
--                    the jobs change, the counts grow and the cursor moves in one statement, and only from the cursor that
--                    the caller knew: a step whose reply was lost may be repeated, two who carry out the same operation do
--                    not do anything twice, and after a crash anybody goes on from the cursor.
-- howdah.audit       who ordered what, written in the transaction that did it. `who` is what the caller says, `login` what
--                    the server knows.
--
-- Lock order: the operation's row, then (old jobs) the advisory lock of guard_revival, then ledger rows by id, as all batch
-- writers do; line rows are never waited for (leave_line).

ALTER TABLE howdah.settings
    ADD COLUMN audit_retention interval NOT NULL DEFAULT '90 days' CHECK (audit_retention >= interval '0');

CREATE TABLE howdah.audit (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    who     text NOT NULL CHECK (char_length(who) BETWEEN 1 AND 200),
    login   text NOT NULL DEFAULT session_user,
    what    text NOT NULL,
    target  text NOT NULL,
    jobs    bigint,
    details jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE howdah.operations (
    id         uuid PRIMARY KEY DEFAULT howdah.new_job_id(),
    kind       text NOT NULL CHECK (kind IN ('retry', 'cancel', 'delete', 'run_now', 'priority', 'queue')),
    filter     text NOT NULL,
    -- A selection instead of a filter.
    job_ids    uuid[],
    argument   text,
    who        text NOT NULL CHECK (char_length(who) BETWEEN 1 AND 200),
    state      text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'cancelled', 'failed')),
    estimate   bigint,
    done       bigint NOT NULL DEFAULT 0,
    skipped    bigint NOT NULL DEFAULT 0,
    -- Everything from here on, in id order backwards, is still to be looked at; null: everything.
    cursor     uuid,
    -- Only jobs created before; also the time from which a filter counts how long ago something was.
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    stepped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,
    error      text
) WITH (fillfactor = 50);

CREATE FUNCTION howdah.note_audit(p_who text, p_what text, p_target text, p_jobs bigint, p_details jsonb) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO howdah.audit (who, what, target, jobs, details)
    VALUES (p_who, p_what, p_target, p_jobs, coalesce(p_details, '{}'))
$$;

CREATE FUNCTION howdah.check_change(p_kind text, p_argument text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- Before anything is locked or written.
    IF p_kind = 'priority' THEN
        PERFORM p_argument::int;
    ELSIF p_kind = 'queue' THEN
        PERFORM p_argument::howdah.queue;
    END IF;
    IF p_kind IS NULL OR p_kind NOT IN ('retry', 'cancel', 'delete', 'run_now', 'priority', 'queue') THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there is no change %L', p_kind);
    END IF;
    IF (p_kind IN ('priority', 'queue')) <> (p_argument IS NOT NULL) THEN
        RAISE invalid_parameter_value USING MESSAGE = format('a change of %L has %s', p_kind,
            CASE WHEN p_argument IS NULL THEN 'no argument' ELSE 'an argument too many' END);
    END IF;
END $$;

CREATE FUNCTION howdah.lock_jobs(p_ids uuid[], p_patient boolean) RETURNS TABLE (id uuid, status text)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
    -- In id order. Impatient: without those that somebody else has locked.
    IF p_patient THEN
        RETURN QUERY SELECT j.id, j.status FROM howdah.jobs AS j WHERE j.id = ANY (p_ids) ORDER BY j.id FOR UPDATE;
    ELSE
        RETURN QUERY SELECT j.id, j.status FROM howdah.jobs AS j WHERE j.id = ANY (p_ids) ORDER BY j.id FOR UPDATE SKIP LOCKED;
    END IF;
END $$;

CREATE FUNCTION howdah.change_jobs(p_kind text, p_ids uuid[], p_argument text, p_patient boolean)
RETURNS TABLE (id uuid, answer text, changed boolean)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET lock_timeout = '2s' AS $$
DECLARE
    v_fit uuid[];
    v_locked uuid[];
    v_statuses text[];
    v_ready text[] := CASE
        WHEN p_kind = 'retry' THEN ARRAY['pending', 'completed', 'failed', 'cancelled']
        WHEN p_kind = 'cancel' THEN ARRAY['pending', 'claimed', 'running']
        WHEN p_kind = 'delete' THEN ARRAY['completed', 'failed', 'cancelled']
        WHEN p_kind = 'run_now' THEN ARRAY['pending']
        ELSE ARRAY['pending', 'claimed', 'running'] END;
BEGIN
    -- Every job that was found, with what became of it: its status now ('requested': its worker will be told to stop;
    -- 'deleted'), and whether that was done here. A job in no fit state is left as it is, and so is one that is as wished.
    PERFORM howdah.check_change(p_kind, p_argument);
    PERFORM howdah.guard_revival((SELECT u.i FROM unnest(p_ids) AS u (i) ORDER BY u.i LIMIT 1));
    SELECT coalesce(array_agg(l.id), '{}'), coalesce(array_agg(l.status), '{}') INTO v_locked, v_statuses
    FROM howdah.lock_jobs(p_ids, p_patient) AS l;
    v_fit := ARRAY(SELECT t.id FROM unnest(v_locked, v_statuses) AS t (id, status) WHERE t.status = ANY (v_ready));
    CASE p_kind
        WHEN 'retry' THEN
            UPDATE howdah.jobs AS j
            SET status = 'pending', run_at = NULL, max_attempts = greatest(j.max_attempts, least(j.attempts, 2147483646) + 1),
                deaths = 0, completed_at = NULL, claimed_at = NULL, worker_id = NULL, result = NULL,
                cancel_requested_at = NULL, progress = 0, current_stage = NULL, started_at = NULL
            WHERE j.id = ANY (v_fit);
        WHEN 'cancel' THEN
            UPDATE howdah.jobs AS j SET status = 'cancelled', completed_at = clock_timestamp(), last_error = 'cancelled on request'
            WHERE j.id = ANY (v_fit) AND j.status = 'pending';
            UPDATE howdah.jobs AS j SET cancel_requested_at = clock_timestamp()
            WHERE j.id = ANY (v_fit) AND j.status IN ('claimed', 'running') AND j.cancel_requested_at IS NULL;
            PERFORM howdah.ring();
        WHEN 'delete' THEN
            DELETE FROM howdah.jobs AS j WHERE j.id = ANY (v_fit);
        WHEN 'run_now' THEN
            v_fit := ARRAY(SELECT j.id FROM howdah.jobs AS j WHERE j.id = ANY (v_fit) AND j.run_at > now());
            UPDATE howdah.jobs AS j SET run_at = NULL WHERE j.id = ANY (v_fit);
        WHEN 'priority' THEN
            v_fit := ARRAY(SELECT j.id FROM howdah.jobs AS j WHERE j.id = ANY (v_fit) AND j.priority <> p_argument::int);
            UPDATE howdah.jobs AS j SET priority = p_argument::int WHERE j.id = ANY (v_fit);
        WHEN 'queue' THEN
            v_fit := ARRAY(SELECT j.id FROM howdah.jobs AS j WHERE j.id = ANY (v_fit) AND j.queue <> p_argument);
            UPDATE howdah.jobs AS j SET queue = p_argument WHERE j.id = ANY (v_fit);
    END CASE;
    RETURN QUERY
    SELECT t.id, CASE
            WHEN NOT t.id = ANY (v_fit) OR p_kind IN ('priority', 'queue', 'run_now') THEN t.status
            WHEN p_kind = 'retry' THEN 'pending'
            WHEN p_kind = 'delete' THEN 'deleted'
            WHEN t.status = 'pending' THEN 'cancelled'
            ELSE 'requested' END,
        t.id = ANY (v_fit)
    FROM unnest(v_locked, v_statuses) AS t (id, status);
END $$;

CREATE FUNCTION howdah.administer_jobs(p_kind text, p_ids uuid[], p_argument text, p_who text)
RETURNS TABLE (id uuid, answer text, changed boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_ids uuid[];
    v_answers text[];
    v_changes boolean[];
    v_done int;
BEGIN
    -- An order for some jobs, by id: done and put on record together. An order that changed nothing is no change.
    SELECT array_agg(c.id), array_agg(c.answer), array_agg(c.changed), count(*) FILTER (WHERE c.changed)
    INTO v_ids, v_answers, v_changes, v_done
    FROM howdah.change_jobs(p_kind, p_ids, p_argument, true) AS c;
    IF v_done > 0 THEN
        PERFORM howdah.note_audit(p_who, p_kind, CASE WHEN cardinality(p_ids) = 1 THEN p_ids[1]::text
                ELSE format('%s jobs', cardinality(p_ids)) END,
            v_done, jsonb_build_object('ids', to_jsonb(p_ids[1:100]), 'argument', p_argument));
    END IF;
    RETURN QUERY SELECT * FROM unnest(v_ids, v_answers, v_changes);
END $$;

CREATE FUNCTION howdah.set_pause(p_kind text, p_name text, p_paused boolean, p_who text) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_changed boolean;
BEGIN
    -- pause or resume, on record. False: it was so already.
    v_changed := CASE WHEN p_paused THEN howdah.pause(p_kind, p_name) ELSE howdah.resume(p_kind, p_name) END;
    IF v_changed THEN
        PERFORM howdah.note_audit(p_who, CASE WHEN p_paused THEN 'pause' ELSE 'resume' END, format('%s %s', p_kind, p_name), NULL, NULL);
    END IF;
    RETURN v_changed;
END $$;

CREATE FUNCTION howdah.begin_operation(
    p_id uuid, p_kind text, p_filter text, p_job_ids uuid[], p_argument text, p_who text, p_estimate bigint)
RETURNS SETOF howdah.operations
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- The id is the caller's, so that an order whose reply was lost can be repeated.
    PERFORM howdah.check_change(p_kind, p_argument);
    INSERT INTO howdah.operations AS o (id, kind, filter, job_ids, argument, who, estimate)
    VALUES (p_id, p_kind, p_filter, p_job_ids, p_argument, p_who, p_estimate)
    ON CONFLICT ON CONSTRAINT operations_pkey DO NOTHING;
    IF FOUND THEN
        PERFORM howdah.note_audit(p_who, 'bulk ' || p_kind, p_filter, p_estimate,
            jsonb_build_object('operation', p_id, 'argument', p_argument, 'began', true));
    END IF;
    RETURN QUERY SELECT o.* FROM howdah.operations AS o WHERE o.id = p_id;
END $$;

CREATE FUNCTION howdah.end_operation(p_id uuid, p_state text, p_who text, p_error text) RETURNS SETOF howdah.operations
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- One that has ended already stays as it is.
    UPDATE howdah.operations AS o SET state = p_state, ended_at = clock_timestamp(), error = p_error
    WHERE o.id = p_id AND o.state = 'running';
    IF FOUND THEN
        PERFORM howdah.note_audit(coalesce(p_who, o.who), 'bulk ' || o.kind, o.filter, o.done,
            jsonb_build_object('operation', o.id, 'argument', o.argument, 'ended', o.state, 'skipped', o.skipped))
        FROM howdah.operations AS o WHERE o.id = p_id;
    END IF;
    RETURN QUERY SELECT o.* FROM howdah.operations AS o WHERE o.id = p_id;
END $$;

CREATE FUNCTION howdah.step_operation(
    p_id uuid, p_from uuid, p_ids uuid[], p_to uuid, p_last boolean, p_patient boolean DEFAULT true)
RETURNS SETOF howdah.operations
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_operation howdah.operations;
    v_done int;
BEGIN
    -- Does the next jobs and moves the cursor; or, if the operation has ended or is no longer at p_from, nothing. Returns the
    -- operation as it stands.
    SELECT o.* INTO v_operation FROM howdah.operations AS o WHERE o.id = p_id FOR UPDATE;
    IF v_operation.state = 'running' AND v_operation.cursor IS NOT DISTINCT FROM p_from THEN
        SELECT count(*) FILTER (WHERE c.changed) INTO v_done
        FROM howdah.change_jobs(v_operation.kind, p_ids, v_operation.argument, p_patient) AS c;
        UPDATE howdah.operations AS o
        SET done = o.done + v_done, skipped = o.skipped + cardinality(p_ids) - v_done, cursor = p_to,
            stepped_at = clock_timestamp()
        WHERE o.id = p_id;
        IF p_last THEN
            RETURN QUERY SELECT * FROM howdah.end_operation(p_id, 'done', NULL, NULL);
            RETURN;
        END IF;
    END IF;
    RETURN QUERY SELECT o.* FROM howdah.operations AS o WHERE o.id = p_id;
END $$;

CREATE FUNCTION howdah.cancel_operation(p_id uuid, p_who text) RETURNS SETOF howdah.operations
LANGUAGE sql VOLATILE AS $$
    -- What was done stays done.
    SELECT * FROM howdah.end_operation(p_id, 'cancelled', p_who, NULL)
$$;

CREATE FUNCTION howdah.fail_operation(p_id uuid, p_error text) RETURNS SETOF howdah.operations
LANGUAGE sql VOLATILE AS $$
    SELECT * FROM howdah.end_operation(p_id, 'failed', NULL, p_error)
$$;

CREATE FUNCTION howdah.sweep_audit() RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_before timestamptz := now() - (SELECT s.audit_retention FROM howdah.settings AS s);
    v_deleted int;
BEGIN
    -- The oldest entries that are past their retention, and whatever lies more than 100,000 entries back. A bounded number a
    -- call. Operations that have ended go with them; one that has not is kept for ever, or until it is cancelled.
    DELETE FROM howdah.audit AS a WHERE a.id IN (
        SELECT o.id FROM howdah.audit AS o ORDER BY o.id LIMIT 5000)
        AND (a.at < v_before OR a.id <= (SELECT max(m.id) FROM howdah.audit AS m) - 100000);
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    DELETE FROM howdah.operations AS p WHERE p.id IN (
        SELECT o.id FROM howdah.operations AS o ORDER BY o.id LIMIT 5000)
        AND p.ended_at < v_before;
    RETURN v_deleted;
END $$;
