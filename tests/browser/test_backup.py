"""Backups in the page: made in one home, checked, uploaded to another one, and restored there."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, Page, expect

from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import QUIET, Real, real_bot
from tests.by_night import by_night

pytestmark = BROWSER
PASSPHRASE = "four words are enough"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@asynccontextmanager
async def started(
    home: Path, settings: dict[str, Any]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """`mnema run` in a home, from its ready line to its end."""
    home.mkdir()
    (home / "config.json").write_text(json.dumps(settings))
    (home / "config.json").chmod(0o600)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "--home", str(home), "run"),
        env={**os.environ, "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        await until_ready(process)
        yield process
    finally:
        process.terminate()
        await process.wait()


async def until_ready(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while not (line := await process.stdout.readline()).startswith(b"ready"):
            assert line, "it ended before it was ready"


async def transcripts(base: str, token: str) -> dict[str, list[tuple[str, str, str]]]:
    """Every conversation with its lines."""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
        rows = (await client.get("/api/v1/conversations")).json()["items"]
        found = {}
        for row in rows:
            lines = (await client.get(f"/api/v1/conversations/{row['id']}/messages")).json()[
                "items"
            ]
            found[row["id"]] = [(line["role"], line["text"], line["at"]) for line in lines]
        return found


async def shown(page: Page) -> list[str]:
    """What each line of the open conversation says."""
    await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(2)
    said = await page.locator(".line .words, .line .plain").all_inner_texts()
    assert len(said) == 4
    return said


async def make(page: Page, real: Real) -> Path:
    """Make an encrypted backup in the page."""
    for text in ("I like tea", "and <b>walks</b>"):
        await write(page, text)
        await expect(page.locator(".line.assistant:not(.draft)").last).to_contain_text(f"re {text}")
    await page.click("#go-backup")
    await page.get_by_label("Encrypt it").check()
    await page.fill("input[autocomplete='new-password']", PASSPHRASE)
    await page.get_by_role("button", name="Make a backup").click()
    await page.wait_for_selector(".backups li", timeout=60_000)
    await page.reload()
    await expect(page.locator(".backups li")).to_contain_text("encrypted")
    async with page.expect_download() as begun:
        await page.get_by_role("link", name="Download").click()
    path = real.bot.home.root.with_name("taken.backup")
    await (await begun.value).save_as(path)
    return path


@by_night
async def test_a_backup_of_the_page_is_restored_elsewhere_with_equal_transcripts(
    chromium: Browser, tmp_path: Path
) -> None:
    port = free_port()
    settings = {**QUIET, "channels": {**QUIET["channels"], "web": {"port": port}}}  # type: ignore[dict-item]
    async with (
        real_bot(
            tmp_path / "old",
            lambda asked: f"re {asked.messages[-1].parts[0].text}",
            settings=settings,
        ) as real,
        opened(chromium, real.site, "/c/c1") as page,
    ):
        file = await make(page, real)
        await page.goto(f"{real.site.base}/c/c1")
        said = await shown(page)
        before = await transcripts(real.site.base, "t0ken-of-at-least-128-random-bits")
        assert [action for _, action in await real.audited("backup")]
    home, base = tmp_path / "new", f"http://127.0.0.1:{port}"
    async with started(home, {"language": "en", "channels": {"web": {"port": port}}}) as process:
        context = await chromium.new_context(locale="en-GB")
        page = await context.new_page()
        page.set_default_timeout(60_000)
        token = (home / "data" / "web_token").read_text().strip()
        await page.goto(f"{base}/backup")
        await page.fill("#token", token)
        await page.press("#token", "Enter")
        await page.set_input_files("input[type=file]", file)
        await page.fill("dialog input[type=password]", PASSPHRASE)
        await page.click("dialog .primary")
        await expect(page.locator(".backups .facts")).to_contain_text(
            "Conversations", timeout=60_000
        )
        await page.get_by_role("button", name="Restore", exact=True).click()
        await page.fill("dialog input[type=password]", PASSPHRASE)
        await page.fill("dialog input:not([type])", "another")
        assert await page.locator("dialog .primary").is_disabled()
        await page.fill("dialog input:not([type])", "new")
        await page.click("dialog .primary")
        await until_ready(process)
        await page.wait_for_selector("#token")  # every login has ended
        new_token = (home / "data" / "web_token").read_text().strip()
        assert new_token != token
        assert await transcripts(base, new_token) == before
        await page.fill("#token", new_token)
        await page.press("#token", "Enter")
        await expect(page.locator(".outcome")).to_contain_text("before-restore")
        await page.goto(f"{base}/c/c1")
        assert await shown(page) == said
        await context.close()
