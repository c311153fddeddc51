"""A job that is sealed and traced is sealed once: what it returns opens to what its handler returned."""

from __future__ import annotations

import os
from collections.abc import Callable

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from howdah import Howdah, Keyring
from tests.rig.working import working


async def test_it_opens(make_app: Callable[..., Howdah], spans: InMemorySpanExporter) -> None:
    app = make_app(encryption=Keyring({"a": os.urandom(32)}))

    @app.job()
    async def carry(secret: str) -> dict[str, str]:
        return {"secret": secret}

    async with working(app):
        job = await carry.aenqueue("rosebud")
        assert (await job.await_(30)).result == {"secret": "rosebud"}
    assert [span.name for span in spans.get_finished_spans()].count("run default") == 1
