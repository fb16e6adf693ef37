"""Opens the page in Chromium, signed in, with everything that goes wrong in it collected."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page

from tests.channels.web.server import TOKEN, Running

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 860}
BROWSER = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),  # that of the one browser
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on PATH"),
]


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
) -> AsyncIterator[Page]:
    """A page that is signed in, with everything that went wrong in it collected and found empty at the end.

    ready: what is there once the page is.
    """
    context = await browser.new_context(
        locale=locale,
        viewport=PHONE if phone else DESKTOP,  # type: ignore[arg-type]
        has_touch=phone,
        device_scale_factor=scale,
        color_scheme="dark" if dark else "light",
    )
    page = await context.new_page()
    page.set_default_timeout(8_000)
    wrong: list[str] = []
    strange: list[str] = []
    page.on("pageerror", lambda error: wrong.append(f"{error} {error.stack}"))
    page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("request", lambda asked: None if asked.url.startswith((site.base, "data:")) else strange.append(asked.url))
    await page.goto(site.base + path)
    await page.fill("#token", TOKEN)
    await page.press("#token", "Enter")
    await page.wait_for_selector(ready)
    yield page
    await context.close()
    assert not wrong, wrong
    assert not strange, strange


async def write(page: Page, text: str) -> None:
    await page.fill("#text", text)
    await page.click("#send")
