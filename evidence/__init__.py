"""Figures that take minutes to get; not part of the test run."""
