"""The network: `python -m torture.proxy CONTROL PORT=SOCKET…` forwards every port to its server's socket, and does to
them what it is told over its control socket.

Every worker and producer has a port of its own. Faults: cut (all its connections close), reset (the same without a
good-bye), black_hole (nothing goes through either way, and nobody is told), half_open (requests arrive, replies do
not), slow (every piece is late), throttle (few bytes a second), drop_commit (the reply to the next commit of a
statement with that word is swallowed, and the connection reset: the client cannot know).
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
from dataclasses import dataclass, field
from typing import Any

from torture.wire import Conversation

_PIECE = 65536
_SLOW_SECONDS = 0.05
_THROTTLED_BYTES = 512
_THROTTLED_SECONDS = 0.02
#: SO_LINGER of zero seconds: close sends RST.
_NO_GOODBYE = struct.pack("ii", 1, 0)


@dataclass
class Line:
    """One port and what is wrong with it."""

    port: int
    target: str
    fault: str = ""
    #: Words of statements whose next committed reply is to be dropped.
    armed: list[str] = field(default_factory=list)
    dropped: int = 0
    connections: set[Connection] = field(default_factory=set)

    async def serve(self) -> asyncio.Server:
        """Listen."""

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await Connection(self, reader, writer).run()

        return await asyncio.start_server(accept, "127.0.0.1", self.port)

    def close_all(self, *, reset: bool) -> int:
        """End every connection; how many there were."""
        for connection in (found := list(self.connections)):
            connection.close(reset=reset)
        return len(found)


class Connection:
    """A client, and its connection to the server."""

    def __init__(self, line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._line = line
        self._client = reader, writer
        self._writers = [writer]
        self._talk = Conversation()

    async def run(self) -> None:
        """Forward both ways until either side ends."""
        self._line.connections.add(self)
        try:
            server_reader, server_writer = await asyncio.open_unix_connection(self._line.target)
        except OSError:
            # As from a server that is not there.
            self.close(reset=True)
            return
        self._writers.append(server_writer)
        reader, writer = self._client
        ways = [
            asyncio.create_task(self._forward(reader, server_writer, to_client=False)),
            asyncio.create_task(self._forward(server_reader, writer, to_client=True)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self.close(reset=False)

    def close(self, *, reset: bool) -> None:
        """Both ends."""
        self._line.connections.discard(self)
        for writer in self._writers:
            raw = writer.get_extra_info("socket")
            if reset and raw is not None and raw.family == socket.AF_INET:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_GOODBYE)
                writer.transport.abort()
            else:
                writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, to_client: bool) -> None:
        while data := await reader.read(_PIECE):
            if not await self._gets_through(data, to_client=to_client):
                return
            await self._send(writer, data)

    async def _gets_through(self, data: bytes, *, to_client: bool) -> bool:
        fault = self._line.fault
        if fault == "black_hole" or (fault == "half_open" and to_client):
            # Swallowed. The connection is of no use after that, as it would be in life: it dies when the fault ends.
            while self._line.fault == fault:  # noqa: ASYNC110 - a fault is in no hurry to be over
                await asyncio.sleep(0.05)
            self.close(reset=True)
            return False
        if to_client:
            for text in self._talk.server_says(data):
                for word in self._line.armed:
                    if word in text:
                        self._line.armed.remove(word)
                        self._line.dropped += 1
                        self.close(reset=True)
                        return False
        else:
            self._talk.client_says(data)
        return True

    async def _send(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        fault = self._line.fault
        if fault == "throttle":
            for start in range(0, len(data), _THROTTLED_BYTES):
                writer.write(data[start : start + _THROTTLED_BYTES])
                await writer.drain()
                if self._line.fault == "throttle":
                    await asyncio.sleep(_THROTTLED_SECONDS)
            return
        if fault == "slow":
            await asyncio.sleep(_SLOW_SECONDS)
        writer.write(data)
        await writer.drain()


def obey(lines: dict[int, Line], order: dict[str, Any]) -> dict[str, Any]:
    """One order of the nemesis."""
    line = lines[order["port"]]
    match order["do"]:
        case "cut" | "reset":
            return {"hit": line.close_all(reset=order["do"] == "reset")}
        case "heal":
            line.fault = ""
            return {}
        case "arm":
            line.armed.append(order["word"])
            return {}
        case "disarm":
            line.armed.clear()
            return {}
        case "count":
            return {"connections": len(line.connections), "fault": line.fault}
        case "dropped":
            return {"dropped": line.dropped}
        case fault:
            line.fault = fault
            return {"hit": len(line.connections)}


async def main(control: str, targets: dict[int, str]) -> None:
    """Forward until killed."""
    lines = {port: Line(port, target) for port, target in targets.items()}
    for line in lines.values():
        await line.serve()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while order := await reader.readline():
            writer.write(json.dumps(obey(lines, json.loads(order))).encode() + b"\n")
            await writer.drain()

    async with await asyncio.start_unix_server(listen, control) as server:
        await server.serve_forever()


if __name__ == "__main__":
    pairs = [argument.split("=", 1) for argument in sys.argv[2:]]
    asyncio.run(main(sys.argv[1], {int(port): target for port, target in pairs}))
