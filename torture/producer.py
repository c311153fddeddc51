"""A producer: `python -m torture.producer NAME SEED JOBS POISONS SECONDS ALONE_JOBS ALONE_SECONDS` enqueues so many,
spread over that time; the first so many over the first part of it, if others join it then.

It writes into its ledger what it is about to offer, and what came of it: `ok`, or `unknown` when the call raised, in
which case the jobs are there or are not, all of one call or none.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howdah import HowdahError, Priority
from torture.jobs import FOLDER_VARIABLE, MIX, app, poison
from torture.ledger import Pen

#: Tokens of one producer begin at its number times this.
ROOM = 100_000_000
_PRIORITIES = (Priority.BACKFILL, Priority.DISCOVERED, Priority.EXPLICIT)
_MOST_AT_ONCE = 250
_PAUSE = 0.05


@dataclass(frozen=True)
class Pace:
    """When to offer: so many in so many seconds, the first of them in a time of their own."""

    jobs: int
    seconds: float
    alone_jobs: int = 0
    alone_seconds: float = 0.0

    def due(self, offered: int) -> float:
        """Seconds after the begin at which the next is offered."""
        if offered < self.alone_jobs:
            return self.alone_seconds * offered / self.alone_jobs
        later = (offered - self.alone_jobs) / max(1, self.jobs - self.alone_jobs)
        return self.alone_seconds + (self.seconds - self.alone_seconds) * later


def main(name: str, seed: str, jobs: int, poisons: int, pace: Pace) -> None:
    """Until all are offered."""
    pen = Pen(Path(os.environ[FOLDER_VARIABLE]) / f"{name}.ledger")
    dice = random.Random(f"{name} {seed}")  # noqa: S311 - it must be repeatable, not secret
    begin = time.monotonic()
    offered = 0
    for definition, arguments, priority in _calls(name, dice, jobs, poisons):
        time.sleep(max(0.0, begin + pace.due(offered) - time.monotonic()))
        tokens = [one["token"] for one in arguments]
        pen.write("offer", tokens, definition.name, int(priority))
        try:
            chosen = definition.using(priority=priority)
            if len(arguments) == 1:
                chosen.enqueue(**arguments[0])
            else:
                chosen.enqueue_many(arguments)
        except HowdahError as error:
            pen.write("unknown", tokens, type(error).__name__)
            time.sleep(_PAUSE)
        else:
            pen.write("ok", tokens)
        offered += len(arguments)
    app.close()
    pen.write("finished")


def _calls(
    name: str, dice: random.Random, jobs: int, poisons: int
) -> Iterator[tuple[Any, list[dict[str, Any]], Priority]]:
    kinds, shares = [kind for kind, _, _ in MIX], [share for _, share, _ in MIX]
    longest = {kind.name: most for kind, _, most in MIX}
    token = ROOM * int(name.rsplit("-", 1)[1])
    left = jobs
    poison_at = sorted(dice.sample(range(jobs), poisons))
    while left:
        count = min(left, 1 if dice.random() < 0.6 else dice.randint(2, _MOST_AT_ONCE))
        kind = dice.choices(kinds, shares)[0]
        arguments = [
            {"token": token + n, "seconds": round(dice.uniform(0, longest[kind.name]), 3)} for n in range(1, count + 1)
        ]
        token += count
        left -= count
        yield kind, arguments, dice.choice(_PRIORITIES)
        while poison_at and poison_at[0] <= jobs - left:
            poison_at.pop(0)
            token += 1
            yield poison, [{"token": token, "seconds": 0.0}], dice.choice(_PRIORITIES)


if __name__ == "__main__":
    name, seed, jobs, poisons, seconds, alone_jobs, alone_seconds = sys.argv[1:]
    pace = Pace(int(jobs) + int(poisons), float(seconds), int(alone_jobs), float(alone_seconds))
    main(name, seed, int(jobs), int(poisons), pace)
