"""What a supervised worker and its supervisor say to each other, and the worker's end of it.

A pair of sockets for each worker; one line per message. The supervisor says `stop` and `now`; the worker says `ready`
with its id, `left` when it holds nothing more, and `health` with its port if it has one. The kernel says the rest: if
the supervisor goes, however it goes, its end closes, and the worker stops.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable

#: In a supervised worker's environment: the number of its descriptor and its own number.
MARK = "HOWDAH_SUPERVISED"
STOP, NOW, READY, LEFT, HEALTH = "stop", "now", "ready", "left", "health"


class Lines:
    """One end: sends whole lines, and reads what has come without ever waiting."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self._rest = b""
        end.setblocking(False)

    def send(self, line: str) -> None:
        """Say it; if nobody is left to hear it, that is noticed elsewhere."""
        with contextlib.suppress(OSError):
            self.end.send(f"{line}\n".encode())

    def take(self) -> list[str] | None:
        """The lines that have come; None when the other end has closed."""
        try:
            came = self.end.recv(4096)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not came:
            return None
        *lines, self._rest = (self._rest + came).split(b"\n")
        return [line.decode() for line in lines]


class Leash:
    """A supervised worker's end."""

    def __init__(self, end: socket.socket, number: int) -> None:
        self.number = number
        self._lines = Lines(end)

    @classmethod
    def of_this_process(cls) -> Leash | None:
        """The leash, if a supervisor holds one. Taken out of the environment: what a job starts is not on it."""
        words = os.environ.pop(MARK, "").split()
        if len(words) != 2:
            return None
        end = socket.socket(fileno=int(words[0]))
        end.set_inheritable(False)
        # To the whole group, these are for the supervisor. A handler, because what is ignored stays so in programs that
        # a job starts.
        for number in (signal.SIGHUP, signal.SIGTTIN, signal.SIGTTOU):
            signal.signal(number, lambda *_: None)
        return cls(end, int(words[1]))

    def follow(self, on_stop: Callable[[], None], on_now: Callable[[], None], on_gone: Callable[[], None]) -> None:
        """Have the supervisor's words, and its end, heard by the running loop."""
        loop = asyncio.get_running_loop()
        orders = {STOP: on_stop, NOW: on_now}

        def hear() -> None:
            lines = self._lines.take()
            if lines is None:
                loop.remove_reader(self._lines.end.fileno())
                on_gone()
            for line in lines or []:
                orders[line]()

        loop.add_reader(self._lines.end.fileno(), hear)

    def ready(self, worker_id: str) -> None:
        """Jobs can be claimed, under this id."""
        self._lines.send(f"{READY} {worker_id}")

    def listening(self, port: int) -> None:
        """Where it can be asked how it is."""
        self._lines.send(f"{HEALTH} {port}")

    def stopping(self) -> None:
        """Of no interest: the supervisor asked for it, or sees the end."""

    def stopped(self) -> None:
        """All that it held is finished or given back; a signal that ends the process now does no harm."""
        self._lines.send(LEFT)
