"""Spans of this process, kept in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

_exporter = InMemorySpanExporter()


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """A provider can be set once in a process: what it exports to is emptied for every test."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    assert isinstance(provider, TracerProvider)
    if not getattr(provider, "howdah_exporter", None):
        provider.add_span_processor(SimpleSpanProcessor(_exporter))
        provider.howdah_exporter = _exporter  # type: ignore[attr-defined]  # a mark of ours
    _exporter.clear()
    yield _exporter
    _exporter.clear()
