"""What a test needs of the machine, said in one place."""

from __future__ import annotations

import os

import pytest


def require(condition: object, what: str) -> None:
    """Skip the test with the reason if the machine lacks `what`; where nothing may be skipped, fail."""
    if condition:
        return
    if os.environ.get("HOWDAH_REQUIRE_PROGRAMS") == "1":
        pytest.fail(f"needs {what}")
    pytest.skip(f"needs {what}")
