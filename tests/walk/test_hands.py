"""A person in Telegram has the bot read, search, run, refuse, call a server, follow a skill, remind
and delegate.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.config.home import HomeFolder
from bot.tools.skills.library import EnabledSkill, SkillState, hash_files
from bot.tools.skills.review import read_folder
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.mcp.servers import Orders
from tests.bot.tools.skills.test_skills import skill_folder
from tests.by_night import by_night
from tests.emulators.mcp_server import tool
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply
from tests.emulators.pages import PageServer, serving
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import OWNER, Scene, mnema, scene, until
from tests.walk.record import query
from tests.walk.speech import answer, asked_for, shown

pytestmark = [pytest.mark.kill, by_night, needs_sandbox]
ME = int(OWNER)
BACK_OFFS = 10
HOLD = "ponder at leisure"


def responder(body: dict[str, Any]) -> Reply:
    """As in other walks; a sub-agent that is to ponder takes a minute."""
    newest = body["messages"][-1]
    is_slow = (
        newest["role"] == "user"
        and HOLD in json.dumps(newest)
        and "use delegate" not in json.dumps(newest)
    )
    return Reply(text="at last", wait=60.0) if is_slow else answer(body)


class Person:
    """The owner, in a private chat in Telegram."""

    def __init__(self, telegram: TelegramEmulator, talk: Scene) -> None:
        self.telegram, self.talk = telegram, talk

    def texts(self) -> list[str]:
        return [seen.text for seen in self.telegram.sent(ME)]

    async def sees(self, words: str, seconds: float = 60.0) -> str:
        """Wait until a message holds these words; the newest one."""

        def find() -> str:
            return next((text for text in reversed(self.texts()) if words in text), "")

        try:
            found: str = await until(find, words, seconds)
        except AssertionError as err:
            raise AssertionError(
                f"{err}; seen: {self.texts()[-6:]}; {self.talk.bot.complaints()}"
            ) from None
        return found

    async def asks(self, token: str, called: str, /, **arguments: Any) -> str:
        """Have the model call a tool and answer; what the model was shown last."""
        self.telegram.inject(asked_for(token, called, **arguments), user=ME)
        await self.sees(f"re «{token}»")
        return shown(self.talk.model.requests[-1].body)

    async def presses(self, label: str) -> None:
        """Press the button of the newest question."""

        def find() -> str:
            keys = [seen.keyboard for seen in self.telegram.sent(ME) if seen.keyboard]
            return next((data for text, data in keys[-1] if text == label), "") if keys else ""

        self.telegram.people.press(await until(find, label), user=ME)


@asynccontextmanager
async def living(home: Path) -> AsyncIterator[tuple[Person, Orders, PageServer]]:
    orders = Orders(home / "server", [tool("echo", words={"type": "string"}), tool("die")])
    async with TelegramEmulator() as telegram, serving() as site:
        found = {
            "results": [
                {
                    "title": "Canoes",
                    "url": "https://canoe.example/",
                    "content": "A canoe is a boat.",
                }
            ]
        }
        site.page("/search", json.dumps(found), "application/json")
        site.page(
            "/tea",
            "<html><body><article><p>Green tea wants 70 degrees.</p></article></body></html>",
        )
        tools = {
            "web": {
                "allow": [site.pair],
                "providers": [{"name": "searxng", "base_url": site.url()}],
            },
            "exec": {"enabled": True, "seconds": 20},
        }
        more = {
            "tools": tools,
            "mcp": {"files": orders.settings},
            "delegate": {"enabled": True},
            "provider": "openai",
        }
        async with scene(
            home / "bot", ModelEmulator(responder=responder), telegram.url, **more
        ) as talk:
            await talk.bot.start()
            code, out, err = await mnema(
                talk.bot.home, "mcp", "review", "files", "--run", "echo", "--run", "die"
            )
            assert code == 0, (out, err)
            await talk.bot.term()
            folder = skill_folder(talk.bot.workspace / "skills")
            (folder / "brew.sh").write_text("echo brewed > brewed.txt; cat brewed.txt\n")
            state = SkillState(HomeFolder(root=talk.bot.home).skills_state)
            state.set("tea", EnabledSkill(sha256=hash_files(read_folder(folder))))
            await talk.bot.start()
            yield Person(telegram, talk), orders, site


async def test_a_day_in_telegram(tmp_path: Path) -> None:
    async with living(tmp_path) as (me, orders, site):
        bot = me.talk.bot
        # Read a page, search.
        assert "70 degrees" in await me.asks("page", "web_fetch", url=site.url("/tea"))
        assert "A canoe is a boat." in await me.asks("search", "web_search", query="canoe")
        me.telegram.inject("/new", user=ME)
        # A command runs once it is approved by the button, and not when it is refused.
        await me.asks("run", "exec", argv=["touch", "made.txt"])
        assert not (bot.workspace / "files" / "made.txt").exists()
        await me.presses("Approve")
        await me.sees("Approved and done")
        assert (bot.workspace / "files" / "made.txt").exists()
        await me.asks("no", "exec", argv=["touch", "never.txt"])
        await me.presses("Deny")
        await me.sees("Denied")
        assert not (bot.workspace / "files" / "never.txt").exists()
        # A server of tools is called, and dies in a call.
        assert 'echo: {"words": "hi"}' in await me.asks("echo", "files__echo", words="hi")
        assert "unknown" in await me.asks("die", "files__die")
        assert orders.calls() == ["echo", "die"], "not once more"
        for number in range(BACK_OFFS):  # it is tried again after a pause that grows
            if 'echo: {"words": "ho"}' in await me.asks(
                f"again-{number}", "files__echo", words="ho"
            ):
                break
        else:
            raise AssertionError("the server is not started again")
        # A skill, and its script.
        assert "tea" in await me.asks("skill", "skill", name="tea")
        await me.asks("brew", "exec", argv=["sh", "/w/skills/tea/brew.sh"])
        await me.presses("Approve")
        await me.sees("brewed")
        # Reminders: each Monday at nine, and one in a minute that a kill lies before.
        await me.asks("weekly", "remind", what="浇花", cron="0 9 * * 1", zone="Asia/Shanghai")
        assert "09:00 Asia/Shanghai" in await me.sees("浇花")
        me.telegram.inject("/remind 1m feed the cat", user=ME)
        await until(
            lambda: query(bot.db, "SELECT 1 FROM job WHERE body = 'feed the cat'"),
            "the reminder is stored",
        )
        await bot.kill()
        await asyncio.sleep(1)
        await bot.start()
        due = (
            "SELECT state FROM outbox WHERE source LIKE 'job:%' AND text = '⏰ feed the cat' AND "
            "state = 'sent'"
        )
        await until(lambda: query(bot.db, due), "it is reminded of", 120)
        # Three sub-agents at once, ended by /stop.
        tasks = [{"goal": f"{HOLD}, {name}"} for name in "abc"]
        me.telegram.inject(asked_for("three", "delegate", tasks=tasks), user=ME)
        running = "SELECT 1 FROM background_task WHERE state = 'running'"
        await until(lambda: len(query(bot.db, running)) == 3, "three are at work")
        me.telegram.inject("/stop", user=ME)
        ended = "SELECT 1 FROM background_task WHERE state = 'cancelled'"
        await until(lambda: len(query(bot.db, ended)) == 3, "all three are ended", 10)
        assert query(bot.db, running) == []
        assert len([text for text in me.texts() if text.startswith("⏰ feed the cat")]) == 1
        assert await bot.term() == 0
