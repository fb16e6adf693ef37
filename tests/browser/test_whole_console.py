"""A night's walk through the page over a real process, its model and Telegram: failures, kills, and
who may come in.
"""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, ViewportSize, expect

from tests.browser.hands import Finger, Hand, Keyboard
from tests.browser.opening import BROWSER, DESKTOP, PHONE, write
from tests.by_night import by_night
from tests.emulators.ilink import IlinkEmulator
from tests.emulators.model_replies import Reply
from tests.emulators.telegram import TOKEN, TelegramEmulator
from tests.walk.channel_worlds import free_port
from tests.walk.harness import FRIEND, OWNER, Bot, Scene, scene, until
from tests.walk.record import query
from tests.walk.speech import answer

pytestmark = [*BROWSER, by_night, pytest.mark.kill]
MANY = 20
PATIENCE = 30_000.0  # ms; the page looks at channels every two seconds, and the machine may be busy
NOTHING: Mapping[str, Any] = MappingProxyType({})
LONG_ANSWER = "\n\n".join(f"Paragraph {number}: {'word ' * 60}" for number in range(12))
HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script> [a](javascript:alert(3)) "
    "![](https://evil.example/p.png)"
)


@dataclass
class Walk:
    talk: Scene
    telegram: TelegramEmulator
    page: Page
    base: str

    @property
    def bot(self) -> Bot:
        return self.talk.bot

    async def sign_in(self, page: Page) -> None:
        await page.fill("#token", (self.bot.home / "data/web_token").read_text().strip())
        await page.press("#token", "Enter")

    def audited(self, action: str) -> int:
        [(count,)] = query(self.bot.db, "SELECT count(*) FROM audit WHERE action = ?", action)
        return int(count)


@asynccontextmanager
async def walking(
    chromium: Browser,
    home: Path,
    *,
    phone: bool = False,
    settings: Mapping[str, Any] = NOTHING,
    **channels: Any,
) -> AsyncIterator[Walk]:
    """The page of a bot that runs, signed in; nothing went wrong in it and nothing strange was
    asked for.

    channels: their settings, None for one that is not set up.
    """
    wrong: list[str] = []
    async with TelegramEmulator() as telegram, scene(home, telegram_url=telegram.url) as talk:
        written = json.loads(talk.bot.config.read_text()) | dict(settings)
        port = written["channels"]["web"]["port"] = free_port()
        wanted = {**written["channels"], **channels}
        written["channels"] = {
            name: section for name, section in wanted.items() if section is not None
        }
        talk.bot.config.write_text(json.dumps(written))
        talk.model.responder = answer
        await talk.bot.start()
        base = f"http://127.0.0.1:{port}"
        size: ViewportSize = PHONE if phone else DESKTOP  # type: ignore[assignment]
        context = await chromium.new_context(locale="en-GB", viewport=size, has_touch=phone)
        page = await context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "console",
            lambda said: (
                wrong.append(said.text) if "Content Security Policy" in said.text else None
            ),
        )
        page.on(
            "request",
            lambda asked: (
                None if asked.url.startswith((base, "data:", "blob:")) else wrong.append(asked.url)
            ),
        )
        walk = Walk(talk, telegram, page, base)
        await page.goto(base)
        await walk.sign_in(page)
        await page.wait_for_selector("#text:not([disabled])")
        yield walk
        await context.close()
    assert wrong == []


@pytest_asyncio.fixture(loop_scope="session")
async def walk(chromium: Browser, tmp_path: Path) -> AsyncIterator[Walk]:
    async with walking(chromium, tmp_path / "home") as one:
        yield one


async def test_after_529_the_head_is_quiet_and_retry_answers_and_the_end_of_long_answers_is_in_view(
    walk: Walk,
) -> None:
    page, model = walk.page, walk.talk.model
    model.script([Reply(status=529, error="overloaded_error", message="Overloaded")] * 12)
    await write(page, "«a» hello")
    await expect(page.locator(".line.notice")).to_have_count(1, timeout=60_000)
    await expect(page.locator("#link")).to_have_text("")
    model.reset()
    await page.click(".retry")
    await expect(page.locator(".line.assistant:not(.draft) .words").last).to_contain_text(
        "«a»", timeout=60_000
    )
    await page.goto(f"{walk.base}/c/long")
    await page.wait_for_selector("#text:not([disabled])")
    for number in range(MANY):
        model.script([Reply(text=LONG_ANSWER, delta=300)])
        await write(page, f"question {number}")
        await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(number + 1)
        end = page.locator(".line.assistant:not(.draft) .words > :last-child").last
        await expect(end).to_be_in_viewport()
    await page.mouse.move(640, 400)
    await page.mouse.wheel(0, -3_000)
    top = page.locator(".line.user .plain").filter(has_text="question 17")
    await top.scroll_into_view_if_needed()
    before = await top.bounding_box()
    await walk.talk.say("long", "«b» from elsewhere")
    after = await top.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["y"] - after["y"]) < 2


