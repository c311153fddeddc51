-- What the roles may do. Everything is taken away first and given anew, in one transaction, so running it again renews
-- it.
--
-- RULE: a function that a role may call, and a trigger, runs as the owner of the tables (SECURITY DEFINER) and finds
-- names in pg_catalog only: all others are written with their schema. pg_temp is named last because, unnamed, it would
-- be searched first. Functions that only other functions call need neither: nobody else may call them, and they inherit
-- both.
-- RULE: no role owns anything, none may create anything here, and none may write to a table but as listed.

-- Partitions are neither made nor dropped meanwhile.
SELECT pg_advisory_xact_lock(hashtext('howdah.partitions'), 'howdah.jobs'::regclass::oid::int),
    pg_advisory_xact_lock(hashtext('howdah.revival'), 'howdah.jobs'::regclass::oid::int);

REVOKE ALL ON SCHEMA howdah
    FROM PUBLIC, howdah_producer, howdah_worker, howdah_admin, howdah_reader, howdah_payload_reader;
REVOKE ALL ON ALL TABLES IN SCHEMA howdah
    FROM PUBLIC, howdah_producer, howdah_worker, howdah_admin, howdah_reader, howdah_payload_reader;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA howdah
    FROM PUBLIC, howdah_producer, howdah_worker, howdah_admin, howdah_reader, howdah_payload_reader;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA howdah
    FROM PUBLIC, howdah_producer, howdah_worker, howdah_admin, howdah_reader, howdah_payload_reader;

-- Triggers: whoever may write to the ledger, the lines follow.
ALTER FUNCTION howdah.jobs_inserted SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.jobs_updated SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.jobs_deleted SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.jobs_truncated SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.note_attempt SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- Producers and payload readers.
ALTER FUNCTION howdah.enqueue_job SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.get_job SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.get_status SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.list_events SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
-- In the caller's name: they read nothing that is not everybody's.
ALTER FUNCTION howdah.new_job_id SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.list_partitions SET search_path = pg_catalog, pg_temp;
-- What the aggregate sum_counts calls.
ALTER FUNCTION howdah.add_counts SET search_path = pg_catalog, pg_temp;

-- Admins.
ALTER FUNCTION howdah.cancel_job SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.retry_job SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.pause SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.resume SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.administer_jobs SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.set_pause SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.begin_operation SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.step_operation SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.cancel_operation SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.fail_operation SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- Workers: the batch functions of Howdah's own, the single ones for any language, and the chores.
ALTER FUNCTION howdah.claim_from_marks SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.claim_jobs SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.seconds_to_next_due SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.complete_jobs SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.finish_jobs SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.report_jobs SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.record_events SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.not_locked SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.reconcile_claims SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.register_worker SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.unregister_worker SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.heartbeat SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.claim_job_batch SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.start_job SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.report_progress SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.record_event SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.complete_job SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.fail_job SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.release_job SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.rescue_jobs SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.recover_stale_jobs SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.bury_worker SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.create_next_partition SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.drop_expired_partition SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.delete_expired_jobs SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.begin_sweep SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.sweep_lanes SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.sweep_late SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.record_stats SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.note_rescues SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.begin_sample SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.sample_queues SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.prune_stats SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
-- Workers tell it on their health port, and read no table.
ALTER FUNCTION howdah.queue_depths SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION howdah.sweep_audit SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- Everybody: the code asks for the version of the schema first.
GRANT USAGE ON SCHEMA howdah TO howdah_producer, howdah_worker, howdah_admin, howdah_reader, howdah_payload_reader;
GRANT SELECT ON howdah.migrations TO howdah_producer, howdah_worker, howdah_admin, howdah_reader, howdah_payload_reader;

-- The columns that the client fills: a job can be put in as pending, and as nothing else. Nothing can be read without
-- its id.
GRANT INSERT (id, job_type, data, priority, queue, run_at, max_attempts, trace) ON howdah.jobs TO howdah_producer;
GRANT EXECUTE ON FUNCTION howdah.new_job_id, howdah.enqueue_job, howdah.get_job, howdah.get_status, howdah.list_events,
    howdah.cancel_job TO howdah_producer;

GRANT SELECT (notify) ON howdah.settings TO howdah_worker;
GRANT EXECUTE ON FUNCTION howdah.claim_from_marks, howdah.claim_jobs, howdah.seconds_to_next_due, howdah.complete_jobs,
    howdah.finish_jobs, howdah.report_jobs, howdah.record_events, howdah.not_locked, howdah.reconcile_claims,
    howdah.register_worker, howdah.unregister_worker, howdah.heartbeat, howdah.claim_job_batch, howdah.start_job,
    howdah.report_progress, howdah.record_event, howdah.complete_job, howdah.fail_job, howdah.release_job,
    howdah.rescue_jobs, howdah.recover_stale_jobs, howdah.bury_worker, howdah.create_next_partition,
    howdah.drop_expired_partition, howdah.delete_expired_jobs, howdah.begin_sweep, howdah.sweep_lanes, howdah.sweep_late,
    howdah.sweep_audit, howdah.record_stats, howdah.note_rescues, howdah.begin_sample, howdah.sample_queues,
    howdah.prune_stats, howdah.queue_depths TO howdah_worker;

GRANT EXECUTE ON FUNCTION howdah.cancel_job, howdah.retry_job, howdah.pause, howdah.resume, howdah.administer_jobs,
    howdah.set_pause, howdah.begin_operation, howdah.step_operation, howdah.cancel_operation, howdah.fail_operation
    TO howdah_admin;
GRANT SELECT (id, job_type, queue, priority, status), UPDATE (priority) ON howdah.jobs TO howdah_admin;
GRANT UPDATE (retention, partition_width, partitions_ahead, plain_claim_timeout, max_deaths, notify, audit_retention)
    ON howdah.settings TO howdah_admin;
GRANT SELECT ON howdah.settings, howdah.lanes, howdah.workers, howdah.pauses, howdah.audit, howdah.operations
    TO howdah_admin;

-- Columns rather than a view: PostgreSQL itself then says no, wherever the question comes from.
GRANT SELECT (id, job_type, priority, status, progress, current_stage, events_count, worker_id, claimed_at, created_at,
    started_at, completed_at, attempts, max_attempts, queue, run_at, lease, errors, deaths, cancel_requested_at, trace)
    ON howdah.jobs TO howdah_reader;
GRANT SELECT (job_id, seq, at, attempt, name) ON howdah.job_events TO howdah_reader;
GRANT SELECT ON howdah.jobs, howdah.job_events TO howdah_payload_reader;
GRANT EXECUTE ON FUNCTION howdah.get_job, howdah.get_status, howdah.list_events TO howdah_payload_reader;
-- The doctor counts what lies in the default partition.
GRANT SELECT (id) ON howdah.jobs_default TO howdah_reader, howdah_payload_reader;
GRANT SELECT ON howdah.job_lines, howdah.ready, howdah.scheduled, howdah.lanes, howdah.late, howdah.claims,
    howdah.workers, howdah.pauses, howdah.settings, howdah.stats, howdah.audit, howdah.operations
    TO howdah_reader, howdah_payload_reader;
GRANT EXECUTE ON FUNCTION howdah.lane_of, howdah.list_partitions, howdah.queue_depths, howdah.sum_counts
    TO howdah_reader, howdah_payload_reader;
