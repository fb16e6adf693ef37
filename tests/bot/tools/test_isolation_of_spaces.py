"""What one person has fetched, set, delegated and written reaches nobody else, and `/forget` leaves
no byte of it.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer, ScriptedModel
from bot.runtime.cluster.open import build_cluster_bot
from channels.testing import ScriptedChannel
from memory.conversation import ToolCall
from tests.bot.inside import TERMINAL, Inside, inside
from tests.bot.talk import call, results
from tests.emulators.pages import PageServer, serving
from tests.postgres import LEASE_SECONDS, fresh, made  # noqa: F401  fixtures

CANARY = "zanzibar7"
TOLD = f"the lighthouse opens with {CANARY}"
TABLES = "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'"


class Model:
    """Makes the calls that a test has put into `next`, one a step, and then says so."""

    def __init__(self) -> None:
        self.next: list[ToolCall] = []

    def __call__(self, request: Request) -> ScriptedAnswer:
        if request.purpose != "turn":
            return "[]"
        return self.next.pop(0) if self.next else "done"


class Person:
    """Somebody's private chat."""

    def __init__(self, it: Inside, model: Model, sender: str) -> None:
        self._it, self._model, self._sender = it, model, sender

    async def say(self, text: str, *calls: ToolCall) -> str:
        """Write something, in whose turn these calls are made; the answer."""
        self._model.next = list(calls)
        return await self._it.text(text, chat=self._sender, sender=self._sender)


@asynccontextmanager
async def shared(
    folder: Path, url: str, script: Model, settings: dict[str, Any]
) -> AsyncIterator[Inside]:
    """The same as `inside` on PostgreSQL."""
    home = HomeFolder(root=folder)
    home.ensure()
    home.config.write_text(
        json.dumps(
            {**settings, "database_url": url.replace("postgresql:", "postgresql+psycopg:", 1)}
        )
    )
    home.config.chmod(0o600)
    file = ConfigFile(home.config)
    file.load()
    channel, model = (
        ScriptedChannel(name="telegram", account="bot", capabilities=TERMINAL),
        ScriptedModel(script),
    )
    bot = await build_cluster_bot(home, file, "all", LEASE_SECONDS)
    try:
        await bot.open([channel], model)
        yield Inside(bot=bot, channel=channel, model=model)
    finally:
        await bot.close(patience=1.0)


def bytes_with(folder: Path, url: str) -> list[str]:
    """The files, and the tables of the database at this address, that hold the canary."""
    found = [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and CANARY.encode() in path.read_bytes()
    ]
    if url:
        with psycopg.connect(url) as held:
            for (table,) in held.execute(TABLES).fetchall():
                text = " ".join(
                    row[0] for row in held.execute(f"SELECT t::text FROM {table} AS t").fetchall()
                )
                found += [table] if CANARY in text or CANARY.encode().hex() in text else []
    return found


def pages_of(pages: PageServer, text: str) -> str:
    pages.page("/light", f"<title>Lights</title><p>{text}</p>")
    return pages.url("/light")


async def live(it: Inside, model: Model, pages: PageServer, folder: Path, url: str) -> None:
    """One person leaves the canary everywhere; another one looks for it; then it is forgotten."""
    ann, ben = Person(it, model, "7"), Person(it, model, "8")
    it.bot.web_tools.pause_seconds = 0.0
    address = pages_of(pages, TOLD)
    await ann.say(f"read {address}", call("web_fetch", "a1", url=address))
    await ann.say(f"/remind 30d {TOLD}")
    written = call("write_file", "a2", path="notes.md", content=f"# Lights\n\n{TOLD}\n")
    await ann.say(
        "note it, then blank it",
        written,
        call("edit_file", "a3", path="notes.md", old=TOLD, new="gone"),
        call("delegate", "a4", tasks=[{"goal": f"ponder that {TOLD}"}]),
    )
    await it.bot.settled()
    assert await it.bot.store.jobs.open_jobs("telegram-7")
    assert "lighthouse" in await ann.say("/tasks")
    before, seen = len(it.model.requests), len(pages.seen)
    pages_of(pages, "Nothing here.")
    calls = [
        call("web_fetch", "b1", url=address),
        call("memory_search", "b2", query="how does the lighthouse open"),
        call("find_files", "b3", glob="**/*"),
        call("search_files", "b4", pattern="lighthouse|zanzi.*"),
        call("list_files", "b5"),
        call("file_history", "b6", path="notes.md"),
        call("restore_file", "b7", path="notes.md", version="1"),
        call("read_file", "b8", path="../telegram-7/notes.md"),
        call("reminders", "b9"),
        call("recall", "b10", handle="w1"),
        call("recall", "b11", turn=1),
    ]
    shown = [await ben.say(f"look everywhere, and at {address}", *calls)]
    shown += [
        await ben.say(text)
        for text in ("/tasks", "/tasks r1", "/memory", "/memory search lighthouse", "/approvals")
    ]
    shown.append(await ben.say("/forget lighthouse opens"))
    assert len(pages.seen) == seen + 1, "the page of another space is not shown, it is asked for"
    theirs = it.model.requests[before:]
    assert len(results(theirs[-1])) == len(calls)
    assert CANARY not in repr(theirs)
    assert CANARY not in "".join(shown)
    assert bytes_with(folder, url), "so the look for it finds it"
    found = re.search(r"/forget yes ([A-Z0-9]{4}-[A-Z0-9]{4})", await ann.say(f"/forget {CANARY}"))
    assert found
    receipt = await ann.say(f"/forget yes {found[1]}")
    assert receipt.startswith("**Forgotten.**")
    await it.bot.settled()
    assert bytes_with(folder, url) == []
    await ann.say(f"read {address} again", call("web_fetch", "a9", url=address))
    assert len(pages.seen) == seen + 2, "nor is it in the cache any more"
    assert CANARY not in repr(it.model.requests[-2:])


def settings_for(pages: PageServer) -> dict[str, Any]:
    return {
        "language": "en",
        "memory": {"extract": False},
        "channels": {
            "telegram": {"owners": ["boss"], "allow": ["7", "8"]},
            "web": {"enabled": False},
        },
        "tools": {"web": {"allow": [pages.pair]}},
        "delegate": {"enabled": True},
    }


async def test_what_one_person_left_is_nobody_elses_and_goes_without_a_trace(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model, channel = Model(), ScriptedChannel(name="telegram", account="bot", capabilities=TERMINAL)
    async with serving() as pages, inside(tmp_path, model, settings_for(pages), channel) as it:
        await live(it, model, pages, tmp_path, "")
    assert bytes_with(tmp_path, "") == []
    assert CANARY not in "".join(capfd.readouterr()), "nor was it logged"


@pytest.mark.postgres
async def test_the_same_on_postgresql(
    tmp_path: Path,
    fresh: str,  # noqa: F811
    capfd: pytest.CaptureFixture[str],  # noqa: F811, RUF100
) -> None:  # noqa: F811, RUF100
    model = Model()
    async with serving() as pages, shared(tmp_path, fresh, model, settings_for(pages)) as it:
        await live(it, model, pages, tmp_path, fresh)
    assert CANARY not in "".join(capfd.readouterr())
