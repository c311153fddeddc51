"""Tells others that the worker is ready: systemd over the socket that it names, anybody else by a file.

The file is there exactly while jobs can be claimed: one that a killed predecessor left is removed at the start, and it
goes when stopping begins, not when it is over.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from pathlib import Path

from howdah.model.errors import OptionError

logger = logging.getLogger("howdah.worker")


class Readiness:
    """Both ways; each is left out where nobody asked for it."""

    def __init__(self, file: Path | None, notify_socket: str | None) -> None:
        self._file = file
        self._notify_socket = notify_socket
        self._is_over = False

    @classmethod
    def of_this_process(cls, file: Path | None) -> Readiness:
        """With the socket that systemd names, taken out of the environment: it is not for what a job starts."""
        readiness = cls(file.absolute() if file is not None else None, os.environ.pop("NOTIFY_SOCKET", None))
        readiness.begin()
        return readiness

    def begin(self) -> None:
        """Not ready yet."""
        if self._file is None:
            return
        if not os.access(self._file.parent, os.W_OK | os.X_OK) or self._file.is_dir():
            raise OptionError(f"--ready-file: cannot make {self._file}")
        self._file.unlink(missing_ok=True)

    def ready(self, status: str) -> None:
        """Jobs can be claimed; said too late, it is not passed on."""
        if self._is_over:
            return
        if self._file is not None:
            # Renamed, so that who sees it sees it whole.
            fresh = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            try:
                fresh.write_text(f"{os.getpid()}\n")
                fresh.replace(self._file)
            except OSError as error:
                logger.warning("cannot write the ready file: %s", error)
        self._notify("READY=1", f"STATUS={status}")

    def reloading(self) -> None:
        """Workers are being replaced; `ready` ends it."""
        self._notify("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """No more jobs are claimed, for good."""
        if self._is_over:
            return
        self._is_over = True
        if self._file is not None:
            self._file.unlink(missing_ok=True)
        self._notify("STOPPING=1")

    def listening(self, port: int) -> None:
        """The health port is open."""
        logger.info("health port is open", extra={"port": port})

    def stopped(self) -> None:
        """Of no interest: whoever started this process sees its end."""

    def _notify(self, *lines: str) -> None:
        if not self._notify_socket:
            return
        # "@" stands for the zero byte of an abstract address.
        address = "\0" + self._notify_socket[1:] if self._notify_socket[0] == "@" else self._notify_socket
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.sendto("\n".join(lines).encode(), address)
        except OSError as error:
            logger.warning("cannot tell NOTIFY_SOCKET: %s", error)
