-- The five group roles of one schema. Nobody logs in as them; whoever is to have their rights is made a member. They
-- are siblings: none is a member of another. Roles are shared by all databases of a server, so they may be there
-- already.
DO $$
BEGIN
    IF to_regrole('howdah_producer') IS NULL THEN
        CREATE ROLE howdah_producer NOLOGIN;
        COMMENT ON ROLE howdah_producer IS 'Howdah: enqueues jobs, and reads and cancels those whose ids it knows';
    END IF;
    IF to_regrole('howdah_worker') IS NULL THEN
        CREATE ROLE howdah_worker NOLOGIN;
        COMMENT ON ROLE howdah_worker IS 'Howdah: claims, runs and finishes jobs, and looks after the tables';
    END IF;
    IF to_regrole('howdah_admin') IS NULL THEN
        CREATE ROLE howdah_admin NOLOGIN;
        COMMENT ON ROLE howdah_admin IS 'Howdah: retries, cancels, reprioritises, pauses, and changes settings';
    END IF;
    IF to_regrole('howdah_reader') IS NULL THEN
        CREATE ROLE howdah_reader NOLOGIN;
        COMMENT ON ROLE howdah_reader IS 'Howdah: reads everything but what jobs carry, return, say and fail with';
    END IF;
    IF to_regrole('howdah_payload_reader') IS NULL THEN
        CREATE ROLE howdah_payload_reader NOLOGIN;
        COMMENT ON ROLE howdah_payload_reader IS 'Howdah: reads everything';
    END IF;
END $$;
