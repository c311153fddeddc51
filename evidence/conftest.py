"""Evidence runs on the fixtures of the tests."""

from __future__ import annotations

import pytest

from tests.conftest import app, database, make_app, server, sql

__all__ = ["app", "database", "make_app", "server", "sql"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "route" in metafunc.fixturenames:
        metafunc.parametrize("route", ["newest"], scope="session")
