"""The event stream over a real socket: order, resuming, restarts, slow and late readers."""

import asyncio
import socket
from contextlib import aclosing
from typing import get_args

from channels.message import EventName
from tests.channels.web.server import TOKEN, Running, ScriptedBot, running
from tests.channels.web.streams import Event, events, names, until


def replies(count: int):  # type: ignore[no-untyped-def]
    return lambda seen: names(seen).count("reply") == count


async def turn(site: Running, text: str, pieces: int = 3) -> str:
    """Send one message, and stream its reply as the bot does."""
    async with site.client() as client:
        id = (await client.post("/api/messages", json={"conversation": "c1", "text": text})).json()[
            "id"
        ]
    site.bot.show("c1", "started", id, step=1)
    site.bot.show("c1", "tool_started", id, tool="clock")
    site.bot.show("c1", "tool_ended", id, tool="clock")
    for piece in range(pieces):
        site.bot.show("c1", "delta", id, f"{piece},")
    await site.bot.reply("c1", id, f"answer to {text}")
    return str(id)


async def test_the_events_of_a_turn_come_in_order_with_one_message_id() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        await turn(site, "zero")
        async with aclosing(events(client, "c1", last="2")) as stream:
            waiting = asyncio.ensure_future(anext(stream))
            id = await turn(site, "one")
            seen = [await waiting] + [await anext(stream) for _ in range(7)]
    order = [
        "accepted",
        "started",
        "tool_started",
        "tool_ended",
        "delta",
        "delta",
        "delta",
        "reply",
    ]
    assert names(seen) == order
    assert {event.data["message_id"] for event in seen} == {id}
    assert "".join(event.data["text"] for event in seen if event.name == "delta") == "0,1,2,"
    assert seen[-1].data["text"] == "answer to one"
    assert (seen[0].id, seen[-1].id) == ("3", "4")
    assert all(event.id.startswith("3.") for event in seen[1:-1])


async def test_a_new_reader_is_given_the_newest_lines_so_an_answer_that_was_faster_is_seen() -> (
    None
):
    async with (
        running(ScriptedBot(answers=lambda message: "fast")) as site,
        site.client() as client,
    ):
        posted = await client.post("/api/messages", json={"conversation": "c1", "text": "x"})
        seen = await until(client, "c1", replies(1))
    assert seen[-1].data["message_id"] == posted.json()["id"]


async def test_a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        await turn(site, "one")
        first = await until(client, "c1", lambda seen: len(seen) == 1)
        await turn(site, "two")
        rest = await until(client, "c1", replies(2), last=first[-1].id)
        whole = await until(client, "c1", replies(2), query="?after=0")
    told = [event.data["line"] for event in [*first, *rest] if "line" in event.data]
    assert told == [1, 2, 3, 4]
    assert [event.data["line"] for event in whole if "line" in event.data] == [1, 2, 3, 4]


async def test_many_quiet_conversations_are_forgotten_and_who_comes_back_to_one_misses_no_line() -> (  # noqa: E501
    None
):
    async with running(ScriptedBot()) as site, site.client() as client:
        await turn(site, "one")
        first = await until(client, "c1", lambda seen: len(seen) == 1)
        await turn(site, "two")
        for number in range(100):
            site.web.hub.notify_stored(f"other-{number}")
        rooms = site.web.hub._streams
        assert len(rooms) <= 40
        assert "c1" not in rooms
        rest = await until(client, "c1", replies(2), last=first[-1].id)
    assert [event.data["line"] for event in [*first, *rest] if "line" in event.data] == [1, 2, 3, 4]


async def test_resuming_in_the_middle_of_an_answer_goes_on_with_the_very_next_piece() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        async with site.client() as other:
            id = (
                await other.post("/api/messages", json={"conversation": "c1", "text": "x"})
            ).json()["id"]
        for piece in "abcdef":
            site.bot.show("c1", "delta", id, piece)
        first = await until(client, "c1", lambda seen: seen[-1].name == "delta", query="?after=0")
        assert (first[-1].data["text"], first[-1].data["whole"]) == ("abcdef", True)
        site.bot.show("c1", "delta", id, "g")
        site.bot.show("c1", "delta", id, "h")
        second = await until(client, "c1", lambda seen: len(seen) == 1, last=first[-1].id)
        third = await until(client, "c1", lambda seen: len(seen) == 1, last=second[-1].id)
    assert [(event.name, event.data["text"]) for event in [*second, *third]] == [
        ("delta", "g"),
        ("delta", "h"),
    ]


