"""Reminders, tasks, skills, servers of tools and web search are set up in the page, in both
languages, on a telephone and at a desk.
"""

import json
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from bot.telemetry.version_notice import CHECK_SECONDS, VersionNotice
from tests.browser.faults import check
from tests.browser.opening import BROWSER, in_views, opened, show
from tests.browser.real import QUIET, real_bot
from tests.emulators.mcp_http import http_server
from tests.emulators.mcp_server import tool
from tests.emulators.pages import serving

pytestmark = BROWSER
SKILL = "---\nname: tea\ndescription: How to make tea.\n---\nBoil water.\n"
PATIENCE_MS = 30_000  # for what asks a server
HIT = {"title": "Sunny", "url": "https://weather.example/", "content": "Warm."}


async def look(page: Page, name: str) -> None:
    """Nothing is too wide, and everybody can use it; a picture for people."""
    width = await page.evaluate("[document.body.scrollWidth, innerWidth]")
    assert width[0] <= width[1]
    assert await check(page, page.url) == []
    size = page.viewport_size
    assert size is not None
    lang = await page.evaluate("document.documentElement.lang")
    await show(page, f"{name}-{lang}-{size['width']}")


@in_views("en-GB", phone=True)
async def test_a_reminder_and_a_task_are_set(
    chromium: Browser, tmp_path: Path, locale: str, phone: bool
) -> None:
    async with (
        real_bot(
            tmp_path, lambda asked: "yes", settings={**QUIET, "timezone": "Asia/Shanghai"}
        ) as real,
        opened(chromium, real.site, "/tasks", ready=".acts a", locale=locale, phone=phone) as page,
    ):
        await look(page, "tasks")
        await page.click("a[href='/tasks/reminder']")
        test, end = page.locator("form .acts button[type=submit]"), page.locator("button.primary")
        await page.fill("[name=sentence]", "dance")
        await test.click()
        await expect(page.locator("[role=alert]")).not_to_be_empty()
        await page.fill("[name=sentence]", "每周一上午九点 浇花")
        await test.click()
        await expect(page.locator("[data-step=time-3]")).to_contain_text("Asia/Shanghai")
        await expect(page.locator("[data-step=what]")).to_contain_text("浇花")
        await expect(end).to_be_focused()
        await look(page, "reminder-words")
        assert list(await real.bot.store.jobs.open_jobs("")) == []
        await page.fill("[name=sentence]", "tomorrow at 9 pay the rent")
        await expect(page.locator("[data-step]")).to_have_count(0)
        await test.click()
        await expect(page.locator("[data-step=what]")).to_contain_text("pay the rent")
        await end.click()
        await expect(page.locator("a[href='/tasks/task']")).to_be_visible()
        await expect(page.locator(".rows b")).to_have_text("pay the rent")

        await page.click("a[href='/tasks/task']")
        await page.locator("[data-kind=picked]").click()
        await page.fill("[name=moment]", "2036-12-31T08:15")
        await page.fill("[name=what]", "look up the weather")
        await test.click()
        await expect(page.locator("[role=alert]")).not_to_be_empty()  # more than five years ahead
        await page.fill("[name=moment]", "2028-12-31T08:15")
        await page.select_option("[name=repetition]", "week")
        await test.click()
        await expect(page.locator("[data-step=time-2]")).to_contain_text("2029-01-07")
        await look(page, "task-picked")
        await end.click()
        await expect(page.locator(".rows b")).to_have_count(2)
        rows = await real.bot.store.jobs.open_jobs("")
        assert [row.kind for row in rows] == ["say", "do"]


@in_views("zh-CN", phone=False)
async def test_a_skill_goes_into_review(
    chromium: Browser, tmp_path: Path, locale: str, phone: bool
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/skills", ready=".chips", locale=locale, phone=phone) as page,
    ):
        await page.click("a[href='/tools/skill']")
        files = page.locator("[name=file]")
        await files.set_input_files(
            {"name": "SKILL.md", "mimeType": "text/markdown", "buffer": b"no head"}
        )
        await page.click("form .acts button[type=submit]")
        await expect(page.locator("[role=alert]")).not_to_be_empty()
        await look(page, "skill-refused")
        await files.set_input_files(
            {"name": "SKILL.md", "mimeType": "text/markdown", "buffer": SKILL.encode()}
        )
        await page.click("form .acts button[type=submit]")
        await expect(page.locator("[data-step=contents]")).to_contain_text("How to make tea.")
        await look(page, "skill")
        await page.locator("button.primary").click()
        await expect(page.locator("pre").nth(1)).to_contain_text("Boil water.")
        assert real.bot.skills.library.enabled("") == ()
        await look(page, "skill-review")


