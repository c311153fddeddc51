"""`python -m torture [--tier NAME] [--seed N | --replay N] [--keep]`: run a tier and print the verdict."""

from __future__ import annotations

import argparse
import secrets
import sys

from torture.code import why_no_older
from torture.disk import may_mount
from torture.report import render
from torture.run import torture
from torture.schedule import digest, make_schedule
from torture.tiers import TIERS, Tier

_NOT_HERE = 77


def main() -> int:
    """0: everything held, and the run was hard enough. 1: not so. 77: this tier cannot be run here."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--tier", choices=TIERS, default="test")
    parser.add_argument("--seed", "--replay", type=int, help="repeat the schedule of that run (default: a new one)")
    parser.add_argument("--keep", action="store_true", help="leave ledgers and logs for a look, also if all is well")
    parser.add_argument("--schedule", action="store_true", help="only print the schedule")
    given = parser.parse_args()
    tier = TIERS[given.tier]
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    schedule = make_schedule(tier, seed)
    print(f"torture: tier {tier.name}, seed {seed}, schedule {digest(schedule)}: {len(schedule)} faults", flush=True)
    if given.schedule:
        print("\n".join(map(str, schedule)))
        return 0
    if (reason := cannot_run(tier)) is not None:
        print(f"torture: tier {tier.name} was not run: {reason}")
        return _NOT_HERE
    verdict = torture(tier, seed, schedule, keep=given.keep, say=lambda text: print(text, file=sys.stderr, flush=True))
    print(render(verdict))
    return 0 if verdict.held else 1


def cannot_run(tier: Tier) -> str | None:
    """What this machine lacks for it; None: nothing."""
    if tier.disk_megabytes and not may_mount():
        return "a small disk has to be mounted, which this account may not; run it as root"
    return why_no_older() if tier.quota.rolling_deploys else None


if __name__ == "__main__":
    sys.exit(main())
