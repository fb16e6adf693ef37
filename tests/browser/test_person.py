"""One person in the page: who they are, what they used, limits of their own, their data, and the
end of it.
"""

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from playwright.async_api import Browser, expect

from memory.store.people.rows import GrantRow
from memory.store.rows import Party
from tests.browser.faults import check
from tests.browser.opening import BROWSER, opened
from tests.browser.real import ANN, real_bot
from tests.channels.web.server import TOKEN

pytestmark = BROWSER
EVERY_MS = 2_000  # between two looks of the page at its server


async def test_a_person_is_looked_at_limited_exported_and_revoked(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/people", ready=".person", clocked=True) as page,
    ):
        party = Party(channel="telegram", account="1", subject="user", id="5007")
        grant = GrantRow(
            party=party, role="user", group="", name="<b>Bo</b>", by="console", at=real.bot.now()
        )
        await real.bot.store.access.grant(grant)
        real.telegram.hear("hello there", chat="5007", sender="5007")
        await real.telegram.until(lambda: len(real.telegram.sent) == 1)
        await page.clock.run_for(EVERY_MS)
        await page.locator(".person", has_text="5007").get_by_role("link").click()
        await expect(page.locator("h1")).to_have_text("“<b>Bo</b>”")
        await expect(page.locator(".account").first).to_have_text("telegram:5007")
        await expect(page.locator(".facts")).to_contain_text("<b>Bo</b>")
        await expect(page.locator(".rows li", has_text="Messages").nth(1)).to_contain_text(
            "1 / 500"
        )

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
        await page.get_by_role("button", name="Revoke").click()
        await page.click("dialog .danger")
        await expect(page.locator("h1")).to_have_text("People")
        await expect(page.locator(".person", has_text="5007")).to_have_count(0)


async def test_deleting_a_person_shows_what_goes_asks_for_the_name_and_tells_what_went(
    chromium: Browser, tmp_path: Path
) -> None:
    """The login is an hour old, so it is asked for again, and the act goes on by itself."""
    now = [0.0]
    async with (
        real_bot(tmp_path, lambda asked: "yes", login_clock=lambda: now[0]) as real,
        opened(chromium, real.site, "/people/telegram:5006", ready="main .warn, .facts") as page,
    ):
        real.telegram.hear("hello there", chat=ANN, sender=ANN)
        await real.telegram.until(lambda: len(real.telegram.sent) == 1)
        await page.reload()
        now[0] = 3_600.0
        opens = page.get_by_role("button", name="Delete all data…")
        await opens.focus()
        await page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Delete all data of this person?")
        await expect(dialog.locator("dd").first).to_have_text("1")
        await expect(dialog).to_contain_text("channels.telegram.allow")
        assert await check(page, "deletion") == []
        button = dialog.get_by_role("button", name="Delete all data")
        await expect(button).to_be_disabled()
        await dialog.get_by_label("Type telegram:5006 to confirm").fill("telegram:500")
        await expect(button).to_be_disabled()
        await page.keyboard.type("6")
        await page.keyboard.press("Enter")

        again = page.get_by_role("dialog", name="Confirm that it is you")
        await expect(again).to_be_visible()
        assert await check(page, "login again") == []
        await again.get_by_label("Token").fill("wrong")
        await page.keyboard.press("Enter")
        await expect(again.get_by_role("alert")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(dialog.get_by_role("alert")).to_contain_text("fresh login")
        assert len(await real.bot.store.people.load_people()) == 1
        await button.click()
        await again.get_by_label("Token").fill(TOKEN)
        await page.keyboard.press("Enter")

        await expect(page.locator(".receipt")).to_contain_text(
            "All data of telegram:5006 has been deleted"
        )
        await expect(page.locator(".receipt dd").first).to_have_text("1")
        assert await real.bot.store.people.load_people() == []
        assert [actor for actor, _ in await real.audited("person deleted")] == ["console"]
        await page.click("text=People >> nth=-1")
        await expect(page.locator("h1")).to_have_text("People")