@in_views("zh-CN", phone=True)
async def test_a_server_of_tools_is_tried_and_added(
    chromium: Browser, tmp_path: Path, locale: str, phone: bool
) -> None:
    async with (
        http_server([tool("echo"), tool("search")]) as remote,
        real_bot(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/mcp", ready=".chips", locale=locale, phone=phone) as page,
    ):
        await page.click("a[href='/tools/mcp']")
        await page.locator("[data-kind=github]").click()
        await expect(page.locator("form a[target=_blank]")).to_contain_text("github.com")
        await look(page, "mcp-preset")
        await page.locator("[data-kind=own]").click()
        await page.fill("[name=name]", "notes")
        await page.fill("[name=url]", remote.url)
        await page.fill("[name=token]", "token-0123456789")
        await page.check("[name=local]")
        remote.status = 500
        test = page.locator("form .acts button[type=submit]")
        await test.click()
        await expect(page.locator(".findings .failed")).to_be_visible(timeout=PATIENCE_MS)
        await expect(page.locator("button.primary")).to_have_count(1)
        await look(page, "mcp-failed")
        remote.status = 0
        await test.click()
        await expect(page.locator("[data-step=tools]")).to_contain_text(
            "echo, search", timeout=PATIENCE_MS
        )
        assert "mcp" not in json.loads((tmp_path / "config.json").read_text())
        await look(page, "mcp-own")
        await page.locator("button.primary").click()
        await expect(page.locator(".server h2")).to_have_text("notes")
        assert list(json.loads((tmp_path / "config.json").read_text())["mcp"]) == ["notes"]
        assert real.bot.mcp_tools.offered("") == ()
        assert "token-0123456789" not in await page.content()


@in_views("en-GB", phone=False)
async def test_web_search_is_tried_and_used(
    chromium: Browser, tmp_path: Path, locale: str, phone: bool
) -> None:
    async with (
        serving() as engine,
        real_bot(tmp_path, lambda asked: "yes") as real,
        opened(
            chromium, real.site, "/tools", ready=".rows.tools", locale=locale, phone=phone
        ) as page,
    ):
        engine.page("/search", json.dumps({"results": [HIT]}), "application/json")
        sends = page.locator(".tools li", has_text="send_file")
        words = "把文件发到聊天里。" if locale == "zh-CN" else "Sends a file to the chat."
        await expect(sends).to_contain_text(words)
        await look(page, "tools")
        await page.click("a[href='/tools/search']")
        await page.locator("[data-kind=searxng]").click()
        await page.fill("[name=base_url]", "http://127.0.0.1:9")
        test = page.locator("form .acts button[type=submit]")
        await test.click()
        await expect(page.locator(".findings .failed")).to_be_visible(timeout=PATIENCE_MS)
        await page.fill("[name=base_url]", engine.url(""))
        await test.click()
        await expect(page.locator("[data-step=search]")).to_contain_text(
            "Sunny", timeout=PATIENCE_MS
        )
        await look(page, "search")
        await page.locator("button.primary").click()
        await expect(page.locator(".tools li", has_text="web_search")).to_be_visible()
        assert real.bot.config().tools.web.providers[0].name == "searxng"


@in_views("zh-CN", phone=True)
async def test_a_newer_version_that_is_installed_is_told(
    chromium: Browser, tmp_path: Path, locale: str, phone: bool
) -> None:
    installed, now = ["1.0"], [0.0]
    async with real_bot(tmp_path, lambda asked: "yes") as real:
        bot = real.bot
        bot.version_notice = VersionNotice(bot.troubles, lambda: installed[0], lambda: now[0])
        installed[0], now[0] = "1.1", CHECK_SECONDS + 1
        bot.check_files()
        async with opened(
            chromium, real.site, "/health", ready=".verdict", locale=locale, phone=phone
        ) as page:
            note = page.locator(".warn", has_text="1.1")
            await expect(note).to_contain_text("1.0")
            await expect(note).to_contain_text("systemctl restart mnema")
            await look(page, "version")
