-- What the database saw of every job, written in the very transactions that did it: each change of status or lease, and each
-- step backwards of progress within a claim. Only the rig has this table; the system under test does not know of it.
CREATE SCHEMA torture;

CREATE TABLE torture.history (
    number   bigint GENERATED ALWAYS AS IDENTITY,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    job      uuid NOT NULL,
    token    bigint,
    kind     text NOT NULL,
    priority int NOT NULL,
    was      text,
    became   text NOT NULL,
    lease    bigint NOT NULL,
    worker   text,
    attempt  int NOT NULL,
    deaths   int NOT NULL,
    visible  timestamptz NOT NULL,
    backward boolean NOT NULL,
    result   jsonb
);

CREATE FUNCTION torture.note() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO torture.history (job, token, kind, priority, was, became, lease, worker, attempt, deaths, visible, backward, result)
    VALUES (NEW.id, (NEW.data ->> 'token')::bigint, NEW.job_type, NEW.priority,
        CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status, NEW.lease, NEW.worker_id, NEW.attempts, NEW.deaths,
        greatest(clock_timestamp(), coalesce(NEW.run_at, '-infinity')),
        TG_OP = 'UPDATE' AND OLD.lease = NEW.lease AND NEW.progress < OLD.progress, NEW.result);
    RETURN NULL;
END $$;

CREATE TRIGGER torture_inserted AFTER INSERT ON howdah.jobs FOR EACH ROW EXECUTE FUNCTION torture.note();
CREATE TRIGGER torture_updated AFTER UPDATE ON howdah.jobs FOR EACH ROW
    WHEN (OLD.status <> NEW.status OR OLD.lease <> NEW.lease OR NEW.progress < OLD.progress)
    EXECUTE FUNCTION torture.note();
