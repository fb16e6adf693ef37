"""The list of conversations over a real socket: its pages, its changes, one stream for all that a
tab follows.
"""

import json
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest

from channels.web.backend import ConversationChanges, ConversationEntry
from channels.web.events import list_changes
from tests.channels.web.server import ONE, ScriptedBot, running
from tests.channels.web.streams import sent_events


def conversation(name: str, seconds: float = 0.0, turns: int = 0) -> ConversationEntry:
    return ConversationEntry(
        id=name, title=name, channel="web", updated=ONE + timedelta(seconds=seconds), turns=turns
    )


async def pages(client: httpx.AsyncClient, limit: int) -> list[list[str]]:
    found, cursor = [], ""
    while True:
        told = (
            await client.get("/api/conversations", params={"limit": limit, "cursor": cursor})
        ).json()
        found.append([one["id"] for one in told["conversations"]])
        if not (cursor := told["next"]):
            return found


async def test_the_list_is_read_page_by_page_to_its_end() -> None:
    bot = ScriptedBot()
    for number in range(219):
        bot.add(f"c{number:03d}", "user", "hello")
    bot.channels = {"c000": "telegram", "c010": "telegram"}
    async with running(bot) as site, site.client() as client:
        whole = (await client.get("/api/conversations")).json()
        assert len(whole["conversations"]) == 200
        read = await pages(client, 50)
        assert [len(page) for page in read] == [50, 50, 50, 50, 19]
        assert [name for page in read for name in page] == [
            f"c{number:03d}" for number in range(218, -1, -1)
        ]
        rest = (await client.get("/api/conversations", params={"cursor": whole["next"]})).json()
        assert [one["channel"] for one in rest["conversations"]].count("telegram") == 2
        assert rest["next"] is None
        assert (
            len((await client.get("/api/conversations?limit=201")).json()["conversations"]) == 200
        )
        strange = await client.get("/api/conversations?cursor=nothing")
        assert (strange.status_code, strange.json()["error"]["code"]) == (400, "cursor")


async def test_one_conversation_is_looked_up_without_its_words_and_opened_by_a_press() -> None:
    bot = ScriptedBot()
    bot.add("c1", "user", "hello")
    bot.add("ann", "user", "a secret")
    bot.whose = {"ann": "other"}
    async with running(bot) as site, site.client() as client:
        found = (await client.get("/api/conversations/ann")).json()
        assert (found["id"], found["whose"]) == ("ann", "other")
        assert (await client.get("/api/conversations/nobody")).status_code == 404
        assert (await client.post("/api/conversations/nobody/open", json={})).status_code == 404
        assert (await client.get("/api/conversations?own=1")).json()["conversations"][0][
            "id"
        ] == "c1"
        assert bot.read == []
        assert (await client.post("/api/conversations/ann/open", json={})).status_code == 200
        assert bot.read == [("ann", "token", True)]


async def test_one_stream_brings_the_conversation_and_what_moves_in_the_list() -> None:
    bot = ScriptedBot()
    bot.add("c1", "user", "hello")
    async with (
        running(bot) as site,
        site.client() as client,
        aclosing(sent_events(client, "/api/events?conversation=c1&after=1")) as stream,
    ):
        first = await anext(stream)
        assert (first["event"], json.loads(first["data"])["id"]) == ("conversation", "c1")
        assert "id" not in first
        bot.add("ann", "user", "from a telephone")
        moved = await anext(stream)
        assert (moved["event"], json.loads(moved["data"])["id"]) == ("conversation", "ann")
        await bot.reply("c1", "c1-1", "an answer")
        both = {(told := await anext(stream))["event"]: told for _ in range(2)}
        assert both["reply"]["id"] == "2"
        assert json.loads(both["conversation"]["data"])["turns"] == 1


async def test_a_stream_of_the_list_alone_ends_with_the_server() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        async with client.stream("GET", "/api/events") as answer:
            rows = answer.aiter_lines()
            assert await anext(rows) == "retry: 1000"
            site.web.hub.close()
            async for _ in rows:
                pass
        assert (await client.get("/api/events?conversation=nobody")).status_code == 404


@dataclass
class Looks:
    """What each look at the list finds. asked: (since, limit) of each."""

    found: list[ConversationChanges | None]
    asked: list[tuple[float, int]] = field(default_factory=list)

    async def changed(self, since: float, limit: int) -> ConversationChanges | None:
        self.asked.append((since, limit))
        return self.found[len(self.asked) - 1]

    async def frames(self) -> list[bytes]:
        stream = list_changes(self.changed, lambda: len(self.asked) == len(self.found), pause=0)
        return [frame async for frame in stream if frame and not frame.startswith(b"retry")]


def look(at: float, *found: ConversationEntry) -> ConversationChanges:
    return ConversationChanges(at=at, conversations=found)


def ids(frames: list[bytes]) -> list[Any]:
    return [json.loads(frame.split(b"data: ")[1]).get("id", "reset") for frame in frames]


async def test_a_poll_reads_only_new_changes_and_sends_each_once() -> None:
    a, b = conversation("a", 1), conversation("b", 2)
    again = conversation("a", 9, turns=1)
    looks = Looks([look(100.0), look(101.0, b, a), None, look(103.0, again, b)])
    assert ids(await looks.frames()) == ["a", "b", "a"]
    assert [since for since, _ in looks.asked] == [float("inf"), 95.0, 96.0, 96.0]
    assert {limit for _, limit in looks.asked} == {200}


async def test_each_deletion_is_a_reset_once() -> None:
    first, both = (
        ConversationChanges(at=at, conversations=(), deletions=acts)
        for at, acts in ((2.0, [7]), (3.0, [7, 9]))
    )
    frames = await Looks([look(1.0), first, first, both, look(9.0)]).frames()
    assert ids(frames) == ["reset", "reset"]


@pytest.mark.parametrize(("count", "told"), [(199, 199), (200, 1)])
async def test_too_many_changes_for_one_poll_are_a_reset(count: int, told: int) -> None:
    many = [conversation(f"c{number}") for number in range(count)]
    frames = await Looks([look(1.0), look(2.0, *many), look(3.0, *many)]).frames()
    assert len(frames) == told
    assert (frames == [b"event: reset\ndata: {}\n\n"]) == (told == 1)
