"""The main program of a killable worker."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from datetime import timedelta

from howdah import WorkerSettings
from tests.rig.killable import app


async def main() -> None:
    settings = json.loads(os.environ["SETTINGS"])
    for name in ("silence", "poll", "grace"):
        if name in settings:
            settings[name] = timedelta(seconds=settings[name])
    worker = app.worker(WorkerSettings(**settings))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    await worker.run()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    asyncio.run(main())
