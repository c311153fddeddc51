-- Purpose: ring the doctor's trial bell. Locks: none. Index: none. Called by: db/bell.py
SELECT pg_notify('howdah_doctor', %(token)s::text)
