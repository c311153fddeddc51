"""Which fault when: a pure function of the tier and the seed, so that a run can be repeated from its seed alone.

What it hits is a number between 0 and 1: the nemesis turns it into a worker or a backend that is there at that moment.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from torture.tiers import SILENCE_SECONDS, Tier


class Fault(StrEnum):
    """What can be done to the system."""

    KILL = "kill"
    STOP = "stop"
    TERM = "term"
    CRASH = "crash"
    CUT = "cut"
    RESET = "reset"
    BLACK_HOLE = "black_hole"
    HALF_OPEN = "half_open"
    SLOW = "slow"
    THROTTLE = "throttle"
    DROP_COMMIT = "drop_commit"
    TERMINATE = "terminate"
    POOLER = "pooler"
    FAILOVER = "failover"
    DEPLOY = "deploy"
    FULL_DISK = "full_disk"


NETWORK = (Fault.CUT, Fault.RESET, Fault.BLACK_HOLE, Fault.HALF_OPEN, Fault.SLOW, Fault.THROTTLE)
#: Some faults meet nobody (a worker that is just starting): so many more are planned than the quota asks for.
_SPARE = 1.3
#: The system is up for this long before the first fault.
_CALM_SECONDS = 2.0
#: A crash of the server hides all other faults for a while, so crashes keep their distance.
_BETWEEN_CRASHES = 6.0


@dataclass(frozen=True, slots=True, order=True)
class Planned:
    """One fault: seconds after the start, what, on whom (0 to 1), for how long, and a number for what else is open."""

    at: float
    fault: Fault
    victim: float
    seconds: float
    choice: float

    def __str__(self) -> str:
        where = f"victim {self.victim:.3f}, choice {self.choice:.3f}"
        return f"{self.at:9.3f} {self.fault:<11} {where}, for {self.seconds:.2f} s"


def make_schedule(tier: Tier, seed: int) -> list[Planned]:
    """All faults of a run, in order of time."""
    dice = random.Random(f"{tier.name} {seed}")  # noqa: S311 - it must be repeatable, not secret
    return sorted(_plan(tier, dice))


def digest(schedule: Iterable[Planned]) -> str:
    """The same for the same schedule."""
    return hashlib.sha256("\n".join(map(str, schedule)).encode()).hexdigest()[:16]


def _plan(tier: Tier, dice: random.Random) -> Iterator[Planned]:
    quota = tier.quota
    wanted = {
        Fault.KILL: quota.kills_inside_a_handler,
        Fault.STOP: quota.stops_past_the_lease,
        Fault.TERM: max(1, quota.stops_past_the_lease // 2),
        Fault.POOLER: quota.server_crashes,
        Fault.DROP_COMMIT: quota.commit_replies_dropped,
        Fault.TERMINATE: quota.backends_terminated,
    }
    for fault, count in wanted.items():
        # A reply that is to be dropped waits for a statement of the right kind, which may not come.
        for _ in range(_spared(count * 2 if fault is Fault.DROP_COMMIT else count)):
            yield _one(tier, dice, fault)
    for number in range(_spared(quota.network_faults)):
        # Each in turn, so that a small tier has all of them as well.
        yield _one(tier, dice, NETWORK[number % len(NETWORK)])
    yield from _apart(tier, dice, Fault.CRASH, quota.server_crashes)
    yield from _apart(tier, dice, Fault.FAILOVER, quota.failovers)
    yield from _apart(tier, dice, Fault.DEPLOY, quota.rolling_deploys)
    # One to spare: a disk may be full at a moment in which nobody writes.
    yield from _apart(tier, dice, Fault.FULL_DISK, quota.full_disks + 1 if quota.full_disks else 0)


def _one(tier: Tier, dice: random.Random, fault: Fault) -> Planned:
    at = dice.uniform(_CALM_SECONDS, tier.seconds)
    return Planned(at, fault, dice.random(), _duration(fault, dice), dice.random())


def _duration(fault: Fault, dice: random.Random) -> float:
    if fault is Fault.STOP:
        return SILENCE_SECONDS + dice.uniform(1.0, 3.0)
    if fault in (Fault.BLACK_HOLE, Fault.HALF_OPEN):
        # Some end before the worker counts as dead, and some after.
        return dice.uniform(0.5, 2 * SILENCE_SECONDS)
    if fault in (Fault.SLOW, Fault.THROTTLE, Fault.FULL_DISK):
        return dice.uniform(0.5, 3.0)
    if fault is Fault.DEPLOY:
        # How long the release before works again on the new schema.
        return dice.uniform(2.0, 5.0)
    return 0.0


def _apart(tier: Tier, dice: random.Random, fault: Fault, count: int) -> Iterator[Planned]:
    """What concerns everybody, each in its own share of the time."""
    room = (tier.seconds - _CALM_SECONDS) / max(1, count)
    for number in range(count):
        spare = max(0.0, room - _BETWEEN_CRASHES)
        at = _CALM_SECONDS + number * room + dice.uniform(0.0, spare)
        yield Planned(at, fault, dice.random(), _duration(fault, dice), dice.random())


def _spared(count: int) -> int:
    return max(count + 2, round(count * _SPARE))
