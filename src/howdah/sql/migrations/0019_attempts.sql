-- Oldest code: 15
-- What became of a job's attempts: the ledger keeps only the last error, and a timeline wants each. An attempt that ends
-- otherwise than in completion leaves a record among the job's events, under a negative number, where list_events (which asks
-- for numbers after 0 or later) does not find it, and which goes with the job. The last 50 of a job are kept.
--
-- By a trigger, and not in each function that ends a claim, so that attempts ended by plain SQL are kept as well. Its
-- condition is false for claims, reports and completions: on the hot path it costs a comparison. Attempts that are not
-- counted (a snooze, a graceful stop) leave nothing.

CREATE FUNCTION howdah.note_attempt() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO howdah.job_events AS e (job_id, seq, at, attempt, name, data)
    VALUES (OLD.id, -1 - abs(OLD.attempts % 50), clock_timestamp(), OLD.attempts, 'howdah.attempt', jsonb_build_object(
        'outcome', CASE
            WHEN OLD.status = 'completed' THEN 'completed'
            WHEN NEW.deaths > OLD.deaths THEN 'died'
            WHEN NEW.status <> 'pending' THEN NEW.status
            WHEN NEW.errors > OLD.errors THEN 'error'
            ELSE 'returned' END,
        -- What its error is sealed for, if it is sealed.
        'job_type', OLD.job_type,
        'worker', OLD.worker_id, 'claimed_at', OLD.claimed_at, 'started_at', coalesce(OLD.started_at, NEW.started_at),
        'ended_at', CASE WHEN OLD.status = 'completed' THEN OLD.completed_at ELSE clock_timestamp() END,
        'error', CASE WHEN OLD.status <> 'completed' THEN NEW.last_error END))
    ON CONFLICT (job_id, seq) DO UPDATE SET at = excluded.at, attempt = excluded.attempt, data = excluded.data;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_attempt_ended AFTER UPDATE ON howdah.jobs
    FOR EACH ROW
    WHEN (OLD.status IN ('claimed', 'running', 'completed') AND NEW.status NOT IN ('claimed', 'running', 'completed')
        AND NEW.attempts >= OLD.attempts AND OLD.attempts > 0)
    EXECUTE FUNCTION howdah.note_attempt();

-- As in 0002; a job without events of its own may have records of its attempts.
CREATE OR REPLACE FUNCTION howdah.jobs_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM howdah.leave_line(g::howdah.jobs) FROM gone AS g WHERE g.status = 'pending';
    DELETE FROM howdah.job_events AS e USING gone AS g
    WHERE e.job_id = g.id AND (g.events_count > 0 OR g.attempts > 1 OR (g.attempts > 0 AND g.status <> 'completed'));
    RETURN NULL;
END $$;
