"""A model is set up in the page: as the first thing of a new home and in Settings, with each thing
that goes wrong.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from channels.web.auth import FRESH_SECONDS
from tests.browser.faults import check
from tests.browser.opening import BROWSER, opened, show
from tests.browser.real import Real, real_bot
from tests.by_night import first_by_day
from tests.channels.web.server import TOKEN
from tests.emulators.model_host import ModelHost
from tests.emulators.model_replies import Reply
from tests.emulators.personas import OLLAMA, OLLAMA_TOOLS

pytestmark = BROWSER
KEY = "sk-right-0123456789"
MODELS = {"qwen3:8b": 32_768, "llama3.2:3b": 16_384}
NEW_HOME = {"language": "en", "memory": {"extract": False}}
WELCOME = ".kinds .kind"
PATIENCE_MS = 30_000  # for what asks a model, or waits for the settings to be taken up


@asynccontextmanager
async def new_home(folder: Path, **more: Any) -> AsyncIterator[tuple[Real, ModelHost]]:
    """A bot without a model, and a server that has some."""
    async with (
        ModelHost("vllm", MODELS, **{"keys": {KEY}, **more}) as host,
        real_bot(folder, None, settings=NEW_HOME) as real,
    ):
        yield real, host


async def name_server(page: Page, address: str, key: str = KEY) -> None:
    """Choose a server of one's own, and ask for its models."""
    await page.locator("[data-kind=own]").click()
    await page.fill("[name=address]", address)
    await page.fill("[name=key]", key)
    await page.click("text=Show its models")


async def accessible(page: Page) -> None:
    assert await check(page, page.url) == []


def written(folder: Path) -> dict[str, Any]:
    llm: dict[str, Any] = json.loads((folder / "config.json").read_text())["llm"]
    return llm


@pytest.mark.parametrize("phone", first_by_day(1, [False, True]))
async def test_the_first_page_of_a_new_home_leads_to_a_first_answer(
    chromium: Browser, tmp_path: Path, phone: bool
) -> None:
    async with (
        new_home(tmp_path, seeing=frozenset(MODELS)) as (real, host),
        opened(chromium, real.site, "/", ready=WELCOME, phone=phone, dark=phone) as page,
    ):
        await show(page, f"welcome-{phone}")
        await accessible(page)
        await name_server(page, host.base_url)
        await expect(page.locator("[name=model]")).to_be_focused()
        await show(page, f"models-{phone}")
        await page.locator(".models label").first.click()
        await expect(page.locator("[name=model]")).to_have_value("qwen3:8b")
        await page.get_by_role("button", name="Test").click()
        await expect(page.locator("[data-step=tools]")).to_contain_text("✓", timeout=PATIENCE_MS)
        assert "llm" not in json.loads((tmp_path / "config.json").read_text())
        await show(page, f"tested-{phone}")
        await accessible(page)
        await expect(page.get_by_role("button", name="Use this model")).to_be_focused(
            timeout=PATIENCE_MS
        )
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Say hello")).to_be_focused(
            timeout=PATIENCE_MS
        )
        assert written(tmp_path)["model"] == "qwen3:8b"
        await show(page, f"ready-{phone}")
        host.responder = lambda body: Reply(text="Good to meet you.")
        await page.keyboard.press("Enter")
        await expect(page.locator("#text")).to_be_focused()
        await expect(page.locator("#text")).to_have_value("Hello! What can you do for me?")
        await show(page, f"hello-{phone}")
        await page.click("#send")
        await expect(page.locator(".line.assistant .words")).to_have_text(
            "Good to meet you.", timeout=PATIENCE_MS
        )
        card = page.locator("[data-card]")  # Telegram is connected here: only the reminder is left
        await expect(card).to_have_attribute("data-card", "reminder", timeout=PATIENCE_MS)
        await show(page, f"answered-{phone}")
        await accessible(page)
        if phone:
            await card.get_by_role("button", name="Dismiss").click()
        else:
            await card.get_by_role("button", name="Write it for me").click()
            await expect(page.locator("#text")).to_have_value(
                "Remind me in 20 minutes to drink some water."
            )
            await page.fill("#text", "/remind 20m drink water")
            await page.click("#send")
            await expect(page.locator(".line.notice")).to_have_count(1, timeout=PATIENCE_MS)
        await page.goto(real.site.base)
        await expect(page.locator("#text")).to_be_visible(timeout=PATIENCE_MS)
        await page.fill("#text", "hello again")
        await page.click("#send")
        await expect(page.locator(".line.assistant .words")).to_have_count(2, timeout=PATIENCE_MS)
        await expect(card).to_have_count(0, timeout=PATIENCE_MS)


