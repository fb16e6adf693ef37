"""Opens the page in Chromium, signed in, with everything that goes wrong in it collected."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, ConsoleMessage, Error, Page, Request, Route, ViewportSize

from tests.by_night import IS_NIGHT, first_by_day
from tests.channels.web.server import TOKEN, Running

# The page is drawn alike by all of them. Without windows of its own, as by day, a browser takes
# less than two thirds of the CPU time; a night uses what people have.
WITHOUT_WINDOWS = ("chromium-headless-shell", "chrome-headless-shell")
WITH_WINDOWS = ("chromium", "chromium-browser", "google-chrome")
BROWSERS = (*WITH_WINDOWS, *WITHOUT_WINDOWS) if IS_NIGHT else (*WITHOUT_WINDOWS, *WITH_WINDOWS)
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
ARGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 860}
BROWSER = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),  # that of the one browser
    pytest.mark.skipif(CHROMIUM is None, reason=f"none of these is on PATH: {', '.join(BROWSERS)}"),
]

# Locale, and whether it is a phone: both languages and both widths.
VIEWS = [("en-GB", False), ("en-GB", True), ("zh-CN", False), ("zh-CN", True)]


def in_views(locale: str, *, phone: bool) -> pytest.MarkDecorator:
    """Give a test `locale` and `phone`: these by day, and all views by night."""
    by_day = (locale, phone)
    others = [view for view in VIEWS if view != by_day]
    return pytest.mark.parametrize(("locale", "phone"), first_by_day(1, [by_day, *others]))


FOLLOW = """path => {
  const link = document.createElement("a");
  link.href = path;
  document.body.append(link);
  link.click();
  link.remove();
}"""


# Pages that are used again, by the browser and what they look like: a new one takes a process and a
# second of CPU time. So does one that was sent to about:blank, for then it changes its process; all
# sites of tests are one to Chromium, which looks at the host and not at the port.
_POOL: dict[tuple[object, ...], list[Page]] = {}


async def _take_page(browser: Browser, locale: str, *, dark: bool, phone: bool, scale: int) -> Page:
    idle = _POOL.get((browser, locale, dark, phone, scale))
    if idle:
        return idle.pop()
    context = await browser.new_context(
        locale=locale,
        viewport=PHONE if phone else DESKTOP,  # type: ignore[arg-type]
        has_touch=phone,
        device_scale_factor=scale,
        color_scheme="dark" if dark else "light",
    )
    return await context.new_page()


async def _answer_nothing(route: Route) -> None:
    await route.fulfill(body="")


async def _put_back(page: Page, base: str, key: tuple[object, ...], size: ViewportSize) -> None:
    """Leave nothing of a test in its page: what a site stored goes with its port.

    base: address of the site, which need not answer any more.
    """
    for other in page.context.pages:
        if other is not page:
            await other.close()
    await page.unroute_all(behavior="ignoreErrors")
    await page.context.set_offline(False)
    await page.route(f"{base}/empty", _answer_nothing)
    await page.goto(f"{base}/empty")
    await page.unroute_all()
    await page.context.clear_cookies()
    await page.context.clear_permissions()
    await page.set_viewport_size(size)
    _POOL.setdefault(key, []).append(page)


@asynccontextmanager
async def opened(
    browser: Browser,
    site: Running,
    path: str = "/",
    *,
    locale: str = "en-GB",
    dark: bool = False,
    phone: bool = False,
    scale: int = 1,
    ready: str = "#text:not([disabled])",
    fresh: bool = False,
    clocked: bool = False,
) -> AsyncIterator[Page]:
    """A page that is signed in, with everything that went wrong in it collected and found empty at
    the end.

    ready: what is there once the page is. fresh: it is no other test's before or after, for one
    that listens to it. clocked: its clock can be put forward (page.clock), so that nobody waits for
    its timers; such a page is a fresh one.
    """
    fresh = fresh or clocked
    key = (browser, locale, dark, phone, scale)
    size: ViewportSize = PHONE if phone else DESKTOP  # type: ignore[assignment]
    page = await _take_page(browser, locale, dark=dark, phone=phone, scale=scale)
    page.set_default_timeout(30_000)
    if clocked:
        await page.clock.install()
    wrong: list[str] = []
    strange: list[str] = []

    def fail(error: Error) -> None:
        wrong.append(f"{error} {error.stack}")

    def hear(said: ConsoleMessage) -> None:
        if "Content Security Policy" in said.text:
            wrong.append(said.text)

    def check(asked: Request) -> None:
        if not asked.url.startswith((site.base, "data:", "about:")):
            strange.append(asked.url)

    page.on("pageerror", fail)
    page.on("console", hear)
    page.on("request", check)
    entered = await page.context.request.post(
        f"{site.base}/login", data={"token": TOKEN}, headers={"origin": site.base}
    )
    assert entered.ok, await entered.text()
    await page.goto(site.base + path)
    await page.wait_for_selector(ready)
    yield page
    if fresh:
        await page.context.close()
    else:
        await _put_back(page, site.base, key, size)
        page.remove_listener("pageerror", fail)
        page.remove_listener("console", hear)
        page.remove_listener("request", check)
    assert not wrong, wrong
    assert not strange, strange


async def show(page: Page, name: str) -> None:
    """A picture for people to look at, in the folder MNEMA_SHOTS if that is set; nothing is
    compared with it.
    """
    if folder := os.environ.get("MNEMA_SHOTS"):
        await page.wait_for_timeout(300)  # what moves has come to its end
        await page.screenshot(path=Path(folder) / f"{name}.png")


async def write(page: Page, text: str) -> None:
    await page.fill("#text", text)
    await page.click("#send")


async def follow_link(page: Page, path: str) -> None:
    """Go where a link of the page to this path leads, which does not load the page again."""
    await page.evaluate(FOLLOW, path)
