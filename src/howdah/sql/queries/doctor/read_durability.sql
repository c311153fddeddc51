-- Purpose: what a crash may cost, with the settings that this URL's sessions get.
-- Locks: none. Index: none. Called by: admin/doctor/store.py
SELECT current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean, current_setting('synchronous_commit')