async def test_each_thing_that_goes_wrong_is_a_sentence_and_nothing_is_saved(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        new_home(tmp_path, persona=replace(OLLAMA, window=32_768, without_tools=OLLAMA_TOOLS)) as (
            real,
            host,
        ),
        opened(chromium, real.site, "/settings/model", ready="#in-use") as page,
    ):
        await expect(page.locator("#in-use")).to_contain_text("offline model")
        await page.click("text=Set up a model")
        fault, checks = page.locator(".fault"), page.locator(".findings")
        await name_server(page, "http://127.0.0.1:9/v1")
        await expect(fault).to_contain_text("listens", timeout=PATIENCE_MS)
        await show(page, "nothing-listens")
        await name_server(page, host.base_url, "sk-wrong-0123456789")
        await expect(fault).to_contain_text("key", timeout=PATIENCE_MS)
        await expect(fault.locator("q")).not_to_contain_text("sk-wrong-0123456789")
        await expect(page.locator("[name=key]")).to_be_focused()
        await expect(page.locator("[name=model]")).to_have_count(0)
        await show(page, "wrong-key")
        await name_server(page, host.base_url)
        await page.fill("[name=model]", "qwen9:900b")
        await page.get_by_role("button", name="Test").click()
        await expect(checks.locator(".failed")).to_contain_text("qwen9:900b", timeout=PATIENCE_MS)
        await expect(page.get_by_role("button", name="Use it anyway")).to_be_visible()
        await show(page, "wrong-model")
        await accessible(page)
        await page.fill("[name=model]", "qwen3:8b")
        await expect(checks.locator(".failed")).to_have_count(0)
        await page.get_by_role("button", name="Test").click()
        await expect(checks.locator("[data-step=tools]")).to_contain_text(
            "– no", timeout=PATIENCE_MS
        )
        await show(page, "without-tools")
        assert "llm" not in json.loads((tmp_path / "config.json").read_text())
        await page.get_by_role("button", name="Use this model").click()
        await expect(page.locator("#in-use")).to_contain_text("qwen3:8b", timeout=PATIENCE_MS)
        await show(page, "in-use")


async def test_a_chain_is_added_ordered_and_shortened_with_keys_that_stay(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        new_home(tmp_path) as (real, host),
        opened(chromium, real.site, "/settings/model", ready="#in-use") as page,
    ):
        add = page.get_by_role("button", name="Add a model")
        await page.click("text=Set up a model")
        await set_up(page, host, "qwen3:8b", "Use this model")
        for model in ("llama3.2:3b", "qwen3:8b"):
            await add.click()
            await set_up(page, host, model, "Add as fallback", key="")
            await expect(page.locator("#chain li").last).to_contain_text(model, timeout=PATIENCE_MS)
        await show(page, "chain")
        await accessible(page)
        real.bot.file.patch({"llm": {"background": "idle", "fast_model": "llama3.2:3b"}})
        before = written(tmp_path)
        await page.get_by_role("button", name="Move qwen3:8b up").click()
        await expect(page.locator("#chain li").first).to_contain_text(
            "qwen3:8b", timeout=PATIENCE_MS
        )
        kept = [(item["model"], item["api_key"]) for item in written(tmp_path)["fallback"]]
        assert kept == [("qwen3:8b", KEY), ("llama3.2:3b", KEY)]
        await page.get_by_role("button", name="Remove llama3.2:3b").click()
        await expect(page.locator("#chain li")).to_have_count(1, timeout=PATIENCE_MS)
        assert {**written(tmp_path), "fallback": []} == {**before, "fallback": []}


async def set_up(page: Page, host: ModelHost, model: str, verb: str, key: str = KEY) -> None:
    """Go through the wizard that is open."""
    await name_server(page, host.base_url, key)
    await page.fill("[name=model]", model)
    await page.get_by_role("button", name="Test").click()
    await page.get_by_role("button", name=verb).click()
    await expect(page.locator(".kinds")).to_have_count(0, timeout=PATIENCE_MS)


async def test_not_now_leads_to_the_chat_and_is_remembered(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, None, settings={**NEW_HOME, "language": "zh"}) as real,
        opened(chromium, real.site, "/", ready=WELCOME, locale="zh-CN", dark=True) as page,
    ):
        await show(page, "welcome-zh")
        await page.click("text=以后再说")
        await expect(page.locator(".hello .key a")).to_have_attribute("href", "/settings/model")
        await show(page, "hello-zh")
        await page.goto(real.site.base)
        await expect(page.locator(".hello .key")).to_be_visible()


async def test_an_old_login_is_asked_for_again_before_a_model_is_used(
    chromium: Browser, tmp_path: Path
) -> None:
    now = [0.0]
    async with (
        ModelHost("vllm", MODELS, keys={KEY}) as host,
        real_bot(tmp_path, None, settings=NEW_HOME, login_clock=lambda: now[0]) as real,
        opened(chromium, real.site, "/", ready=WELCOME) as page,
    ):
        await name_server(page, host.base_url)
        await page.fill("[name=model]", "qwen3:8b")
        now[0] = FRESH_SECONDS + 1
        await page.get_by_role("button", name="Test").click()
        await page.get_by_role("button", name="Use this model").click()
        await page.fill("dialog input", TOKEN)
        await page.click("dialog .primary")
        await expect(page.get_by_role("button", name="Say hello")).to_be_focused(
            timeout=PATIENCE_MS
        )
        assert written(tmp_path)["api_key"] == KEY
