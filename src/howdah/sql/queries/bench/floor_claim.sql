-- Purpose: the barest claim: the next jobs in strict order, out of the line and claimed in the ledger. Ids and data come as
-- one text each, so that the loop around it does nothing per job.
-- Locks: the rows it takes, skipping those that others hold. Index: bench_line_order, bench_ledger_pkey.
-- Called by: bench/store.py
WITH next AS MATERIALIZED (
    SELECT l.ctid AS place FROM howdah.bench_line AS l
    WHERE l.job_type = 'noop' ORDER BY l.rank, l.created_at, l.id LIMIT %(batch)s::int
    FOR UPDATE SKIP LOCKED
), taken AS (
    DELETE FROM howdah.bench_line WHERE ctid = ANY (ARRAY(SELECT place FROM next)) RETURNING id
), claimed AS (
    UPDATE howdah.bench_ledger
    SET status = 'claimed', worker_id = 'floor', attempts = attempts + 1, claimed_at = clock_timestamp(), lease = lease + 1
    WHERE id = ANY (ARRAY(SELECT id FROM taken)) AND status = 'pending'
    RETURNING id, data
)
SELECT count(*), array_agg(id)::text, string_agg(data::text, E'\n') FROM claimed
