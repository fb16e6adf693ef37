"""A night's walk: names, files, tools, logs, traces, settings and codes that are HTML are text
wherever they stand.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.opening import BROWSER
from tests.browser.test_whole_console import PATIENCE, walking
from tests.by_night import by_night
from tests.emulators.ilink import IlinkEmulator
from tests.emulators.model_replies import Call, Reply
from tests.walk.harness import FRIEND, until

pytestmark = [*BROWSER, by_night, pytest.mark.kill]
PICTURE = "<img src=x onerror=window.hit=1>"
HOSTILE = (
    f"{PICTURE}<script>window.hit=1</script>[a](javascript:window.hit=1) "
    "![p](https://evil.example/p.png)"
)
STRANGER = 9009
# Elements that a text has made: none of ours has such an address, or a script without one.
MADE = "img[src='x'], img[src^='http'], script:not([src]), a[href^='javascript']"


async def see(page: Page, address: str, *places: str) -> None:
    """The payload stands in each of these places as text, and has made nothing."""
    await page.goto(address)
    for place in places:
        await expect(page.locator(place).filter(has_text=PICTURE).first).to_be_visible(
            timeout=PATIENCE
        )
    assert await page.locator(MADE).count() == 0
    assert await page.evaluate("window.hit") is None


async def test_payloads_are_text_in_every_place(chromium: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with IlinkEmulator() as wechat:
        code: dict[str, Any] = {"ret": 0, "qrcode": "qr-1", "qrcode_img_content": HOSTILE}
        wechat.fault("status", method="get_bot_qrcode", answers=code)
        own = {"enabled": True, "base_url": wechat.url, "cdn_url": wechat.cdn_url}
        async with walking(chromium, home, wechat=own) as walk:
            page, bot, base = walk.page, walk.bot, walk.base
            (bot.workspace / "memory").mkdir(parents=True, exist_ok=True)
            (bot.workspace / f"memory/{PICTURE}.md").write_text(HOSTILE)
            (bot.workspace / "h.md").write_text(HOSTILE)
            for user in (int(FRIEND), STRANGER):
                writer = {"id": user, "is_bot": False, "first_name": PICTURE}
                walk.telegram.inject("«f» hello", user=user, **{"from": writer})
            for user in (int(FRIEND), STRANGER):
                await walk.telegram.until(lambda user=user: walk.telegram.sent(user), 60.0)  # type: ignore[misc]
            read, unknown = (
                Call(name="read_file", input={"path": "h.md"}),
                Call(name="no_such_tool", input={"a": HOSTILE}),
            )
            walk.talk.model.script(
                [Reply(text=HOSTILE, calls=(read, unknown)), Reply(text=HOSTILE)]
            )
            await walk.talk.say("c1", HOSTILE)
            log = next((bot.home / "data").rglob("mnema.log"))
            line = {
                "timestamp": "2026-11-20T09:00:00.000000Z",
                "level": "warning",
                "logger": PICTURE,
                "event": HOSTILE,
                "trace": PICTURE,
            }
            with log.open("a") as file:
                file.write(json.dumps(line) + "\n")

            await see(page, f"{base}/c/c1", ".line.user", ".line.assistant")
            await page.locator(".steps summary, .step summary").first.click()
            await see(page, f"{base}/people", ".request")
            await see(page, f"{base}/people/telegram:{FRIEND}")
            await see(page, f"{base}/memory/files", ".file")
            await page.locator(".file", has_text=PICTURE).click()
            await expect(page.locator("textarea")).to_have_value(HOSTILE)
            await see(page, f"{base}/memory/search?q=javascript", ".result")
            await see(page, f"{base}/health/logs", ".log")
            await see(page, f"{base}/health/traces", ".traces a")
            await see(page, f"{base}/c/c1/trace/newest")
            await see(page, f"{base}/c/c1/context/last", "[data-segment]")
            await see(page, f"{base}/channels")
            await expect(page.locator(".qr")).to_have_js_property(
                "complete", value=True, timeout=PATIENCE
            )

            await page.goto(f"{base}/settings/source")
            area = page.locator("textarea")
            await until(area.input_value, "the text of config.json")
            changed = json.loads(await area.input_value())
            changed["channels"]["telegram"]["allow"].append(PICTURE)
            await area.fill(json.dumps(changed))
            await expect(page.locator("main .primary")).to_be_enabled()
            await page.click("main .primary")
            await see(page, f"{base}/settings/versions", "ins")
            await page.goto(f"{base}/settings/channels.telegram")
            await until(
                page.locator("[id='value-channels.telegram.allow']").input_value, "the list"
            )
            assert (
                PICTURE in await page.locator("[id='value-channels.telegram.allow']").input_value()
            )
