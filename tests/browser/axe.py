"""Axe looks at a page: the rules of WCAG 2.0 to 2.2, A and AA, and what axe calls best practice."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any, cast

from tests.browser.chromium import Browser

AXE = files("selenium_axe_python").joinpath("axe-core", "axe.min.js").read_text(encoding="utf-8")
_RUN = """
const done = arguments[1];
const failed = (error) => done([{ id: String(error), impact: "critical", nodes: [] }]);
const only = arguments[0] ? { runOnly: { type: "rule", values: arguments[0] } } : {};
axe.run(document, { resultTypes: ["violations"], ...only }).then((found) => done(found.violations), failed);
"""


#: Rules whose answer depends on colours, and on the room that there is.
OF_COLOURS = ("color-contrast", "link-in-text-block")
OF_ROOM = ("scrollable-region-focusable", "target-size", "meta-viewport", "color-contrast")


def violations(browser: Browser, only: Sequence[str] = ()) -> list[str]:
    """What is wrong, worst first: rule, impact, where. `only`: by these rules."""
    browser.js(AXE)
    found = cast("list[dict[str, Any]]", cast(Any, browser.driver).execute_async_script(_RUN, list(only) or None))
    rank = {"critical": 0, "serious": 1, "moderate": 2, "minor": 3}
    lines = []
    for rule in sorted(found, key=lambda one: rank.get(one["impact"], 4)):
        for node in rule["nodes"] or [{"target": ["?"], "html": "", "failureSummary": ""}]:
            why = " ".join(str(node["failureSummary"]).split())
            lines.append(f"{rule['impact']} {rule['id']}: {node['target']} {node['html'][:160]} {why[:300]}")
    return lines


def grave(lines: list[str]) -> list[str]:
    """Those that nobody may be left alone with."""
    return [line for line in lines if line.startswith(("critical", "serious"))]
