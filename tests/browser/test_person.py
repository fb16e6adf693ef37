"""One person in the page: who they are, what they used, limits of their own, their data, and the end of it."""

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from playwright.async_api import Browser, expect

from memory.store.people.rows import GrantRow, Party
from tests.browser.opening import BROWSER, opened
from tests.browser.real import real_house

pytestmark = BROWSER


async def test_a_person_is_looked_at_limited_exported_and_revoked(chromium: Browser, tmp_path: Path) -> None:
    async with (
        real_house(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/people", ready=".person") as page,
    ):
        party = Party(channel="telegram", account="1", subject="user", id="5007")
        grant = GrantRow(party=party, role="user", group="", name="<b>Bo</b>", by="console", at=real.house.now())
        await real.house.store.access.grant(grant)
        real.telegram.hear("hello there", chat="5007", sender="5007")
        await real.telegram.until(lambda: len(real.telegram.sent) == 1)
        await page.locator(".person", has_text="5007").get_by_role("link").click()
        await expect(page.locator("h1")).to_have_text("telegram:5007")
        await expect(page.locator(".facts")).to_contain_text("<b>Bo</b>")
        await expect(page.locator(".rows li", has_text="Messages").nth(1)).to_contain_text("1 / 500")

        limit = page.get_by_role("textbox", name="Messages", exact=True)
        await limit.fill("3")
        await page.click("form .primary")
        await expect(page.locator(".rows li", has_text="Messages").nth(1)).to_contain_text("1 / 3")
        assert json.loads((tmp_path / "config.json").read_text())["budgets"] == {
            "people": {"telegram:5007": {"messages_per_day": 3}}
        }
        async with page.expect_download() as started:
            await page.click("text=Export data")
        content = Path(await (await started.value).path()).read_bytes()
        export = ZipFile(BytesIO(content))
        assert any(b"hello there" in export.read(name) for name in export.namelist())
        assert len(await real.audited("chat.read.other")) == 1

        await page.click("text=Make admin")
        await expect(page.locator(".facts")).to_contain_text("admin")
        await page.click("main .danger")
        await page.click("dialog .danger")
        await expect(page.locator("h1")).to_have_text("People")
        await expect(page.locator(".person", has_text="5007")).to_have_count(0)
