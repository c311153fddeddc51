"""Opening connections. Server-side prepared statements only where nobody stands between, so that everything works
behind a pooler in transaction mode as well; hot statements are functions whose plans PostgreSQL keeps by itself."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from howdah.db.preparing import prepare_if_direct, prepare_if_direct_async
from howdah.db.readable import read_everything
from howdah.db.wire_arrays import send_arrays
from howdah.model.errors import OptionError

# A dead peer is noticed within about 15 seconds instead of the system's two hours.
_KEEPALIVE: dict[str, Any] = {
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 5,
    "tcp_user_timeout": 15_000,
    "connect_timeout": 10,
}


def complete_url(url: str, role: str) -> str:
    """The caller's URL with what it does not say itself: keepalives, a time limit, a name for pg_stat_activity."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error as error:
        # The URL may hold a password: the message says what is wrong with it, never what it is.
        raise OptionError("the database URL cannot be read; write postgresql://user@host/database") from error
    defaults = {**_KEEPALIVE, "application_name": f"howdah {role}"}
    return make_conninfo("", **{**defaults, **{name: value for name, value in given.items() if value is not None}})


def place_of(url: str) -> str:
    """Which database a URL names, for people: without its user and password."""
    given = conninfo_to_dict(url)
    host = str(given.get("host") or "localhost")
    # A socket's folder says nothing to a reader.
    where = "this machine" if host.startswith(("/", "@")) else host
    return f"{given.get('dbname') or given.get('user') or 'database'} on {where}"


def connect(url: str, role: str) -> psycopg.Connection[Any]:
    """A blocking connection in autocommit."""
    connection = psycopg.connect(complete_url(url, role), autocommit=True, prepare_threshold=None)
    read_everything(connection)
    send_arrays(connection)
    prepare_if_direct(connection)
    return connection


async def connect_async(url: str, role: str) -> psycopg.AsyncConnection[Any]:
    """An async connection in autocommit."""
    connection = await psycopg.AsyncConnection.connect(complete_url(url, role), autocommit=True, prepare_threshold=None)
    read_everything(connection)
    send_arrays(connection)
    await prepare_if_direct_async(connection)
    return connection
