"""As much of PostgreSQL's protocol as the proxy must understand to drop the reply to a commit, and nothing else of it.

A client sends an untyped startup message and then typed ones; the server sends typed ones only. A typed message is one
byte of type, four of length (which counts itself), and the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

_STARTUP_HEAD = 8
_HEAD = 5
_IDLE = b"I"
_IN_TRANSACTION = b"T"


class Cutter:
    """Cuts a stream of bytes into messages, however it comes in pieces."""

    def __init__(self, *, startup: bool) -> None:
        self._rest = b""
        self._startup = startup

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """(type, body) of every message that is complete now; the startup message has the type b""."""
        self._rest += data
        while (message := self._next()) is not None:
            yield message

    def _next(self) -> tuple[bytes, bytes] | None:
        head = 4 if self._startup else _HEAD
        if len(self._rest) < head:
            return None
        length = int.from_bytes(self._rest[head - 4 : head], "big")
        end = head - 4 + length
        if len(self._rest) < end:
            return None
        kind, body = self._rest[: head - 4], self._rest[head:end]
        self._rest = self._rest[end:]
        self._startup = False
        return kind, body


class Conversation:
    """Which statement a connection is at, and when the server has committed it."""

    def __init__(self) -> None:
        self._from_client = Cutter(startup=True)
        self._from_server = Cutter(startup=False)
        self._texts: dict[bytes, str] = {}
        self._asked: list[str] = []
        self._failed = False

    def client_says(self, data: bytes) -> None:
        """Bytes on their way to the server."""
        for kind, body in self._from_client.feed(data):
            if kind == b"P":
                name, text = body.split(b"\0", 2)[:2]
                self._texts[name] = text.decode(errors="replace")
            elif kind == b"B":
                _portal, name = body.split(b"\0", 2)[:2]
                self._asked.append(self._texts.get(name, ""))
            elif kind == b"Q":
                self._asked.append(body.rstrip(b"\0").decode(errors="replace"))

    def server_says(self, data: bytes) -> list[str]:
        """Bytes on their way back; the statements that are now known to be committed, at the end of a cycle."""
        done: list[str] = []
        for kind, body in self._from_server.feed(data):
            if kind == b"E":
                self._failed = True
            elif kind == b"Z":
                if body == _IN_TRANSACTION and not self._failed:
                    continue  # committed with what is still to come, if at all
                if body == _IDLE and not self._failed:
                    done += self._asked
                self._asked = []
                self._failed = False
        return done
