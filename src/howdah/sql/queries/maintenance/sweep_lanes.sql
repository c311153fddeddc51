-- Purpose: remove doubles from the list of lanes. Locks: those rows. Index: lanes_lane. Called by: maintenance/store.py
SELECT howdah.sweep_lanes()
