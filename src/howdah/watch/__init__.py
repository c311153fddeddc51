"""Tells any number of watchers how jobs go, at the cost of one reader per app and process. Only ever reads; never
slows a worker, and a watcher that does not listen costs memory up to a limit and nothing else."""
