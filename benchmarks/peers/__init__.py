"""One file per system; each says what it is (`PEER`) and how it is driven through its public API."""

from __future__ import annotations

import importlib
from typing import cast

from benchmarks.peers.contract import Peer, System

NAMES = ("howdah", "graphile", "pgqueuer", "awa", "oban", "procrastinate", "chancy", "celery", "dramatiq")


def system(name: str) -> System:
    """The module of one system."""
    module = importlib.import_module(f"benchmarks.peers.{name}")
    return cast(System, module)


def peer(name: str) -> Peer:
    """What one system says about itself."""
    return system(name).PEER


def peers() -> list[Peer]:
    """All systems, Howdah first."""
    return [peer(name) for name in NAMES]
