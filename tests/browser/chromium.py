"""Chromium, driven through its own driver: real keys, real clicks, and questions about what is on the page."""

from __future__ import annotations

import base64
import os
import shutil
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from tests.rig.waiting import until

NEEDED = "chromium and chromedriver (Debian: apt-get install chromium chromium-driver)"
#: A laptop's window, and a phone's.
DESK, PHONE = (1280, 860), (390, 844)
_SWITCHES = (
    "--headless=new",
    # Containers have a small /dev/shm, and no user namespaces for root.
    "--disable-dev-shm-usage",
    "--no-sandbox",
    "--disable-gpu",
    "--no-proxy-server",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)
_WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    // Text that is set to the right grows to the left; that is no jump.
    const moved = entry.sources.filter(({ previousRect: was, currentRect: is }) =>
      Math.abs(was.top - is.top) > 1 || (Math.abs(was.left - is.left) > 1 && Math.abs(was.right - is.right) > 1));
    const told = moved.map(({ node, previousRect: was, currentRect: is }) =>
      `${node?.outerHTML?.slice(0, 150) ?? node?.textContent} from ${was.left},${was.top} to ${is.left},${is.top}`);
    if (told.length) window.shifts.push(...told);
  }
}).observe({ type: "layout-shift" });
"""


def find_chromium() -> tuple[str, str] | None:
    """The browser and its driver."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@dataclass(frozen=True)
class Place:
    """Where something stands on the page."""

    left: float
    top: float
    width: float
    height: float


class Browser:
    """One window. Elements are named by CSS selectors and looked up anew every time, because live pages change."""

    def __init__(self, browser: str, driver: str) -> None:
        options = Options()
        options.binary_location = browser
        for switch in _SWITCHES:
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        # A driver of that name is not looked for on the network.
        os.environ["SE_OFFLINE"] = "true"
        self.driver = Chrome(options=options, service=Service(driver))
        self.driver.set_page_load_timeout(60)
        self.base = ""

    def close(self) -> None:
        self.driver.quit()

    def cdp(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def begin(self, base: str) -> None:
        """A new visitor: no cookies, a laptop, nothing on the console."""
        self.base = base
        self.driver.get("about:blank")
        self.cdp("Network.clearBrowserCookies")
        self.cdp("Emulation.setScriptExecutionDisabled", value=False)
        self.scheme("light")
        self.size(DESK)
        self.console()

    def size(self, size: tuple[int, int], scale: float = 1) -> None:
        width, height = size
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=size == PHONE,
        )

    def scheme(self, scheme: str) -> None:
        """What the reader's system asks for: light or dark."""
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def scripts(self, allowed: bool) -> None:
        self.cdp("Emulation.setScriptExecutionDisabled", value=not allowed)

    def as_user(self, name: str) -> None:
        """Come as somebody else from the next page on."""
        place = urlsplit(self.base)
        self.cdp("Network.setCookie", name="who", value=name, url=f"{place.scheme}://{place.netloc}/")

    def open(self, path: str) -> None:
        self.driver.get(path if path.startswith("http") else self.base + path)

    def js(self, script: str, *arguments: Any) -> Any:
        return cast(Any, self.driver).execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def count(self, selector: str) -> int:
        """How many of them can be seen."""
        return int(
            self.js(
                "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility()).length",
                selector,
            )
        )

    def text(self, selector: str) -> str | None:
        """What the first of them says; None: there is none, or nobody sees it."""
        script = """const found = document.querySelector(arguments[0]);
            return found && found.checkVisibility() ? found.innerText.trim() : null"""
        return cast("str | None", self.js(script, selector))

    def attribute(self, selector: str, name: str) -> str | None:
        script = "return document.querySelector(arguments[0])?.getAttribute(arguments[1])"
        return cast("str | None", self.js(script, selector, name))

    def value(self, selector: str) -> Any:
        return self.js("return document.querySelector(arguments[0])?.value", selector)

    def place(self, selector: str) -> Place:
        found = self.js("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector)
        return Place(found["left"], found["top"], found["width"], found["height"])

    def corner(self, selector: str) -> tuple[float, float]:
        """Where something begins, however long it grows."""
        place = self.place(selector)
        return place.left, place.top

    def click(self, selector: str) -> None:
        until(lambda: self.count(selector), f"{selector} is there")
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.find(selector).click()

    def leave_by(self, selector: str) -> None:
        """Click what leads to another page, and wait until that one is there."""
        self.js("window.stale = true")
        self.click(selector)
        self.arrived()

    def arrived(self) -> None:
        """Wait until a page that was marked as stale has been left, and the next one's scripts run."""
        script = "return !window.stale && document.readyState === 'complete'"
        until(lambda: self.js(script), "the next page is there")

    def press(self, *keys: str) -> None:
        """Keys, wherever the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def choose(self, selector: str, value: str) -> None:
        """An option of a list."""
        options = {one.get_property("value"): one for one in Select(self.find(selector)).options}
        options[value].click()

    def until_text(self, selector: str, wanted: str) -> None:
        until(lambda: wanted in (self.text(selector) or ""), f"{selector} says {wanted!r}")

    def until_value(self, selector: str, wanted: Any) -> None:
        until(lambda: self.value(selector) == wanted, f"{selector} is at {wanted}")

    def console(self) -> list[str]:
        """What the console said since it was last asked: errors, warnings and refusals of the content policy."""
        lines = cast("list[dict[str, Any]]", cast(Any, self.driver).get_log("browser"))
        return [f"{line['source']}: {line['message']}" for line in lines if line["level"] in ("SEVERE", "WARNING")]

    def watch_shifts(self) -> None:
        """From now on, note what moves without being asked to."""
        self.js(_WATCH_SHIFTS)

    def shifts(self) -> list[str]:
        """What has moved; two frames are drawn first, so that nothing is still on its way."""
        script = """const done = arguments[0];
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(window.shifts), 0)))"""
        return cast("list[str]", cast(Any, self.driver).execute_async_script(script))

    def png(self) -> bytes:
        """What the window shows."""
        return base64.b64decode(self.cdp("Page.captureScreenshot", format="png")["data"])
