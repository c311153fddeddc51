"""The pictures of the documentation. Every run of the tests takes them; only HOWDAH_DOC_PICTURES=1 keeps them, so that
an ordinary run leaves the tree as it is."""

from __future__ import annotations

import os
from pathlib import Path

from tests.browser.chromium import Browser

FOLDER = Path(__file__).parents[2] / "docs" / "images"
#: Every picture that there is; a test checks that each is taken, and that the pages show no other.
PICTURES = {
    "overview.png",
    "overview-dark.png",
    "jobs.png",
    "job.png",
    "failed.png",
    "queues.png",
    "bulk.png",
    "phone.png",
    "lost.png",
}
_PNG = b"\x89PNG\r\n\x1a\n"


def take_picture(browser: Browser, name: str) -> None:
    """The window as it stands."""
    assert name in PICTURES, f"{name} is not among the pictures of the documentation"
    picture = browser.png()
    assert picture.startswith(_PNG)
    if os.environ.get("HOWDAH_DOC_PICTURES") == "1":
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_bytes(picture)
