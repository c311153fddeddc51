"""Watching jobs: what is told, when, to how many, and after what losses."""
