"""Chores that any worker may do and that need no leader: rescue, partitions, retention."""
