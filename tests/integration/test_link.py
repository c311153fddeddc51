"""A worker's connections keep to their budget, however many jobs want one at once."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from howdah.admin import store
from howdah.db.catalog import Catalog
from howdah.db.connecting import connect_async
from howdah.db.link import Link, Outage
from tests.conftest import Database


async def test_many_that_want_a_lost_connection_open_one(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[psycopg.AsyncConnection[Any]] = []

    async def noted(url: str, role: str) -> psycopg.AsyncConnection[Any]:
        opened.append(await connect_async(url, role))
        return opened[-1]

    monkeypatch.setattr("howdah.db.link.connect_async", noted)
    link = Link(database.url, Catalog(), "acks", Outage())
    try:
        for round in range(1, 3):
            answers = await asyncio.gather(*(link.perform(store.is_read_only()) for _ in range(20)))
            assert answers == [False] * 20
            assert len(opened) == round
            # Lost, and wanted by all of them again.
            await opened[-1].close()
    finally:
        await link.close()
