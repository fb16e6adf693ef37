"""The channels in the page: how each is, its login by code and digits, and who asks to be let
in.
"""

import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from starlette.requests import Request
from starlette.responses import Response

from bot.console.channels import ChannelRoutes
from bot.gateway.channel_status import ChannelStatus, channel_status_to_json
from channels.base import LoginPrompt
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response, read_json
from tests.bot.moody import DIGITS, QR, WAIT, Moody
from tests.browser.opening import BROWSER, in_views, opened, show
from tests.browser.scripted import Page as Said
from tests.by_night import by_night
from tests.channels.web.server import Running, running

pytestmark = BROWSER
EVERY_MS = 2_000  # between two looks of the page at its server
BEGAN = 1_790_000_000.0
ANN = {"channel": "telegram", "account": "1", "id": "5006", "kind": "user", "name": "<b>Ann</b> the owner", "at": "2026-11-20T12:00:00+00:00", "expires": "2026-11-20T13:00:00+00:00"}  # fmt: skip  # noqa: E501, RUF100
GROUP = {**ANN, "id": "-1007", "kind": "group", "name": "Tea people", "expires": ""}


@dataclass
class Behind:
    """What the page's server says. acts: what was asked of access: (act, what came with it)."""

    wechat: Moody = field(default_factory=lambda: Moody("wechat"))
    waiting: list[dict[str, str]] = field(default_factory=list)
    acts: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    states: dict[str, ChannelStatus] = field(default_factory=dict)

    def calls(self) -> tuple[Route, ...]:
        return (
            *ChannelRoutes({"wechat": self.wechat}).calls(),
            Route(
                method="GET",
                path="/api/v1/status",
                action="console.read",
                handler=self.status,
                is_promised=True,
            ),
            Route(
                method="GET",
                path="/api/v1/metrics/recent",
                action="console.read",
                handler=self.recent,
            ),
            Route(method="GET", path="/api/v1/access", action="access.read", handler=self.access),
            *(
                Route(
                    method="POST",
                    path=f"/api/v1/access/{act}",
                    action="access.write",
                    handler=self.act,
                )
                for act in ("approve", "deny", "group")
            ),
        )

    async def status(self, _: Request) -> Response:
        asked = self.wechat.prompt()
        phase: Any = "asking" if asked else "up"
        wechat = ChannelStatus(
            name="wechat",
            phase=phase,
            since=BEGAN,
            last_contact=BEGAN,
            has_login=True,
            prompt=asked,
            quota="7 of 10",
        )
        return json_response(
            {
                "channels": {
                    name: channel_status_to_json(one)
                    for name, one in {**self.states, "wechat": wechat}.items()
                }
            }
        )

    async def recent(self, _: Request) -> Response:
        spans = [("", 1_000), ("up", 400), ("down", 2), ("up", 38)]
        wechat = [{"state": state, "minutes": minutes} for state, minutes in spans]
        return json_response({"newest": BEGAN, "channels": {"wechat": wechat}})

    async def access(self, _: Request) -> Response:
        return json_response({"people": [], "waiting": self.waiting, "locked_until": ""})

    async def act(self, request: Request) -> Response:
        told, act = await read_json(request), request.url.path.rsplit("/", 1)[1]
        self.acts.append((act, told))
        if told.get("code") == "WRONG":
            raise HttpRefusal(400, "access", Phrase("that code is wrong or has expired"))
        self.waiting = [one for one in self.waiting if act == "group" and one["kind"] == "user"]
        return json_response({"zh": "好了。", "en": "They may talk to me now."})


@dataclass
class Scene:
    site: Running
    behind: Behind


@pytest_asyncio.fixture(loop_scope="session")
async def scene() -> AsyncIterator[Scene]:
    behind = Behind()
    async with running(Said(), behind.calls()) as site:
        yield Scene(site, behind)


