-- The ledger and its lines.
--
-- howdah.jobs     the ledger: one row per job, updated in place. Its only index is the primary key, so every change
--                 of status or progress is a HOT update. RULE: no index, and no index predicate, may ever mention a
--                 column that changes.
-- howdah.ready    the line of what may be claimed now, in claim order, lane by lane.
-- howdah.scheduled the line of what waits for its time: delayed jobs and retries.
-- howdah.lanes    which (queue, job type) pairs exist: a claim visits only its own lanes.
-- howdah.claims   one row per claimed batch, so that a dead worker's jobs are found without an index on status.
-- howdah.workers  who sends heartbeats.
--
-- The lines are hints and the ledger decides: a claim takes a job only if its ledger row is still pending. A surplus
-- line row is therefore harmless (the next claim throws it away); a missing one would strand a job, so line rows are
-- only ever removed together with, or after, the change in the ledger.

CREATE TABLE howdah.migrations (
    version    int PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION howdah.job_id_at(p_at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    -- The smallest time-ordered id (UUID version 7) of that millisecond: bounds of partitions.
    SELECT (lpad(to_hex(greatest(0, floor(extract(epoch FROM p_at) * 1000))::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE FUNCTION howdah.new_job_id() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    -- UUID version 7: 48 bits of milliseconds, then 12 bits of the fraction of a millisecond, the rest random.
    SELECT encode(
        int8send((floor(micros / 1000)::bigint << 16)
            | (7::bigint << 12)
            | ((micros % 1000) * 4096 / 1000)::bigint)
        || set_byte(substring(noise FROM 9 FOR 8), 0, 128 | (get_byte(noise, 8) & 63)),
        'hex')::uuid
    FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS micros,
                 uuid_send(gen_random_uuid()) AS noise) AS seed
$$;

CREATE TABLE howdah.settings (
    only_row            boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    retention           interval NOT NULL DEFAULT '30 days' CHECK (retention >= interval '0'),
    partition_width     interval NOT NULL DEFAULT '7 days' CHECK (partition_width >= interval '1 hour'),
    partitions_ahead    int NOT NULL DEFAULT 2 CHECK (partitions_ahead BETWEEN 1 AND 100),
    -- How long a claim by a plain SQL caller, who sends no heartbeats, is left alone.
    plain_claim_timeout interval NOT NULL DEFAULT '1 hour' CHECK (plain_claim_timeout > interval '0'),
    max_deaths          int NOT NULL DEFAULT 3 CHECK (max_deaths >= 1),
    notify              boolean NOT NULL DEFAULT true,
    -- When retention was last looked after: one worker of the fleet at a time does it (begin_sweep).
    swept_at            timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO howdah.settings DEFAULT VALUES;

CREATE TABLE howdah.jobs (
    id                  uuid NOT NULL DEFAULT howdah.new_job_id(),
    job_type            text NOT NULL CHECK (char_length(job_type) BETWEEN 1 AND 50),
    priority            int NOT NULL DEFAULT 100,
    status              text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'claimed', 'running', 'completed', 'failed', 'cancelled')),
    data                jsonb NOT NULL DEFAULT '{}',
    progress            int NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
    current_stage       text CHECK (char_length(current_stage) <= 100),
    events_count        int NOT NULL DEFAULT 0,
    worker_id           text CHECK (char_length(worker_id) <= 100),
    claimed_at          timestamptz,
    created_at          timestamptz NOT NULL DEFAULT now(),
    started_at          timestamptz,
    completed_at        timestamptz,
    attempts            int NOT NULL DEFAULT 0,
    max_attempts        int NOT NULL DEFAULT 3 CHECK (max_attempts >= 1),
    last_error          text,
    queue               text NOT NULL DEFAULT 'default' CHECK (char_length(queue) BETWEEN 1 AND 50),
    run_at              timestamptz,
    lease               bigint NOT NULL DEFAULT 0 CHECK (lease BETWEEN 0 AND 9000000000000000000),
    errors              int NOT NULL DEFAULT 0,
    deaths              int NOT NULL DEFAULT 0,
    cancel_requested_at timestamptz,
    result              jsonb,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

COMMENT ON TABLE howdah.jobs IS 'Every job, waiting, running or finished. Higher priority runs first.';
COMMENT ON COLUMN howdah.jobs.priority IS 'Higher runs first: 150 asked for by a user, 100 found by the system, 30 backfill.';
COMMENT ON COLUMN howdah.jobs.run_at IS 'Not before this time; null means at once.';
COMMENT ON COLUMN howdah.jobs.lease IS 'Grows on every claim; every write of that claim must carry it.';
COMMENT ON COLUMN howdah.jobs.attempts IS 'Claims so far; a graceful stop gives its claim back.';
COMMENT ON COLUMN howdah.jobs.errors IS 'How often the handler raised.';
COMMENT ON COLUMN howdah.jobs.deaths IS 'How often the worker holding it died.';

CREATE TABLE howdah.job_events (
    job_id  uuid NOT NULL,
    seq     int NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempt int NOT NULL,
    name    text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    data    jsonb,
    PRIMARY KEY (job_id, seq)
) PARTITION BY RANGE (job_id);

-- Ids that no dated partition covers: ids of the caller's own making, and a queue left without maintenance.
-- A fillfactor of 40 leaves room on the page for the two or three versions that a job goes through.
CREATE TABLE howdah.jobs_default PARTITION OF howdah.jobs DEFAULT WITH (fillfactor = 40);
CREATE TABLE howdah.job_events_default PARTITION OF howdah.job_events DEFAULT;

CREATE TABLE howdah.ready (
    lane       bigint NOT NULL,
    rank       int NOT NULL,        -- ~priority, so that ascending is highest priority first, over all of int
    created_at timestamptz NOT NULL,
    id         uuid NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);
-- Not unique on purpose: a unique index would make a writer wait for another's uncommitted removal of the same row.
CREATE INDEX ready_order ON howdah.ready (lane, rank, created_at, id);
-- Without it, a publication FOR ALL TABLES would refuse every claim: tables without a key need an identity to delete by.
ALTER TABLE howdah.ready REPLICA IDENTITY FULL;

CREATE TABLE howdah.scheduled (
    run_at     timestamptz NOT NULL,
    id         uuid NOT NULL,
    lane       bigint NOT NULL,
    rank       int NOT NULL,
    created_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX scheduled_order ON howdah.scheduled (run_at, id);
ALTER TABLE howdah.scheduled REPLICA IDENTITY FULL;

CREATE TABLE howdah.lanes (
    lane     bigint NOT NULL,
    queue    text NOT NULL,
    job_type text NOT NULL
);
-- Not unique either: two transactions that each enqueue the first job of a new type must not wait for each other.
-- Readers use DISTINCT, and maintenance removes what is double.
CREATE INDEX lanes_lane ON howdah.lanes (lane);
ALTER TABLE howdah.lanes REPLICA IDENTITY FULL;

CREATE TABLE howdah.pauses (
    kind      text NOT NULL CHECK (kind IN ('queue', 'type')),
    name      text NOT NULL,
    paused_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, name)
);

CREATE TABLE howdah.claims (
    claim      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id  text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    job_ids    uuid[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE howdah.workers (
    id           text PRIMARY KEY CHECK (char_length(id) BETWEEN 1 AND 100),
    started_at   timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    silence      interval NOT NULL DEFAULT '30 seconds' CHECK (silence > interval '0'),
    queues       text[] NOT NULL DEFAULT '{}',
    job_types    text[] NOT NULL DEFAULT '{}',
    marks_starts boolean NOT NULL DEFAULT false,
    info         jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
