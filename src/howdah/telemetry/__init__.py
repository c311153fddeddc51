"""What a process tells about itself: counters, traces, whose log line it is. Asks nobody: no database, no network."""
