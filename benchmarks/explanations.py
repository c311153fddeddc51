"""What the report says in words, whatever the figures are: definitions, and what a reader must not conclude."""

from __future__ import annotations

DEFINITIONS = {
    "drain": """Jobs wait in the queue, then the worker starts. The rate is the number of jobs divided by the time from
the first handler run to the last job that the store regards as finished; start-up is not in it. Every run checks that
each job ran exactly once. Slow systems get fewer jobs (listed under [settings](#settings)), so that a run ends within
about fifteen seconds.""",
    "sustained": """A producer enqueues in bulk as fast as the system permits while the worker runs, and pauses when
more than 20,000 jobs wait. The rate counts handler runs, less the share that the store had not yet seen
finished at the end; the first {warm:.0f} of {sustained:.0f} seconds are left out. Every run checks that no
job ran twice.""",
    "pinned": """The same for {pinned:.0f} seconds while another session holds a `REPEATABLE READ READ ONLY` snapshot
that was taken before the start, as a long report or a dump does. PostgreSQL may not remove any row that died since, and
a queue that looks for work from the head of an index walks over all of them. The last quarter of the run divided by the
first tells how a system would fare in an hour. It means nothing to Redis. It runs in every second round.""",
    "latency": """100 jobs a second for {latency:.0f} seconds, one at a time through the ordinary single enqueue: from
just before the enqueue call to the handler's first line, on one clock. The commit of the enqueue is part of it.""",
    "enqueue": """No worker runs. One job per call, each call after the other, in one process on one connection: as
durable as the store makes it. Then the system's bulk API. Batch sizes were not tuned;
they are listed under [settings](#settings).""",
}

NOT_COMPARABLE = """Every system was configured for speed, through its public API, and each does something else for its
figure. Before you conclude anything, know that:

* **Who keeps finished jobs.** Howdah, Oban, Procrastinate and Chancy keep the row of every finished job;
  graphile-worker and PgQueuer delete it (PgQueuer writes log entries instead), awa-pg keeps compact receipts, Celery
  and Dramatiq keep nothing as configured here. Deleting is cheaper in the short run; keeping is what answers "what
  became of my job?".
* **Who waits for the disk.** On PostgreSQL every enqueue and every completion is on disk before it counts (`fsync` and
  `synchronous_commit` are on). Redis runs with its defaults: it answers from memory and writes a snapshot now and then,
  so a crash loses what was accepted since. That is in favour of Celery and Dramatiq, in `enqueue` most of all.
* **When a job counts as acknowledged.** Celery, by default, acknowledges before the handler runs: a killed worker loses
  the job. Chancy writes completions in batches some time after the handler's end. The others acknowledge after the end.
* **What a handler is.** Handlers do nothing. `async def` runs on the worker's event loop; Dramatiq runs `def` in
  threads, Celery in the worker's only thread (its pool `solo`, ahead of `prefork` in a few trials with no-ops; real
  jobs would want `prefork`).
* **How many processes.** One worker process each, except Dramatiq (two processes of eight threads). On a
  machine with more cores, all of them would use more.
* **Languages.** graphile-worker runs on Node; awa-pg's engine is Rust and calls into Python for each job. All Python
  systems share one interpreter; those on asyncio use uvloop.
* **What order is promised.** Howdah claims in strict priority order; with a local queue of 2,000, graphile-worker sees
  a new urgent job only after those it has fetched. Not measured here.
* **Bulk enqueue.** Celery and Dramatiq have no bulk API; theirs is the single call in a loop.
* **Two cores.** Producer, worker and server share the machine. A figure here is about cost per job, not about what the
  system reaches with a server of its own.
* **Tuning.** Uneven, and on `drain` only. graphile-worker, PgQueuer, Oban, Chancy, awa-pg and Celery: two to four
  variations of one or two settings, one or two short runs each, on a machine that was busy with other work.
  Procrastinate and Dramatiq: settings of an earlier measurement, none varied here. Howdah: its settings were given,
  none varied here. Bulk sizes, pool sizes and the settings for `latency` were not tuned for anyone. Authors may know
  better ones; each system is in one file of `benchmarks/peers`, and corrections are welcome.
* **What sustained counts.** The rate is scaled by the share that the store had seen finished at the end; the plot per
  second and the last-by-first quotient count handler runs. For Chancy, whose completions lag, the two differ widely."""

REPRODUCE = """```console
$ make bench-peers    # installs all it needs, runs everything, writes this page; about {minutes:.0f} minutes
$ make bench-peers ROUNDS=1 BENCH_ARGS="--systems howdah,pgqueuer --scenarios drain --jobs 20000"
$ benchmarks/.venv/bin/python -m benchmarks --run ID     # continue a run that was interrupted
$ benchmarks/.venv/bin/python -m benchmarks.report       # this page again, from the results
```"""
