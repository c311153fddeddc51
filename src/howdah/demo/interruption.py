"""Ctrl-C and its kin: leave once, tidily.

listening (the first signal raises SystemExit) → leaving (signals do nothing, so that nothing disturbs the clearing up).
There is no way back.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _State:
    # Plain, not an Event: a lock taken in a signal handler may be held by the very code that was interrupted.
    leaving = False


def leave_on_signals() -> None:
    """From now on the first signal raises SystemExit with the exit code that shells expect; later ones do nothing."""
    for number in SIGNALS:
        # Ignored from the start, as under nohup: then it stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def hold_signals() -> None:
    """Let them wait: something is being made that nobody would clear away yet."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def admit_signals() -> None:
    """Let those that wait come in, and all later ones."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def ignore_signals() -> None:
    """Let nothing interrupt the clearing up, which takes a second or two."""
    # The handler stays: to change it while signals arrive is a race that the interpreter complains about.
    _State.leaving = True


def _leave(number: int, _frame: FrameType | None) -> None:
    if not _State.leaving:
        _State.leaving = True
        sys.exit(128 + number)
