"""Concurrency tools that know neither jobs nor SQL."""
