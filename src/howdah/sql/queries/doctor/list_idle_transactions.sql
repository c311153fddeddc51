-- Purpose: sessions that opened a transaction and do nothing, longest first.
-- Locks: none. Index: none. Called by: admin/doctor/store.py
SELECT a.pid, concat_ws(', ', nullif(a.application_name, ''), a.usename), clock_timestamp() - a.state_change AS idle
FROM pg_stat_activity AS a
WHERE a.datname = current_database() AND starts_with(a.state, 'idle in transaction')
    AND clock_timestamp() - a.state_change > %(longer_than)s::interval
ORDER BY idle DESC
