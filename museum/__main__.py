"""`python -m museum [NAME…] [--jobs N]`: plant each exhibit in a copy of the working tree, and see who notices."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from museum.exhibit import Exhibit, OutOfDate, all_exhibits
from museum.judge import Ended, is_of, judge, passed, skipped
from museum.page import PAGE, Shown, summary, write_page
from museum.trial import copies, run_tests

T = TypeVar("T")
R = TypeVar("R")


class Visit:
    """Exhibits shown in so many copies at once."""

    def __init__(self, rooms: Sequence[Path]) -> None:
        self._rooms = rooms
        self._free: SimpleQueue[Path] = SimpleQueue()
        for room in rooms:
            self._free.put(room)

    def each(self, do: Callable[[Path, T], R], many: Sequence[T]) -> list[R]:
        """Do it to each of them, as many at once as there are copies."""

        def in_a_room(one: T) -> R:
            room = self._free.get()
            try:
                return do(room, one)
            finally:
                self._free.put(room)

        with ThreadPoolExecutor(len(self._rooms)) as pool:
            return list(pool.map(in_a_room, many))


def show(room: Path, exhibit: Exhibit, needs: dict[str, str]) -> Shown:
    """Plant it, run its tests, and judge."""
    unable = [reason for test, reason in needs.items() if is_of(test, exhibit.tests)]
    if len(unable) >= len(exhibit.tests):
        shown = Shown(exhibit, None, needs=unable[0])
    else:
        began = time.monotonic()
        with exhibit.plant(room):
            ended = run_tests(room, exhibit.tests, "-x")
        shown = Shown(exhibit, judge(ended, exhibit.tests, waits=exhibit.waits), time.monotonic() - began)
    print(shown.line, flush=True)
    return shown


def sound(visit: Visit, groups: Sequence[tuple[str, ...]]) -> dict[str, str] | None:
    """What this machine cannot run, and why; None when a test fails on the sound copy, and so could catch nothing."""
    runs = visit.each(run_tests, groups)
    bad = [ended for tests, ended in zip(groups, runs, strict=True) if not _is_sound(tests, ended)]
    for ended in bad:
        print(ended.output)
    return None if bad else {test: why for ended in runs for test, why in skipped(ended).items()}


def _is_sound(tests: Sequence[str], ended: Ended) -> bool:
    came = passed(ended) | set(skipped(ended))
    return ended.code == 0 and all(any(is_of(one, [name]) for one in came) for name in tests)


def grouped(exhibits: Sequence[Exhibit], *, together: int | None) -> list[tuple[str, ...]]:
    """The tests to run on the sound copy: each exhibit's by themselves, as they will be run once it is planted, because
    what passes only after others have run proves nothing; or all of them in so many processes, which is quicker."""
    groups = list(dict.fromkeys(exhibit.tests for exhibit in exhibits))
    if together is None:
        return groups
    every = list(dict.fromkeys(test for group in groups for test in group))
    return [part for number in range(together) if (part := tuple(every[number::together]))]


def chosen(names: Sequence[str]) -> list[Exhibit]:
    """The exhibits of those names, or all; those first that take longest."""
    every = {exhibit.name: exhibit for exhibit in all_exhibits()}
    if unknown := set(names) - set(every):
        raise SystemExit(f"the museum has no {', '.join(sorted(unknown))}; it has: {', '.join(every)}")
    return sorted((every[name] for name in names or every), key=lambda exhibit: not exhibit.waits)


def main() -> int:
    """0: every exhibit was caught. 1: not so."""
    parser = argparse.ArgumentParser(prog="python -m museum", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these exhibits (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once, each in a copy of its own (default: 2)")
    parser.add_argument(
        "--together",
        action="store_true",
        help="try the sound copy with all tests in one process for each copy (quicker)",
    )
    parser.add_argument("--write-page", action="store_true", help=f"only write {PAGE.name} from the exhibits")
    given = parser.parse_args()
    exhibits = chosen(given.names)
    if given.write_page:
        PAGE.write_text(write_page(all_exhibits()))
        return 0
    began = time.monotonic()
    with copies(given.jobs) as rooms:
        try:
            for exhibit in exhibits:
                exhibit.planted(rooms[0])
        except OutOfDate as error:
            print(f"{exhibit.name} is out of date: {error}")
            return 1
        visit = Visit(rooms)
        needs = sound(visit, grouped(exhibits, together=given.jobs if given.together else None))
        if needs is None:
            print("a test fails without any bug planted: nothing can be shown")
            return 1
        print(f"sound: every test passes without a bug ({time.monotonic() - began:.0f} s)", flush=True)
        shown = visit.each(lambda room, exhibit: show(room, exhibit, needs), exhibits)
    print(f"{summary(shown)} in {time.monotonic() - began:.0f} s")
    return 0 if all(one.verdict is None or one.verdict.caught for one in shown) else 1


if __name__ == "__main__":
    sys.exit(main())
