-- Purpose: whether jobs made now, and one partition's width from now, have a dated partition to go to.
-- Locks: none. Index: none. Called by: admin/doctor/store.py
SELECT EXISTS (SELECT FROM howdah.list_partitions() AS p WHERE p.starts_at <= now() AND p.ends_at > now()),
    EXISTS (SELECT FROM howdah.list_partitions() AS p
        WHERE p.starts_at <= now() + s.partition_width AND p.ends_at > now() + s.partition_width),
    now() + s.partition_width,
    (SELECT max(p.ends_at) FROM howdah.list_partitions() AS p)
FROM howdah.settings AS s
