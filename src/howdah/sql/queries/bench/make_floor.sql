-- Purpose: the tables of the floor: a ledger and a line, as narrow as the order guarantee allows, without any trigger.
-- Locks: none that anyone waits for. Index: none. Called by: bench/store.py
DO $$
BEGIN
    CREATE TABLE howdah.bench_ledger (
        id           uuid PRIMARY KEY,
        job_type     text NOT NULL,
        priority     int NOT NULL DEFAULT 100,
        status       text NOT NULL DEFAULT 'pending',
        data         jsonb NOT NULL,
        worker_id    text,
        attempts     int NOT NULL DEFAULT 0,
        claimed_at   timestamptz,
        lease        bigint NOT NULL DEFAULT 0,
        completed_at timestamptz,
        created_at   timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 40);
    CREATE TABLE howdah.bench_line (
        job_type   text NOT NULL,
        rank       int NOT NULL,
        created_at timestamptz NOT NULL,
        id         uuid NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
    CREATE INDEX bench_line_order ON howdah.bench_line (job_type, rank, created_at, id);
END $$
