"""The documentation shows pictures that the tests make, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.pictures import FOLDER, PICTURES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_PICTURE = re.compile(r"""!\[[^\]]*\]\(<?([^)\s>]+)|(?:src|srcset)=["']([^"'\s]+)""")


def shown() -> dict[str, list[str]]:
    """Picture → the pages that show it."""
    found: dict[str, list[str]] = {}
    for page in PAGES:
        for match in _PICTURE.finditer(page.read_text()):
            name = match[1] or match[2]
            if not name.startswith("http"):
                found.setdefault(str((page.parent / name).resolve().relative_to(ROOT)), []).append(page.name)
    return found


def test_every_picture_that_the_pages_show_is_made_by_a_test_and_there() -> None:
    pictures = shown()
    assert {"docs/images/overview.png"} <= set(pictures)
    assert {name for name in pictures if name.endswith(".png")} == {f"docs/images/{name}" for name in PICTURES}
    assert [name for name in pictures if not (ROOT / name).is_file()] == []
    assert {path.name for path in FOLDER.glob("*.png")} == PICTURES, "a picture that nobody makes any more"


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_every_picture_is_taken_somewhere(name: str) -> None:
    tests = [path for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name]
    assert [path.name for path in tests if f'"{name}"' in path.read_text()], f"no test takes {name}"
