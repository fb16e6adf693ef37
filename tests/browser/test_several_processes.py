"""Two gateways and a worker on PostgreSQL: what is deleted through one process leaves the page of
the other.
"""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, DESKTOP
from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.postgres import fresh, made, needs_postgres  # noqa: F401  fixtures
from tests.walk.harness import FRIEND, until
from tests.walk.processes import several
from tests.walk.speech import answer, asked

pytestmark = [*BROWSER, by_night, pytest.mark.postgres, pytest.mark.kill]
SOON = 2_000.0  # ms from an act in one process to the page of another


async def test_what_one_process_deletes_leaves_the_page_of_another(
    chromium: Browser,
    tmp_path: Path,
    fresh: str,  # noqa: F811
) -> None:
    model = ModelEmulator(responder=answer)
    async with (
        TelegramEmulator() as telegram,
        several(tmp_path, fresh, model, telegram.url) as bots,
    ):
        one, other, _ = await bots.start("gateway", "gateway", "worker")
        await one.web.answer("bread", await one.web.post("bread", f"{asked('own')} of bread"))
        telegram.inject(f"{asked('theirs')} of my bees", user=int(FRIEND))
        await until(lambda: telegram.sent(int(FRIEND)), "the friend is answered")
        context = await chromium.new_context(locale="en-GB", viewport=DESKTOP)  # type: ignore[arg-type]
        page = await context.new_page()
        await page.goto(f"{one.web.url}/c/bread")
        await page.fill("#token", (one.home / "data/web_token").read_text().strip())
        await page.press("#token", "Enter")
        theirs, own = (
            page.locator("#list .entry", has_text=text)
            for text in (f"Chat of {FRIEND}", "of bread")
        )
        await theirs.click()
        await page.click(".hello .primary")
        await expect(page.locator(".line.user")).to_contain_text("of my bees")
        name = page.url.rpartition("/")[2]
        shown = [f"/api/v1/conversations/{name}{part}" for part in ("", "/messages", "/context")]
        assert [(await one.web.ask("GET", path)).status_code for path in shown] == [200] * len(
            shown
        )

        who = f"telegram:{FRIEND}"
        gone = await other.web.ask("POST", f"/api/v1/people/{who}/deletion", json={"name": who})
        assert gone.status_code == 200, gone.text
        await expect(theirs).to_have_count(0, timeout=SOON)
        await expect(page.locator(".line.user")).not_to_contain_text("of my bees", timeout=SOON)
        for bot in (one, other):
            for path in shown:
                answered = await bot.web.ask("GET", path)
                assert (answered.status_code, answered.headers["cache-control"]) == (
                    404,
                    "no-store",
                )
            listed = await bot.web.get("/api/v1/conversations?state=all")
            assert [entry["id"] for entry in listed["items"]] == ["bread"]
            found = await bot.web.get("/api/v1/memory/search?q=bees&everyone=true")
            assert found["items"] == []
        await page.reload()
        await expect(own).to_have_count(1)
        assert page.url.endswith("/c/bread")

        tag = (await other.web.ask("GET", "/api/v1/conversations/bread")).headers["etag"]
        asked_for = await other.web.ask(
            "DELETE", "/api/v1/conversations/bread", headers={"if-match": tag}
        )
        assert asked_for.status_code == 202
        await expect(own).to_have_count(0, timeout=SOON)
        await expect(page.locator(".line")).to_have_count(0, timeout=SOON)
        assert not page.url.endswith("/c/bread")
        assert (
            await other.web.ask("POST", "/api/v1/conversations/bread/restore", json={})
        ).status_code == 200
        await expect(own).to_have_count(1, timeout=SOON)
        await context.close()