async def test_a_kill_in_the_middle_of_an_answer_and_of_a_settings_diff_loses_nothing_that_was_typed(  # noqa: E501
    walk: Walk,
) -> None:
    page, bot, model = walk.page, walk.bot, walk.talk.model
    settings = await page.context.new_page()
    settings.set_default_timeout(20_000)
    await settings.goto(f"{walk.base}/settings/general")
    box = settings.locator("#value-concurrency")
    await expect(box).to_have_value("64")
    await box.fill("33")
    await expect(box).to_have_value("33")
    await settings.get_by_role("button", name="Review").click()
    await expect(settings.get_by_role("dialog")).to_contain_text("33")

    model.script([Reply(text="half of it and more", delta=4, then="stall", after=3)])
    await write(page, "«k» a question")
    await expect(page.locator(".draft .words")).to_contain_text("half", timeout=PATIENCE)
    await page.fill("#text", "not sent yet")
    await bot.kill()
    await expect(page.locator("#link")).not_to_have_text("", timeout=PATIENCE)
    model.reset()
    await bot.start()
    await page.wait_for_selector("#token")
    await walk.sign_in(page)
    await expect(page.locator("#text")).to_have_value("not sent yet", timeout=PATIENCE)
    await expect(page.locator(".line.assistant:not(.draft) .words")).to_contain_text(
        "«k»", timeout=PATIENCE
    )
    await expect(page.locator(".line.user")).to_have_count(1)
    await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(1)

    await settings.wait_for_selector("#token, #value-concurrency")
    if await settings.locator("#token").count():
        await walk.sign_in(settings)
    await expect(settings.locator("#value-concurrency")).to_have_value("33")
    # it stays open where this page saw no end of the login
    if not await settings.get_by_role("dialog").count():
        await settings.get_by_role("button", name="Review").click()
    await settings.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(settings.locator(".save")).to_have_count(0)
    assert json.loads(bot.config.read_text())["concurrency"] == 33


async def test_a_message_in_telegram_moves_the_list_within_a_second_and_reading_it_is_audited_once(
    walk: Walk,
) -> None:
    page, telegram = walk.page, walk.telegram
    telegram.inject("«o» from my telephone", user=int(OWNER))
    mine = page.locator("#list .entry", has_text="from my telephone")
    await expect(mine).to_have_count(1)
    telegram.inject(f"«f» {HOSTILE}", user=int(FRIEND))
    friend = page.locator("#list .entry", has_text=f"Chat of {FRIEND}")
    await expect(friend).to_have_count(1)
    unread = friend.locator(".unread")
    await expect(unread).to_be_visible()
    await expect(
        page.locator(".place:has-text('from my telephone') ~ .place:has-text('Chat of')")
    ).to_have_count(0)
    stored = "SELECT count(*) FROM inbox"
    before = query(walk.bot.db, stored)
    telegram.inject("«o2» once more", user=int(OWNER))
    await until(lambda: query(walk.bot.db, stored) != before, "the message is stored")
    await expect(
        page.locator(".place:has-text('from my telephone') ~ .place:has-text('Chat of')")
    ).to_have_count(1, timeout=1_000)
    assert walk.audited("chat.read.other") == 0
    await friend.click()
    await page.click(".hello .primary")
    await expect(page.locator(".line.user .plain").first).to_contain_text(
        "<script>alert(2)</script>"
    )
    assert walk.audited("chat.read.other") == 1
    assert await page.locator(".line.user img, .line.user script").count() == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 400),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({}, 403),
    ],
)
async def test_of_another_host_origin_or_site_nothing_is_taken(
    walk: Walk, headers: dict[str, str], status: int
) -> None:
    [cookie] = await walk.page.context.cookies()
    csrf = await walk.page.evaluate(
        "() => fetch('/api/v1/session').then((answer) => answer.json()).then((it) => it.csrf)"
    )
    own = {
        "cookie": f"{cookie['name']}={cookie['value']}",
        "content-type": "application/json",
        "x-csrf-token": csrf,
    }
    if "origin" not in headers and headers:
        own["origin"] = walk.base
    async with httpx.AsyncClient(base_url=walk.base) as client:
        body = {"conversation": "c9", "text": "no", "key": "k"}
        answered = await client.post("/api/v1/messages", json=body, headers={**own, **headers})
    assert answered.status_code == status
    assert query(walk.bot.db, "SELECT count(*) FROM inbox") == [(0,)]


