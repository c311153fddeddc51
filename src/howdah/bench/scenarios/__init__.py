"""The scenarios, one per file: each a function from a stage to an outcome."""
