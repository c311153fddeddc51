"""A dashboard whose host application tells users apart by a header."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from howdah import Howdah
from howdah.web.application import Dashboard
from howdah.web.settings import read_settings
from tests.dashboard.asgi import Caller
from tests.dashboard.visiting import Visitor, by_header, visiting


@pytest.fixture
def visitor(app: Howdah) -> Iterator[Callable[..., Visitor]]:
    with visiting(app) as make:
        yield make


@pytest.fixture
def olga(visitor: Callable[..., Visitor]) -> Visitor:
    """An operator who may see everything."""
    return visitor("olga")


@pytest.fixture
async def caller(app: Howdah) -> AsyncIterator[Caller]:
    """The same, straight into the dashboard."""
    dashboard = Dashboard(app, read_settings(by_header, False, (), "Howdah"))
    yield Caller(dashboard)
    await dashboard.aclose()
