-- Purpose: hear the doctor's trial bell. Locks: none. Index: none. Called by: db/bell.py
LISTEN howdah_doctor
