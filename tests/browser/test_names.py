"""People are named as the platform names them, with their id small beside it, and a group's lines
by who wrote them.
"""

from pathlib import Path

from playwright.async_api import Browser, expect

from memory.store.people.rows import GrantRow
from memory.store.rows import Party
from tests.browser.opening import BROWSER, opened, show
from tests.browser.real import ANN, GROUP, real_bot

pytestmark = BROWSER
NAME = "Ann <b>Lee</b>"


async def test_a_person_has_a_name_and_a_group_its_speakers(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real:
        party = Party(channel="telegram", account="1", subject="user", id=ANN)
        await real.bot.store.access.grant(
            GrantRow(party=party, role="user", group="", name=NAME, by="owner", at=real.bot.now())
        )
        for chat, kind in ((ANN, "dm"), (GROUP, "group")):
            asked = real.telegram.hear(
                "hello all", chat=chat, sender=ANN, kind=kind, addressed=True
            )
            await real.telegram.until(
                lambda key=asked.key: any(one.reply_to_key == key for one in real.telegram.sent)
            )
        async with opened(chromium, real.site, "/c", ready="#list .entry") as page:
            person = page.locator("#list .entry", has_text="Chat of")
            await expect(person).to_contain_text(f"Chat of {NAME}")
            await expect(person.locator("small")).to_contain_text(ANN)
            await show(page, "names-list")
            await page.locator("#list .entry", has_text="hello all").click()
            line = page.locator(".line.user")
            await expect(line.locator(".note").first).to_have_text(ANN)
            await show(page, "names-group")
            await page.click("#go-people")
            who = page.locator(".person .who", has_text=NAME)
            await expect(who.locator("b")).to_have_text(f"“{NAME}”")
            await expect(who.locator("small")).to_have_text(f"telegram:{ANN}")
