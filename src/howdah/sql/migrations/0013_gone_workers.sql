-- A worker that was silent, and whose jobs were rescued, may come back and claim before it beats again. As long as the rescue
-- removed its row, what it claimed then had no worker if it died at that moment, and counted as a plain caller's, which is left
-- alone for an hour. The row now stays for a long time (five hours at the default silence), so that whatever is claimed in its
-- name is rescued with its own silence.

CREATE OR REPLACE FUNCTION howdah.rescue_jobs() RETURNS TABLE (id uuid, status text, deaths int, worker_id text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_settings howdah.settings;
    v_silent record;
BEGIN
    -- Any worker's tick. The row of a silent worker is locked first and its silence checked again under the lock, so a
    -- heartbeat under way wins. After a restart of the server nobody could have beaten: their silence counts from then.
    -- A claim is a sign of life as well.
    SELECT * INTO STRICT v_settings FROM howdah.settings;
    FOR v_silent IN
        SELECT w.id, w.marks_starts, w.silence FROM howdah.workers AS w
        WHERE w.heartbeat_at < clock_timestamp() - w.silence AND pg_postmaster_start_time() < clock_timestamp() - w.silence
            AND EXISTS (SELECT FROM howdah.claims AS c WHERE c.worker_id = w.id AND c.claimed_at < clock_timestamp() - w.silence)
        ORDER BY w.id FOR UPDATE SKIP LOCKED
    LOOP
        RETURN QUERY
        SELECT s.id, s.status, s.deaths, v_silent.id
        FROM howdah.settle_stale(
            ARRAY(SELECT u.i FROM howdah.claims AS c CROSS JOIN unnest(c.job_ids) AS u (i)
                WHERE c.worker_id = v_silent.id AND c.claimed_at < clock_timestamp() - v_silent.silence),
            v_silent.id, format('worker %s died or lost its connection', v_silent.id), v_silent.marks_starts) AS s;
        DELETE FROM howdah.claims AS c WHERE c.worker_id = v_silent.id
            AND NOT EXISTS (SELECT FROM howdah.jobs AS j WHERE j.id = ANY (c.job_ids) AND coalesce(j.worker_id, '?') = v_silent.id
                AND j.status IN ('claimed', 'running'));
    END LOOP;
    DELETE FROM howdah.workers AS w WHERE w.id = ANY (ARRAY(
        SELECT k.id FROM howdah.workers AS k
        WHERE k.heartbeat_at < clock_timestamp() - 600 * least(k.silence, interval '1 day')
            AND NOT EXISTS (SELECT FROM howdah.claims AS c WHERE c.worker_id = k.id)
        ORDER BY k.id FOR UPDATE SKIP LOCKED));
    -- Claims by plain callers, who never send a heartbeat.
    FOR v_silent IN
        SELECT c.claim, c.worker_id AS id, c.job_ids, c.claimed_at FROM howdah.claims AS c
        WHERE c.claimed_at < now() - least(v_settings.plain_claim_timeout, interval '1 minute')
            AND NOT EXISTS (SELECT FROM howdah.workers AS w WHERE w.id = c.worker_id)
        ORDER BY c.claim LIMIT 1000 FOR UPDATE SKIP LOCKED
    LOOP
        RETURN QUERY
        SELECT s.id, s.status, s.deaths, v_silent.id
        FROM howdah.settle_stale(
            ARRAY(SELECT j.id FROM howdah.jobs AS j WHERE j.id = ANY (v_silent.job_ids)
                AND coalesce(j.claimed_at, v_silent.claimed_at) < now() - v_settings.plain_claim_timeout),
            v_silent.id, format('worker %s sent no heartbeat for %s', v_silent.id, v_settings.plain_claim_timeout), false) AS s;
    END LOOP;
    -- Callers in plain SQL do not close their claims: those of which nothing is held any more go here.
    DELETE FROM howdah.claims AS c
    WHERE c.claim = ANY (ARRAY(
            SELECT k.claim FROM howdah.claims AS k
            WHERE k.claimed_at < now() - least(v_settings.plain_claim_timeout, interval '1 minute')
            ORDER BY k.claim LIMIT 1000 FOR UPDATE SKIP LOCKED))
        AND NOT EXISTS (SELECT FROM howdah.jobs AS j WHERE j.id = ANY (c.job_ids) AND coalesce(j.worker_id, '?') = c.worker_id
            AND j.status IN ('claimed', 'running'));
END $$;
