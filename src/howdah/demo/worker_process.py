"""One worker of the demo: `python -m howdah.demo.worker_process NAME QUEUE…`, each queue `name` or `name=concurrency`.

As `howdah worker howdah.demo.jobs:app` would run it, except that it does not outlive the demo: its standard input is a
pipe that nobody writes to, and that closes when the demo is gone, even killed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from datetime import timedelta

from howdah import WorkerSettings
from howdah.demo.jobs import app

#: Short, so that a rescue is worth watching; the default is 30 s.
SILENCE = timedelta(seconds=2)
CONCURRENCY = 3


def main(name: str, queues: list[str]) -> None:
    """Work until told to stop."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    threading.Thread(target=_leave_with_the_demo, daemon=True).start()
    served: dict[str, int | None] = {}
    for queue in queues:
        queue_name, _, own = queue.partition("=")
        served[queue_name] = int(own) if own else None
    settings = WorkerSettings(
        concurrency=CONCURRENCY, queues=served, silence=SILENCE, grace=timedelta(seconds=3), name=name
    )
    asyncio.run(_work(settings))


async def _work(settings: WorkerSettings) -> None:
    worker = app.worker(settings)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    await worker.run()


def _leave_with_the_demo() -> None:
    # os.read, not sys.stdin: a thread inside a buffered read would trouble the interpreter's own exit.
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
