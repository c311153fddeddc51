-- Purpose: the partition that was current so many widths ago, if it is not there: a queue as old as its backlog has it.
-- Locks: howdah.jobs and its default partition, for a moment. Index: none. Called by: bench/store.py
SELECT howdah.create_partition(p.starts_at, p.starts_at + s.partition_width)
FROM howdah.settings AS s
CROSS JOIN LATERAL (
    SELECT howdah.partition_start(now(), s.partition_width) - %(ago)s::int * s.partition_width AS starts_at) AS p
WHERE NOT EXISTS (SELECT FROM howdah.list_partitions() AS k WHERE k.starts_at = p.starts_at)
