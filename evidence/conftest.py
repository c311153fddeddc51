"""Evidence runs on the fixtures of the tests, with durable commits where a figure depends on them."""

from __future__ import annotations

from tests.conftest import app, database, make_app, server, sql

__all__ = ["app", "database", "make_app", "server", "sql"]


def pytest_generate_tests(metafunc) -> None:  # type: ignore[no-untyped-def]
    if "route" in metafunc.fixturenames:
        metafunc.parametrize("route", ["newest"], scope="session")