async def panel(page: Page, *, phone: bool = False) -> None:
    if phone:
        await page.click("#menu")
    await page.click("[href='/more']" if phone else "#go-channels")
    if phone:
        await page.click("main [href='/channels']")
    await expect(page.locator(".channel")).not_to_have_count(0)


async def test_each_channel_says_how_it_is(chromium: Browser, scene: Scene) -> None:
    scene.behind.states["telegram"] = ChannelStatus(
        name="telegram",
        phase="contended",
        since=BEGAN,
        why="another program polls",
        last_contact=BEGAN,
        last_error="connection reset",
        last_error_at=BEGAN,
    )
    async with opened(chromium, scene.site) as page:
        await panel(page)
        telegram, wechat = page.locator(".channel >> nth=0"), page.locator(".channel >> nth=1")
        await expect(telegram).to_contain_text("on standby: another program is receiving")
        await expect(telegram.locator(".why")).to_have_text("another program polls")
        await expect(telegram).to_contain_text("connection reset")
        await expect(wechat).to_contain_text("connected")
        await expect(wechat).to_contain_text("7 of 10")
        assert "well" in (await wechat.get_attribute("class") or "")
        assert "well" not in (await telegram.get_attribute("class") or "")


async def test_a_strip_shows_the_last_day_and_says_it_in_words(
    chromium: Browser, scene: Scene
) -> None:
    async with opened(chromium, scene.site, "/channels", ready=".strip") as page:
        strip = page.get_by_role("img", name="The last 24 hours")
        await expect(strip.locator("span")).to_have_count(4)
        assert "disconnected" in str(await strip.get_attribute("aria-label"))
        assert " connected" not in str(await strip.get_attribute("aria-label"))
        widths = [
            float((await one.bounding_box() or {})["width"])
            for one in await strip.locator("span").all()
        ]
        assert widths[0] > widths[1] > widths[3] > widths[2] >= 3  # two minutes are seen


async def test_a_code_counts_down_is_renewed_by_itself_and_fills_the_screen_of_a_phone(
    chromium: Browser, scene: Scene
) -> None:
    wechat = scene.behind.wechat
    wechat.asked = replace(QR, expires=time.time() + 65)
    async with opened(
        chromium, scene.site, "/channels", phone=True, ready=".qr", clocked=True
    ) as page:
        timer = page.get_by_role("timer")
        await expect(timer).to_contain_text(re.compile(r"in 1:0\d|in 0:5\d"))
        await page.get_by_role("button", name="Show the code larger").press("Enter")
        large = page.get_by_role("dialog").locator("img")
        await expect(large).to_have_js_property("complete", value=True)
        assert (await large.bounding_box() or {})["width"] > 320
        # three codes in a row were not used: somebody who looks gets the next one
        wechat.asked = WAIT
        await page.clock.run_for(EVERY_MS)
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.clock.run_for(EVERY_MS)
        await expect(page.locator(".login-box")).to_contain_text("Confirmed: logged in.")
        assert wechat.answers == [""]


@by_night
async def test_a_login_by_code_and_digits_goes_through_in_the_page(
    chromium: Browser, scene: Scene
) -> None:
    wechat = scene.behind.wechat
    wechat.asked = QR
    async with opened(chromium, scene.site, locale="zh-CN") as page:
        await panel(page)
        code = page.locator(".qr")
        await expect(page.locator(".login-box")).to_contain_text("请用微信扫码")
        await expect(code).to_have_js_property("complete", value=True)
        assert await code.evaluate("image => image.naturalWidth") > 100
        first = await code.get_attribute("src")
        assert "s3cret" not in await page.content()
        wechat.asked = LoginPrompt(
            kind="qr", about=QR.about, text="https://login.example/q?code=another"
        )
        await expect(code).not_to_have_attribute("src", str(first))
        wechat.asked = DIGITS
        await expect(page.locator(".login-box input")).to_be_visible()
        await expect(code).to_have_count(0)
        await page.fill(".login-box input", "4815")
        for _ in range(2):  # what is typed stays while the page looks again
            async with page.expect_response("**/api/v1/status"):
                pass
        await expect(page.locator(".login-box input")).to_have_value("4815")
        await page.press(".login-box input", "Enter")
        await expect(page.locator(".login-box p")).to_have_text("已确认，登录成功。")
        assert wechat.answers == ["4815"]
        wechat.asked = WAIT
        await expect(page.locator(".login-box")).to_have_text("请在手机上确认。")
        wechat.asked = None
        await expect(page.locator(".channel .mood")).to_have_text("已连接")


