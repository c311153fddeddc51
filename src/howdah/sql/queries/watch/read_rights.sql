-- Purpose: what this role may read of jobs that it watches: their lines, their events, and what the events carry.
-- Locks: none. Index: none. Called by: watch/store.py
SELECT has_table_privilege('howdah.job_lines', 'SELECT'),
    has_any_column_privilege('howdah.job_events', 'SELECT'),
    has_column_privilege('howdah.job_events', 'data', 'SELECT')
