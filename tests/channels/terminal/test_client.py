"""A terminal beside a running bot: nothing typed is lost, no answer is missed or shown twice, across broken lines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import pytest

from channels.errors import LoggedOut
from channels.message import Address, Attachment, InboundMessage, LiveEvent, OutboundMessage, Receipt, Sender
from channels.terminal.channel import Terminal, TerminalOptions
from channels.terminal.client import HttpReply, RemoteConversation, parse_endpoint, read_events
from channels.terminal.view import PlainView
from channels.web.backend import TranscriptLine
from tests.channels.api_server import TOKEN, Api
from tests.channels.web.server import TOKEN as SITE_TOKEN
from tests.channels.web.server import ScriptedHouse, running

FAST = (0.0, 0.01, 0.02)


class Ear:
    """Hears, and lets a test wait for what it hears."""

    def __init__(self) -> None:
        self.sent: list[OutboundMessage] = []
        self.shown: list[LiveEvent] = []
        self.hints: list[str] = []
        self._bell = asyncio.Event()

    async def send(self, message: OutboundMessage) -> Receipt:
        self.sent.append(message)
        self._bell.set()
        return Receipt()

    def show(self, event: LiveEvent) -> None:
        self.shown.append(event)

    def hint(self, key: str, **_: object) -> None:
        self.hints.append(key)
        self._bell.set()

    async def hears(self, sent: int = 0, hints: int = 0) -> None:
        async with asyncio.timeout(10):
            while len(self.sent) < sent or len(self.hints) < hints:
                self._bell.clear()
                await self._bell.wait()


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    server = Api()
    await server.start()
    yield server
    await server.stop()


def remote(api: Api, conversation: str = "c1", token: str = TOKEN) -> RemoteConversation:
    return RemoteConversation(f"http://127.0.0.1:{api.port}/", token, conversation, FAST)


@asynccontextmanager
async def listening(bot: RemoteConversation, ear: Ear | Terminal) -> AsyncIterator[None]:
    task = asyncio.create_task(bot.listen(ear))
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def message(text: str, key: str, *files: Attachment) -> InboundMessage:
    return InboundMessage(
        address=Address(channel="terminal", account="local", chat_id="c1"),
        kind="dm",
        key=key,
        sender=Sender(id="owner"),
        text=text,
        sent_at=datetime.now(UTC),
        attachments=files,
    )


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_whole_talk_through_a_terminal(api: Api, chunked: bool) -> None:
    api.chunked = chunked
    out, err = StringIO(), StringIO()

    async def lines() -> AsyncIterator[str]:
        for line in ("one", "你好", "three"):
            yield line

    bot = remote(api)
    terminal = Terminal(TerminalOptions(interactive=False, stop=bot.stop), PlainView(out, err), lines())
    async with listening(bot, terminal), asyncio.timeout(10):
        await terminal.run(bot.deliver)
    assert out.getvalue() == "ONE\n你好\nTHREE\n"
    assert err.getvalue() == ""


async def test_events_come_as_the_channel_names_them(api: Api) -> None:
    ear, bot = Ear(), remote(api, "terminal:home")
    async with listening(bot, ear):
        [accepted] = await bot.deliver([message("hello", "k1")])
        await ear.hears(sent=1)
    assert accepted.new
    assert [(event.name, event.text, event.message_id) for event in ear.shown] == [
        ("started", "", accepted.id),
        ("delta", "he", accepted.id),
        ("delta", "llo", accepted.id),
    ]
    [reply] = ear.sent
    assert (reply.text, reply.kind, reply.reply_to) == ("HELLO", "final", accepted.id)


async def test_the_same_key_again_is_no_new_message(api: Api) -> None:
    ear, bot = Ear(), remote(api)
    async with listening(bot, ear):
        first, again = await bot.deliver([message("x", "k"), message("x", "k")])
    assert (first.id, first.new, again.new) == (again.id, True, False)


async def test_files_go_with_a_message(api: Api) -> None:
    ear, bot = Ear(), remote(api)
    async with listening(bot, ear):
        await bot.deliver([message("x", "k", Attachment(name="a.png", media_type="image/png", data=b"1"))])
        await ear.hears(sent=1)
    assert ear.sent[0].text == "X [A.PNG]"


async def test_what_was_said_before_this_sitting_is_not_said_again(api: Api) -> None:
    api.add("c1", "reply", {"message_id": "old", "text": "yesterday"}, age=86_400)
    ear, bot = Ear(), remote(api)
    async with listening(bot, ear):
        await bot.deliver([message("now", "k")])
        api.add("c1", "notice", {"text": "by itself"})
        await ear.hears(sent=2)
    assert [(item.text, item.kind) for item in ear.sent] == [("NOW", "final"), ("by itself", "notice")]


async def test_a_broken_line_is_taken_up_where_it_broke(api: Api) -> None:
    ear, bot = Ear(), remote(api)
    async with listening(bot, ear):
        await bot.deliver([message("one", "k1")])
        await ear.hears(sent=1)
        api.cut()
        await bot.deliver([message("two", "k2")])
        await ear.hears(sent=2)
        await api.stop()
        api.answer("c1", "m2", "while away")
        await ear.hears(hints=1)
        await api.start()
        await ear.hears(sent=3)
    assert [item.text for item in ear.sent] == ["ONE", "TWO", "WHILE AWAY"]
    assert ear.hints == ["away"]
    assert api.resumed[0] == ""
    assert all(api.resumed[1:])


async def test_a_bot_that_is_starting_is_waited_for(api: Api) -> None:
    api.add("c1", "reply", {"text": "old"}, age=100)
    api.status = 503
    ear, bot = Ear(), remote(api)
    async with listening(bot, ear):
        with pytest.raises(OSError, match="told 503"):
            await bot.deliver([message("one", "k1")])
        api.status = 0
        await bot.deliver([message("one", "k1")])
        await ear.hears(sent=1)
    assert ear.sent[0].text == "ONE"


async def test_what_the_bot_refuses_is_told_in_its_words(api: Api) -> None:
    ear, bot = Ear(), remote(api)
    async with listening(bot, ear):
        await bot.deliver([message("one", "k1")])
        api.status = 413
        with pytest.raises(RuntimeError, match="told 413"):
            await bot.deliver([message("one", "k2")])


async def test_a_wrong_token_ends_the_listening(api: Api) -> None:
    with pytest.raises(LoggedOut):
        await remote(api, token="wrong").listen(Ear())


async def test_a_turn_is_stopped_and_the_context_is_told(api: Api) -> None:
    bot = remote(api)
    with pytest.raises(RuntimeError, match="no such conversation"):
        await bot.stop()
    api.lines["c1"] = []
    await bot.stop()
    assert api.stops == ["c1"]
    assert (await bot.context())["tokens"] == 7


async def test_nobody_there_is_told(api: Api) -> None:
    bot = remote(api)
    await api.stop()
    with pytest.raises(OSError):
        await bot.stop()
    await api.start()


@pytest.mark.parametrize("url", ["https://127.0.0.1:1", "127.0.0.1:8642", "file:///etc/passwd", "http://"])
def test_only_a_plain_address_is_taken(url: str) -> None:
    with pytest.raises(ValueError, match="not the address"):
        parse_endpoint(url, "")


def test_the_token_is_not_in_what_is_printed() -> None:
    assert "secret" not in repr(parse_endpoint("http://127.0.0.1:1", "secret"))


async def streamed(data: bytes, **headers: str) -> list[tuple[str, str, str]]:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    reply = HttpReply(status=200, headers=headers, reader=reader)
    return [(event.id, event.name, event.data) async for event in read_events(reply, 5)]


async def test_events_are_read_as_the_standard_says() -> None:
    data = b": note\nretry: 5\nid: 1\nevent: a\ndata: x\ndata:y\n\nevent: empty\n\n"
    data += b"data:  z\r\n\r\nid\ndata: last\n\ndata: cut"
    assert await streamed(data) == [("1", "a", "x\ny"), ("1", "message", " z"), ("", "message", "last")]


@pytest.mark.parametrize("data", [b"zz\r\n", b"5\r\nab", b"", b"-1\r\n"])
async def test_an_answer_that_breaks_off_is_a_broken_connection(data: bytes) -> None:
    with pytest.raises(ConnectionError):
        await streamed(data, **{"transfer-encoding": "chunked"})


class HouseOfToday(ScriptedHouse):
    """The scripted house of the web channel, with today's date on its lines."""

    def add(self, name: str, role: str, text: str, reply_to: str = "") -> TranscriptLine:
        line = replace(super().add(name, role, text, reply_to), at=datetime.now(UTC))
        self.said[name][-1] = line
        return line


async def test_the_real_site_and_the_terminal_understand_each_other() -> None:
    house = HouseOfToday(answers=lambda asked: f"echo: {asked.text} {len(asked.attachments)}")
    ear = Ear()
    async with running(house) as site:
        bot = RemoteConversation(site.base, SITE_TOKEN, "terminal:home", FAST)
        async with listening(bot, ear):
            [first] = await bot.deliver([message("one", "k1")])
            await ear.hears(sent=1)
            file = Attachment(name="a.png", media_type="image/png", data=b"1")
            await bot.deliver([message("two", "k2", file)])
            house.show("terminal:home", "delta", first.id, "more")
            await ear.hears(sent=2)
            await bot.stop()
        with pytest.raises(LoggedOut):
            await RemoteConversation(site.base, "wrong", "terminal:home", FAST).listen(Ear())
    assert [(item.text, item.kind) for item in ear.sent] == [("echo: one 0", "final"), ("echo: two 1", "final")]
    assert ear.sent[0].reply_to == first.id
    assert house.stopped == ["terminal:home"]
