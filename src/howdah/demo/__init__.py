"""The show of `howdah demo`: real workers, a real server, a dozen real jobs, in a folder that is removed afterwards.

Promises that every outcome it reports was read from the database, and that no process outlives it, however it ends.
Never touches the caller's own database or folder."""
