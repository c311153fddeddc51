"""What `howdah bench` measures: real workers and producers on the caller's server, beside the barest SQL loop.

Promises that it works in a schema of its own, which it made and removes; that no process outlives it; that a figure is
measured or said not to be; and that every run is checked for jobs that ran twice or not at all. Never touches a table
that it did not make."""
