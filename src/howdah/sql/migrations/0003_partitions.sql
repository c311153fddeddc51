-- Partitions by time of the id: made ahead, dropped whole when everything in them is past its retention.

CREATE FUNCTION howdah.partition_start(p_at timestamptz, p_width interval) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT date_bin(p_width, p_at, timestamptz '2024-01-01 00:00:00+00')
$$;

CREATE FUNCTION howdah.list_partitions()
RETURNS TABLE (suffix text, starts_at timestamptz, ends_at timestamptz)
LANGUAGE sql STABLE AS $$
    -- The name carries the bounds in epoch seconds, so that nothing has to parse partition expressions.
    SELECT s.suffix, to_timestamp(split_part(s.suffix, '_', 1)::bigint), to_timestamp(split_part(s.suffix, '_', 2)::bigint)
    FROM (SELECT substr(c.relname, length('jobs_') + 1) AS suffix
          FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
          WHERE i.inhparent = 'howdah.jobs'::regclass AND c.relname ~ '^jobs_[0-9]+_[0-9]+$') AS s
    ORDER BY 2
$$;

CREATE FUNCTION howdah.create_partition(p_starts_at timestamptz, p_ends_at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_suffix text := extract(epoch FROM p_starts_at)::bigint || '_' || extract(epoch FROM p_ends_at)::bigint;
    v_from uuid := howdah.job_id_at(p_starts_at);
    v_to uuid := howdah.job_id_at(p_ends_at);
BEGIN
    EXECUTE format('CREATE TABLE howdah.%I (LIKE howdah.jobs INCLUDING DEFAULTS INCLUDING CONSTRAINTS) WITH (fillfactor = 40, '
        || 'autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2)', 'jobs_' || v_suffix);
    EXECUTE format('CREATE TABLE howdah.%I (LIKE howdah.job_events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', 'job_events_' || v_suffix);
    -- A queue left without maintenance has put rows of this range into the default partition; they move. The statements
    -- name the partition, not howdah.jobs, so no statement trigger fires and the lines stay as they are.
    EXECUTE format('WITH moved AS (DELETE FROM howdah.jobs_default WHERE id >= $1 AND id < $2 RETURNING *) '
        || 'INSERT INTO howdah.%I SELECT * FROM moved', 'jobs_' || v_suffix) USING v_from, v_to;
    EXECUTE format('WITH moved AS (DELETE FROM howdah.job_events_default WHERE job_id >= $1 AND job_id < $2 RETURNING *) '
        || 'INSERT INTO howdah.%I SELECT * FROM moved', 'job_events_' || v_suffix) USING v_from, v_to;
    EXECUTE format('ALTER TABLE howdah.jobs ATTACH PARTITION howdah.%I FOR VALUES FROM (%L) TO (%L)', 'jobs_' || v_suffix, v_from, v_to);
    EXECUTE format('ALTER TABLE howdah.job_events ATTACH PARTITION howdah.%I FOR VALUES FROM (%L) TO (%L)', 'job_events_' || v_suffix, v_from, v_to);
END $$;

CREATE FUNCTION howdah.create_next_partition() RETURNS boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '250ms' AS $$
DECLARE
    v_settings howdah.settings;
    v_starts_at timestamptz;
    v_ends_at timestamptz;
BEGIN
    -- One partition a call, in a transaction of its own, so that locks are short. False: nothing is missing.
    SELECT * INTO STRICT v_settings FROM howdah.settings;
    IF NOT pg_try_advisory_xact_lock(hashtext('howdah.partitions'), 'howdah.jobs'::regclass::oid::int) THEN
        RETURN false;
    END IF;
    FOR n IN 0 .. v_settings.partitions_ahead LOOP
        v_starts_at := howdah.partition_start(now(), v_settings.partition_width) + n * v_settings.partition_width;
        v_ends_at := v_starts_at + v_settings.partition_width;
        -- After a change of the width a range may be covered in part: then begin where the cover ends.
        SELECT coalesce(max(p.ends_at), v_starts_at) INTO v_starts_at
        FROM howdah.list_partitions() AS p WHERE p.starts_at < v_ends_at AND p.ends_at > v_starts_at;
        IF v_starts_at < v_ends_at THEN
            LOCK TABLE howdah.jobs_default, howdah.job_events_default IN ACCESS EXCLUSIVE MODE;
            PERFORM howdah.create_partition(v_starts_at, v_ends_at);
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;

CREATE FUNCTION howdah.is_past_retention(p_job howdah.jobs, p_retention interval) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p_job.status IN ('completed', 'failed', 'cancelled')
        AND coalesce(p_job.completed_at, p_job.created_at) < now() - p_retention
$$;

CREATE FUNCTION howdah.drop_expired_partition() RETURNS text
LANGUAGE plpgsql VOLATILE SET lock_timeout = '250ms' AS $$
DECLARE
    v_retention interval := (SELECT retention FROM howdah.settings);
    v_suffix text;
    v_survivor boolean;
BEGIN
    -- Drops at most one partition whose every job is finished and past its retention, and returns its name; null: none.
    -- Held until commit: while we look and drop, no old job may come back to life (guard_revival).
    IF NOT pg_try_advisory_xact_lock(hashtext('howdah.revival'), 'howdah.jobs'::regclass::oid::int) THEN
        RETURN NULL;
    END IF;
    FOR v_suffix IN SELECT p.suffix FROM howdah.list_partitions() AS p WHERE p.ends_at < now() - v_retention LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM howdah.%I AS j WHERE NOT howdah.is_past_retention(j::howdah.jobs, $1))', 'jobs_' || v_suffix)
            INTO v_survivor USING v_retention;
        IF NOT v_survivor THEN
            EXECUTE format('DROP TABLE howdah.%I', 'jobs_' || v_suffix);
            EXECUTE format('DROP TABLE howdah.%I', 'job_events_' || v_suffix);
            RETURN 'jobs_' || v_suffix;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE FUNCTION howdah.begin_sweep(p_every interval) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    -- True for the one caller whose turn it is: looking for expired jobs reads old partitions from end to end.
    WITH turn AS (
        UPDATE howdah.settings SET swept_at = clock_timestamp()
        WHERE only_row AND swept_at < clock_timestamp() - p_every RETURNING 1)
    SELECT EXISTS (SELECT FROM turn)
$$;

CREATE FUNCTION howdah.delete_expired_jobs(p_limit int) RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_retention interval := (SELECT retention FROM howdah.settings);
    v_table text;
    v_now int;
    v_deleted int := 0;
BEGIN
    -- Finished jobs that share a partition with an old unfinished one, and those of the default partition: row by row.
    FOR v_table IN
        SELECT 'jobs_' || p.suffix FROM howdah.list_partitions() AS p WHERE p.ends_at < now() - v_retention
        UNION ALL SELECT 'jobs_default'
    LOOP
        EXECUTE format('DELETE FROM howdah.jobs WHERE id = ANY (ARRAY(SELECT j.id FROM howdah.%I AS j '
            || 'WHERE howdah.is_past_retention(j::howdah.jobs, $1) LIMIT $2 FOR UPDATE SKIP LOCKED))', v_table)
            USING v_retention, p_limit - v_deleted;
        GET DIAGNOSTICS v_now = ROW_COUNT;
        v_deleted := v_deleted + v_now;
        EXIT WHEN v_deleted >= p_limit;
    END LOOP;
    RETURN v_deleted;
END $$;

SELECT howdah.create_next_partition() FROM generate_series(1, 3);
