"""What the `dramatiq` command imports: a broker and one actor, told where by the environment."""

from __future__ import annotations

import os
from pathlib import Path

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from benchmarks.tally import open_forking_tally

broker = RedisBroker(url=os.environ["BENCHMARKS_REDIS"])
dramatiq.set_broker(broker)
_record = open_forking_tally(Path(os.environ["BENCHMARKS_FOLDER"]))


@dramatiq.actor(queue_name="default")
def noop(n: int) -> None:
    _record(n)
