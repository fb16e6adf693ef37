"""Skills and servers of tools in the page: read first, then enabled as they were shown, and no
other.
"""

import json
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.bot.tools.mcp.servers import Orders
from tests.browser.opening import BROWSER, opened
from tests.browser.real import QUIET, real_bot
from tests.by_night import by_night
from tests.emulators.mcp_server import tool

pytestmark = BROWSER
SKILL = (
    "---\nname: tea\ndescription: How to make tea.\n---\nBoil water. <b>See</b> "
    "https://tea.example.org\n"
)


@by_night
async def test_a_skill_and_a_server_are_read_and_switched_on(
    chromium: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "workspace" / "skills" / "tea"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    orders = Orders(
        tmp_path / "server",
        [tool("echo", "Says <i>it</i> again.", words={"type": "string"}), tool("fail")],
    )
    async with (
        real_bot(
            tmp_path, lambda asked: "yes", settings={**QUIET, "mcp": {"files": orders.settings}}
        ) as real,
        real.site.client() as api,
        opened(chromium, real.site, "/tools", ready=".chips") as page,
    ):
        await page.click(".chips >> text=Skills")
        await page.click("text=Show it")
        await expect(page.locator("pre").first).to_contain_text("Hosts it names: tea.example.org")
        await expect(page.locator("pre").nth(1)).to_contain_text("Boil water. <b>See</b>")
        shown = (await api.get("/api/v1/skills/tea")).json()["sha256"]
        stale = await api.post("/api/v1/skills/tea", json={"on": True, "sha256": "0" * 64})
        assert (stale.status_code, stale.json()["error"]["code"]) == (409, "changed")
        await page.get_by_role("button", name="Switch on").click()
        await expect(page.get_by_role("button", name="Switch off")).to_be_visible()
        assert [(skill.name, skill.sha256) for skill in real.bot.skills.library.enabled("")] == [
            ("tea", shown)
        ]

        await page.goto(real.site.base + "/mcp")
        await expect(page.locator(".server")).to_contain_text("the model is offered none")
        await page.get_by_role("button", name="Start and list").click()
        echo = page.locator(".server li", has_text="echo")
        await expect(echo).to_contain_text("Says <i>it</i> again.", timeout=20_000)
        await expect(echo).to_contain_text("not been reviewed")
        await echo.get_by_label("ask every time").check()
        await page.get_by_role("button", name="Store the review").click()
        await expect(echo).to_contain_text("unchanged since the review")
        assert [tool.spec.name for tool in real.bot.mcp_tools.offered("")] == ["files__echo"]

        server = (await api.get("/api/v1/mcp")).json()["items"][0]
        choices = [{"name": "echo", "sha256": "0" * 64, "mode": "run", "effect": "pure"}]
        body = {"source": server["source"], "choices": choices}
        assert (await api.post("/api/v1/mcp/files/review", json=body)).status_code == 409
        assert (
            await api.post("/api/v1/mcp/files/review", json={**body, "source": "x"})
        ).status_code == 409
        assert json.loads((tmp_path / "config.json").read_text())["mcp"] == {
            "files": orders.settings
        }
