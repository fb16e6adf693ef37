"""The page as an app of a phone: its manifest, and what other apps share into a new message."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, Page, expect

from channels.web.static_files import STATIC_FOLDER
from tests.browser.faults import check
from tests.browser.opening import BROWSER, in_views, opened, show
from tests.browser.real import QUIET, real_bot
from tests.channels.web.server import Running

pytestmark = BROWSER
# What the system does when one shares into the app: a form, posted by a navigation.
SHARE = """([text, name, kind]) => {
  const form = document.createElement("form");
  form.method = "post"; form.action = "/share"; form.enctype = "multipart/form-data";
  const texts = { title: "A title", text, url: "https://one.example/" };
  for (const [name, value] of Object.entries(texts)) {
    const field = document.createElement("textarea");
    field.name = name;
    field.value = value;
    form.append(field);
  }
  if (name) {
    const field = document.createElement("input");
    field.type = "file"; field.name = "files";
    const files = new DataTransfer();
    files.items.add(new File([new Uint8Array([137, 80, 78, 71])], name, { type: kind }));
    field.files = files.files;
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}"""
KEPT = "caches.keys().then(names => names.length)"


async def turn_on(page: Page) -> None:
    await page.evaluate("history.pushState({}, '', '/settings/app')")
    await page.reload()
    await page.wait_for_selector("#app-worker")
    await page.check("#app-worker")
    await page.evaluate("navigator.serviceWorker.ready")
    await page.wait_for_function("navigator.serviceWorker.controller !== null")


async def share(page: Page, text: str, name: str = "", kind: str = "image/png") -> None:
    await page.evaluate(SHARE, [text, name, kind])
    await page.wait_for_url(re.compile(r"/c/chat-"))
    await page.wait_for_selector("#text:not([disabled])")


async def test_the_manifest_names_icons_of_their_sizes_and_where_one_shares_to(
    site: Running,
) -> None:
    async with httpx.AsyncClient(base_url=site.base) as client:
        answer = await client.get("/static/manifest.webmanifest")
        assert answer.headers["content-type"] == "application/manifest+json"
        manifest = answer.json()
        worker = await client.get("/static/sw.js")
        assert worker.headers["service-worker-allowed"] == "/"
        assert "service-worker-allowed" not in (await client.get("/static/icon.svg")).headers
        for icon in manifest["icons"]:
            picture = await client.get(icon["src"])
            assert picture.headers["content-type"] == icon["type"]
            if icon["type"] == "image/png":
                width = int.from_bytes(picture.content[16:20], "big")
                assert icon["sizes"] == f"{width}x{width}"
    assert manifest["share_target"]["action"] == "/share"
    page = (STATIC_FOLDER / "index.html").read_text("utf-8")
    assert 'rel="manifest" href="/static/manifest.webmanifest"' in page


async def test_chromium_finds_nothing_that_keeps_it_from_being_installed(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, fresh=True) as page:
        session = await page.context.new_cdp_session(page)
        found = await session.send("Page.getAppManifest")
        assert found["errors"] == []
        assert json.loads(found["data"])["name"] == "mnema"
        errors = (await session.send("Page.getInstallabilityErrors"))["installabilityErrors"]
        assert [one["errorId"] for one in errors if one["errorId"] != "in-incognito"] == []


async def test_what_is_shared_is_in_the_box_of_a_new_message_and_is_not_sent(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "Nice.") as real,
        opened(chromium, real.site, fresh=True) as page,
    ):
        await turn_on(page)
        await share(page, "look <img src=x onerror=window.hit=1>", "tea.png")
        await expect(page.locator("#text")).to_have_value(
            "A title\nlook <img src=x onerror=window.hit=1>\nhttps://one.example/"
        )
        await expect(page.locator("#files .chip")).to_contain_text("tea.png")
        assert real.model
        assert not real.model.requests  # it waits for a press
        await page.click("#files .x")
        await page.click("#send")
        await expect(page.locator(".line.user")).to_contain_text("A title")
        await expect(page.locator(".line.assistant")).to_have_text(re.compile("Nice"))
        assert await page.evaluate("window.hit") is None
        assert await page.evaluate(KEPT) == 0  # the worker keeps nothing
        await page.goto(f"{real.site.base}/share")  # and gives what was shared once
        await page.wait_for_url(re.compile(r"/c/chat-"))
        await page.wait_for_selector("#text:not([disabled])")
        await expect(page.locator("#text")).to_have_value("")


@in_views("zh-CN", phone=True)
async def test_the_page_of_the_app_can_be_read_and_used_by_everyone(
    chromium: Browser, tmp_path: Path, locale: str, phone: bool
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "Nice.") as real,
        opened(
            chromium,
            real.site,
            "/settings/app",
            locale=locale,
            dark=phone,
            phone=phone,
            ready="#app-worker",
            fresh=True,
        ) as page,
    ):
        assert await check(page, "/settings/app") == []
        await page.focus("#app-worker")
        await page.keyboard.press("Space")
        await page.evaluate("navigator.serviceWorker.ready")
        await expect(page.locator("#app-worker")).to_be_checked()
        await show(page, f"app-{phone}")
        await page.uncheck("#app-worker")
        await page.reload()
        await expect(page.locator("#app-worker")).not_to_be_checked()


DELIVERED = "navigator.serviceWorker.ready.then(r => r.getNotifications())"


async def test_a_notification_says_that_something_is_there_and_leads_to_no_other_site(
    chromium: Browser, tmp_path: Path
) -> None:
    push = {"push": True, "public_url": "https://bot.example"}
    settings = {**QUIET, "channels": {"web": push}}
    async with (
        real_bot(tmp_path, lambda asked: "Nice.", settings=settings) as real,
        opened(chromium, real.site, fresh=True) as page,
    ):
        await page.context.grant_permissions(["notifications"], origin=real.site.base)
        await turn_on(page)
        await expect(page.locator("#app-notify")).not_to_be_checked()
        await show(page, "app-push")
        session = await page.context.new_cdp_session(page)
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def registered(event: dict[str, Any]) -> None:
            for one in event["registrations"]:
                if not found.done():
                    found.set_result(one["registrationId"])

        session.on("ServiceWorker.workerRegistrationUpdated", registered)
        await session.send("ServiceWorker.enable")
        id = await asyncio.wait_for(found, 30)
        for text, path, shown in (
            ("There is a new message.", "/c/chat-0123abcd", "/c/chat-0123abcd"),
            ("<b>x</b>", "https://evil.example/", "/c"),
        ):
            message = json.dumps({"text": text, "path": path})
            where = {"origin": real.site.base, "registrationId": id, "data": message}
            await session.send("ServiceWorker.deliverPushMessage", where)
            # one notification takes the place of the other
            await page.wait_for_function(
                f"([text, path]) => {DELIVERED}.then(all => all.length === 1 && all[0].title === "
                "'mnema' && all[0].body === text && all[0].data === path)",
                arg=[text, shown],
            )
        assert await page.evaluate(KEPT) == 0
