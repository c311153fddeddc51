"""`python -m torture [--tier NAME] [--seed N | --replay N] [--keep]`: run a tier and print the verdict."""

from __future__ import annotations

import argparse
import secrets
import sys

from torture.report import render
from torture.run import torture
from torture.schedule import digest, make_schedule
from torture.tiers import TIERS


def main() -> int:
    """0: everything held, and the run was hard enough. 1: not so."""
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
    verdict = torture(tier, seed, schedule, keep=given.keep, say=lambda text: print(text, file=sys.stderr, flush=True))
    print(render(verdict))
    return 0 if verdict.held else 1


if __name__ == "__main__":
    sys.exit(main())