async def test_who_asks_is_let_in_by_the_code_they_tell(chromium: Browser, scene: Scene) -> None:
    scene.behind.waiting = [ANN, GROUP]
    async with opened(chromium, scene.site) as page:
        await page.click("#go-people")
        asking = page.locator(".asking")
        await expect(asking.locator(".request >> nth=0")).to_contain_text(
            "telegram:5006 “<b>Ann</b> the owner”"
        )
        await page.fill(".asking input", "WRONG")
        await page.click(".asking .primary")
        await expect(page.locator(".toast")).to_have_text("that code is wrong or has expired")
        await expect(page.locator(".asking input")).to_have_value("WRONG")
        await page.click(".asking >> text=Allow")
        await expect(asking.locator(".request")).to_have_count(1)
        await expect(page.locator(".asking input")).to_have_value("WRONG")
        await page.fill(".asking input", "ABCD-EFGH")
        await page.press(".asking input", "Enter")
        await expect(asking).to_contain_text("Nobody.")
    assert scene.behind.acts == [
        ("approve", {"code": "WRONG"}),
        ("group", {"channel": "telegram", "id": "-1007"}),
        ("approve", {"code": "ABCD-EFGH"}),
    ]


async def test_they_may_be_refused(chromium: Browser, scene: Scene) -> None:
    scene.behind.waiting = [ANN]
    async with opened(chromium, scene.site) as page:
        await page.click("#go-people")
        await page.fill(".asking input", "ABCDEFGH")
        await page.click(".asking .quiet")
        await expect(page.locator(".asking")).to_contain_text("Nobody.")
    assert scene.behind.acts == [("deny", {"code": "ABCDEFGH"})]


async def test_the_page_stops_asking_once_another_page_is_shown(
    chromium: Browser, scene: Scene
) -> None:
    async with opened(chromium, scene.site, clocked=True) as page:
        await panel(page)
        async with page.expect_response("**/api/v1/status"):
            await page.clock.run_for(EVERY_MS)
        await page.click("#go-usage")
        await expect(page.locator(".channel")).to_have_count(0)
        asked: list[str] = []
        page.on(
            "request",
            lambda one: asked.append(one.url) if one.url.endswith("/api/v1/status") else None,
        )
        await page.clock.run_for(5 * EVERY_MS)
        assert asked == []


@in_views("zh-CN", phone=True)
async def test_the_panel_fits_phone_and_desktop(
    chromium: Browser, scene: Scene, phone: bool, locale: str
) -> None:
    scene.behind.wechat.asked = QR
    scene.behind.waiting = [ANN, GROUP]
    scene.behind.states["telegram"] = ChannelStatus(
        name="telegram", phase="up", since=BEGAN, last_contact=BEGAN
    )
    scene.behind.states["wecom"] = ChannelStatus(
        name="wecom",
        phase="down",
        since=BEGAN,
        why="nothing heard for 90 s: the platform cannot be reached",
        last_error="reset",
        last_error_at=BEGAN,
    )
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    async with opened(
        chromium, scene.site, locale=locale, phone=phone, dark=locale == "zh-CN"
    ) as page:
        await panel(page, phone=phone)
        await expect(page.locator(".qr")).to_have_js_property("complete", value=True)
        kind = f"channels-{'phone' if phone else 'desktop'}-{locale[:2]}"
        await show(page, f"{kind}")
        await page.locator("main").evaluate("main => main.scrollTop = main.scrollHeight")
        await show(page, f"{kind}-end")
        assert await page.evaluate(overflow) == 0