@pytest.mark.parametrize("way", [Keyboard, Finger])
async def test_wechat_is_logged_in_by_a_code_that_expires_and_by_digits(
    chromium: Browser, tmp_path: Path, way: type[Hand]
) -> None:
    async with IlinkEmulator() as wechat:
        own = {"enabled": True, "base_url": wechat.url, "cdn_url": wechat.cdn_url}
        async with walking(chromium, tmp_path / "home", phone=way.phone, wechat=own) as walk:
            page, world, hand = walk.page, wechat.world, way(walk.page)
            world.knobs.digits, world.knobs.hold = "4711", 1.0
            await hand.visit("channels")
            card = page.get_by_role("region", name="wechat")
            code, box, digits = (
                card.locator(".qr"),
                card.locator(".login-box"),
                card.get_by_role("textbox"),
            )
            await expect(card.get_by_role("timer")).to_contain_text(
                "A new code will appear in", timeout=PATIENCE
            )
            first = str(await code.get_attribute("src"))
            world.expire()
            await expect(code).not_to_have_attribute("src", first, timeout=PATIENCE)
            await hand.press(card.get_by_role("button", name="Show the code larger"))
            await hand.press(page.get_by_role("dialog").get_by_role("button", name="Close"))
            world.scan()
            await expect(digits).to_be_visible(timeout=PATIENCE)
            await hand.write(digits, "1234")
            await hand.press(card.get_by_role("button", name="Send"))
            await expect(box).to_contain_text("wrong", timeout=PATIENCE)
            await hand.write(digits, "4711")
            await hand.press(card.get_by_role("button", name="Send"))
            await expect(box).to_contain_text("confirm it on your phone", timeout=PATIENCE)
            world.confirm()
            await expect(box).to_contain_text("Confirmed: logged in.", timeout=PATIENCE)
            await expect(card.locator(".mood")).to_have_text("connected", timeout=PATIENCE)


@pytest.mark.parametrize("way", [Keyboard, Finger])
async def test_telegram_is_set_up_and_a_stranger_let_in_limited_and_shut_out(
    chromium: Browser, tmp_path: Path, way: type[Hand]
) -> None:
    async with walking(chromium, tmp_path / "home", phone=way.phone, telegram=None) as walk:
        page, telegram, hand = walk.page, walk.telegram, way(walk.page)
        telegram.chat(int(OWNER))

        def field(name: str) -> Locator:
            return page.locator(f"[id='value-channels.telegram.{name}']")

        async def told(step: str, words: str) -> None:
            await hand.press(page.get_by_role("button", name="Test"))
            await expect(page.locator(f"[data-step={step}]")).to_contain_text(
                words, timeout=PATIENCE
            )

        await hand.visit("channels")
        await hand.press(page.locator("a[href='/channels/telegram/setup']"))
        await hand.press(page.locator("summary"))
        await hand.write(field("base_url"), telegram.url)
        await hand.write(field("owners"), OWNER)
        await hand.write(field("token"), "100:wrong-secret-of-the-lab")
        await told("credentials", "The token is refused")
        await hand.write(field("token"), TOKEN)
        await hand.write(field("proxy"), f"http://127.0.0.1:{free_port()}")
        await told("address", "✗ failed")
        await hand.write(field("proxy"), "")
        telegram.methods.webhook = "https://other.example.org/hook"
        await told("webhook", "other.example.org")
        telegram.methods.webhook = ""
        await hand.press(page.get_by_role("button", name="Test"))
        await expect(page.locator("[data-step=message]")).to_contain_text(
            "passed", timeout=PATIENCE
        )
        await hand.press(page.get_by_role("button", name="Save and start"))
        await expect(page.locator("main .mood")).to_have_text("connected", timeout=PATIENCE)

        async def answers(user: str, text: str, wanted: str) -> str:
            seen = len(telegram.sent(int(user)))
            telegram.inject(text, user=int(user))
            await telegram.until(
                lambda: any(wanted in one.text for one in telegram.sent(int(user))[seen:])
            )
            return next(one.text for one in telegram.sent(int(user))[seen:] if wanted in one.text)

        await answers(OWNER, "«o» hello", "re «o»")
        pairing = await answers("9009", "let me in", "-")
        [code] = re.findall(r"\b[A-Z0-9]{4}-[A-Z0-9]{4}\b", pairing)
        await hand.visit("people")
        await hand.write(page.locator(".asking input"), code)
        await hand.press(page.locator(".asking button[type=submit]"))
        await expect(page.locator(".person", has_text="9009")).to_be_visible(timeout=PATIENCE)
        await answers("9009", "«s1» hello", "re «s1»")
        await hand.press(page.locator(".person", has_text="9009").get_by_role("link"))
        await hand.write(page.get_by_role("textbox", name="Messages", exact=True), "1")
        await hand.press(page.locator("form .primary"))
        await expect(page.locator(".rows li", has_text="Messages").nth(1)).to_contain_text(
            "/ 1", timeout=PATIENCE
        )
        await answers("9009", "«s2» and again", "used up")
        await hand.press(page.get_by_role("button", name="Revoke"))
        await hand.press(page.get_by_role("dialog").get_by_role("button", name="Revoke"))
        await expect(page.locator("h1")).to_have_text("People", timeout=PATIENCE)
        await expect(page.locator(".person", has_text="9009")).to_have_count(0, timeout=PATIENCE)
