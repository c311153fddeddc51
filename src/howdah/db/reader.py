"""A connection for one thread that asks, sleeps, and is woken by a notification, by another thread or by the time.

Notifications that arrive while a statement runs are remembered, and end the next sleep. The end of a connection ends it
too, and the next statement connects anew.
"""

from __future__ import annotations

import contextlib
import select
import socket
from typing import Any, TypeVar

import psycopg

from howdah.db.catalog import Catalog
from howdah.db.connecting import connect
from howdah.db.op import Operation, perform

T = TypeVar("T")


class Reader:
    """Asks and sleeps. `perform`, `sleep` and `close` belong to one thread; `wake` may be called from any."""

    def __init__(self, url: str, catalog: Catalog, role: str) -> None:
        self._url = url
        self._catalog = catalog
        self._role = role
        self._connection: psycopg.Connection[Any] | None = None
        self._rung = False
        self.connection_number = 0
        self._waker, self._woken = socket.socketpair()
        self._waker.setblocking(False)
        self._woken.setblocking(False)

    def perform(self, operation: Operation[T]) -> T:
        """Run an operation; after a failure the next call connects anew."""
        try:
            if self._connection is None or self._connection.closed:
                self._connection = connect(self._url, self._role)
                self._connection.add_notify_handler(self._hear)
                self.connection_number += 1
            return perform(self._connection, self._catalog, operation)
        except psycopg.Error:
            self.disconnect()
            raise

    @property
    def direct(self) -> bool:
        """Whether nobody stands between this connection and the server, so that notifications come through."""
        return self._connection is not None and self._connection.prepare_threshold is not None

    def sleep(self, seconds: float) -> None:
        """Until woken, a notification came, the connection has ended, or the time has passed."""
        if self._rung:
            self._rung = False
            return
        sockets = select.poll()
        sockets.register(self._woken, select.POLLIN)
        connection = self._connection
        if connection is not None and not connection.closed:
            sockets.register(connection.fileno(), select.POLLIN)
        ready = {number for number, _ in sockets.poll(max(0.0, seconds) * 1000)}
        if self._woken.fileno() in ready:
            self._woken.recv(4096)
            ready.discard(self._woken.fileno())
        if ready and connection is not None:
            self._take_in(connection)

    def wake(self) -> None:
        """End the sleep, or the next one."""
        # Full: it is awake already. Closed: nobody sleeps here any more.
        with contextlib.suppress(OSError):
            self._waker.send(b"\0")

    def disconnect(self) -> None:
        """Close the connection, if there is one; the next statement makes another."""
        connection, self._connection = self._connection, None
        self._rung = False
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Close everything, for good."""
        self.disconnect()
        self._waker.close()
        self._woken.close()

    def _take_in(self, connection: psycopg.Connection[Any]) -> None:
        # Or the next statement would hear the same ring again.
        try:
            connection.pgconn.consume_input()
            while connection.pgconn.notifies() is not None:
                pass
        except psycopg.Error:
            self.disconnect()
        self._rung = False

    def _hear(self, _: psycopg.Notify) -> None:
        self._rung = True