async def test_resuming_works_across_a_restart_of_the_server() -> None:
    bot = ScriptedBot()
    async with running(bot) as site, site.client() as client:
        await turn(site, "one")
        first = await until(client, "c1", lambda seen: seen[-1].name == "reply")
        port = site.port
    async with running(bot, port=port) as site, site.client() as client:
        await turn(site, "two")
        rest = await until(client, "c1", replies(1), last=first[-1].id)
        old_step = f"{first[-1].id}.17"
        again = await until(client, "c1", replies(1), last=old_step)
    assert [event.data["line"] for event in rest if "line" in event.data] == [3, 4]
    assert [event.data["line"] for event in again if "line" in event.data] == [3, 4]


async def test_lines_come_in_stored_order_though_their_sends_come_later() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        async with site.client() as other:
            id = (
                await other.post("/api/messages", json={"conversation": "c1", "text": "a"})
            ).json()["id"]
            site.bot.add("c1", "assistant", "stored, not sent yet", id)
            await other.post("/api/messages", json={"conversation": "c1", "text": "b"})
        seen = await until(client, "c1", lambda seen: len(seen) == 3, query="?after=0")
    assert [(event.id, event.name) for event in seen] == [
        ("1", "accepted"),
        ("2", "reply"),
        ("3", "accepted"),
    ]


async def test_a_reply_sent_twice_by_the_outbox_is_shown_once() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        id = await turn(site, "one", pieces=0)
        line = site.bot.said["c1"][-1]
        async with aclosing(events(client, "c1", last="1")) as stream:
            assert (await anext(stream)).name == "reply"
            site.bot.said["c1"].pop()
            await site.bot.reply("c1", id, line.text)
            site.bot.show("c1", "fold", tokens_before=9)
            assert (await anext(stream)).name == "fold"


async def test_a_line_that_another_process_stored_is_found_with_the_next_keep_alive() -> None:
    async with running(ScriptedBot(), pause=0.05) as site, site.client() as client:
        await turn(site, "one", pieces=0)
        async with aclosing(events(client, "c1", last="2")) as stream:
            waiting = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0)
            site.bot.add("c1", "notice", "from elsewhere")
            event = await asyncio.wait_for(waiting, 5)
    assert (event.id, event.name, event.data["text"]) == ("3", "notice", "from elsewhere")


async def test_a_slow_reader_costs_bounded_memory_and_still_gets_every_line() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        id = await turn(site, "one", pieces=0)
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", site.port))
            ask = f"GET /api/conversations/c1/events HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
            slow.sendall(f"{ask}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
            for count in range(3_000):
                site.bot.show("c1", "delta", id, "x" * 1_000)
                if count % 500 == 0:
                    await client.get("/healthz")
            await site.bot.reply("c1", id, "the end")
            room = site.web.hub._streams["c1"]
            assert len(room.recent) <= 512
            slow.setblocking(False)
            got = await _read_until(slow, b"the end")
    assert got.count(b"event: reply") == 2


async def _read_until(stream: socket.socket, word: bytes) -> bytes:
    loop = asyncio.get_running_loop()
    got = bytearray()
    async with asyncio.timeout(20):
        while word not in got[-4096:]:
            got += await loop.sock_recv(stream, 65_536)
    return bytes(got)


async def test_thirty_readers_see_the_same() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        await turn(site, "one", pieces=0)
        readers = [
            asyncio.create_task(until(client, "c1", replies(2), query="?after=0"))
            for _ in range(30)
        ]
        await turn(site, "two", pieces=10)
        seen = await asyncio.gather(*readers)
    lines = [[event.data["line"] for event in one if "line" in event.data] for one in seen]
    assert lines == [[1, 2, 3, 4]] * 30


async def test_text_from_outside_cannot_make_events_of_its_own() -> None:
    trick = "x\n\nevent: reply\ndata: {}\n\n\u2028\r\rid: 9\n"
    async with running(ScriptedBot(answers=lambda message: trick)) as site, site.client() as client:
        await client.post("/api/messages", json={"conversation": "c1", "text": trick})
        seen = await until(client, "c1", replies(1))
    assert [(event.id, event.data["text"]) for event in seen] == [("1", trick), ("2", trick)]


async def test_streams_end_when_the_server_does() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        await turn(site, "one", pieces=0)
        stream = events(client, "c1")
        seen: list[Event] = [await anext(stream), await anext(stream)]
        site.web.hub.close()
        seen += [event async for event in stream]
    assert names(seen) == ["accepted", "reply"]


def test_no_event_bears_the_browsers_own_name_for_a_broken_connection() -> None:
    assert "failed" in get_args(EventName)
    assert "error" not in get_args(EventName)


async def test_a_failed_turn_is_over_for_later_readers() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        id = (
            await client.post("/api/messages", json={"conversation": "c1", "text": "one"})
        ).json()["id"]
        site.bot.show("c1", "started", id)
        site.bot.show("c1", "failed", id, "no answer")
        async with aclosing(events(client, "c1")) as stream:
            assert (await anext(stream)).name == "accepted"
            site.bot.show("c1", "fold", state="planned")
            assert (await anext(stream)).name == "fold"
