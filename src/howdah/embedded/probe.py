"""Is a PostgreSQL server answering on this socket? Asked by connecting, the only proof there is."""

from __future__ import annotations

import contextlib
import enum
import socket
import struct
from pathlib import Path

PROTOCOL_3_0 = 196608
# What a server says while it starts, recovers or shuts down (cannot_connect_now).
NOT_NOW = b"57P03"
READY_FOR_QUERY = b"Z\0\0\0\5"
TERMINATE = b"X\0\0\0\4"


class Answer(enum.StrEnum):
    READY = "ready"
    NOT_YET = "not yet"
    SILENT = "silent"


def ask(socket_path: Path, *, user: str, database: str, timeout: float = 5.0) -> Answer:
    """Open a session and leave it; any refusal other than "not now" also shows a server at work."""
    body = struct.pack("!i", PROTOCOL_3_0)
    for word in ("user", user, "database", database, "application_name", "howdah probe"):
        body += word.encode() + b"\0"
    body += b"\0"
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(str(socket_path))
        connection.sendall(struct.pack("!i", len(body) + 4) + body)
        answer = b""
        while chunk := connection.recv(4096):
            answer += chunk
            if answer.startswith(b"E"):
                return Answer.NOT_YET if b"\0C" + NOT_NOW in answer else Answer.READY
            if READY_FOR_QUERY in answer:
                connection.sendall(TERMINATE)
                return Answer.READY
    return Answer.SILENT
