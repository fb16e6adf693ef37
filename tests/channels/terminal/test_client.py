"""A terminal as client of a running bot: nothing is lost or shown twice when connections break."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import pytest

from channels.errors import LoggedOut
from channels.message import (
    Address,
    Attachment,
    InboundMessage,
    LiveEvent,
    OutboundMessage,
    Receipt,
    Sender,
)
from channels.terminal.channel import Terminal, TerminalOptions
from channels.terminal.client import MAX_REPLY_BYTES, BotClient, RemoteConversation
from channels.terminal.view import PlainView
from channels.web.backend import TranscriptLine
from tests.cases import every_case
from tests.channels.api_server import TOKEN, Api
from tests.channels.web.server import TOKEN as SITE_TOKEN
from tests.channels.web.server import ScriptedBot, running

FAST = (0.0, 0.01, 0.02)


class RecordingTerminal(Terminal):
    """Records what it is to show, and lets a test wait for it."""

    def __init__(self) -> None:
        super().__init__(TerminalOptions(interactive=False), PlainView(StringIO(), StringIO()))
        self.sent: list[OutboundMessage] = []
        self.shown: list[LiveEvent] = []
        self.hints: list[str] = []
        self._changed = asyncio.Event()

    async def send(self, message: OutboundMessage) -> Receipt:
        self.sent.append(message)
        self._changed.set()
        return Receipt()

    def show(self, event: LiveEvent) -> None:
        self.shown.append(event)

    def hint(self, key: str, **_: object) -> None:
        self.hints.append(key)
        self._changed.set()

    async def wait_for(self, sent: int = 0, hints: int = 0) -> None:
        async with asyncio.timeout(10):
            while len(self.sent) < sent or len(self.hints) < hints:
                self._changed.clear()
                await self._changed.wait()


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    server = Api()
    await server.start()
    yield server
    await server.stop()


def remote(api: Api, conversation: str = "c1", token: str = TOKEN) -> RemoteConversation:
    return RemoteConversation(f"http://127.0.0.1:{api.port}/", token, conversation, FAST)


@asynccontextmanager
async def listening(bot: RemoteConversation, terminal: Terminal) -> AsyncIterator[None]:
    task = asyncio.create_task(bot.listen(terminal))
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
    terminal = Terminal(
        TerminalOptions(interactive=False, stop=bot.stop), PlainView(out, err), lines()
    )
    async with listening(bot, terminal), asyncio.timeout(10):
        await terminal.run(bot.deliver)
    assert out.getvalue() == "ONE\n你好\nTHREE\n"
    assert err.getvalue() == ""


async def test_events_come_as_the_channel_names_them(api: Api) -> None:
    terminal, bot = RecordingTerminal(), remote(api, "terminal:home")
    async with listening(bot, terminal):
        [accepted] = await bot.deliver([message("hello", "k1")])
        await terminal.wait_for(sent=1)
    assert accepted.new
    assert [(event.name, event.text, event.message_id) for event in terminal.shown] == [
        ("started", "", accepted.id),
        ("delta", "he", accepted.id),
        ("delta", "llo", accepted.id),
    ]
    [reply] = terminal.sent
    assert (reply.text, reply.kind, reply.reply_to) == ("HELLO", "final", accepted.id)


async def test_the_same_key_again_is_no_new_message(api: Api) -> None:
    terminal, bot = RecordingTerminal(), remote(api)
    async with listening(bot, terminal):
        first, again = await bot.deliver([message("x", "k"), message("x", "k")])
    assert (first.id, first.new, again.new) == (again.id, True, False)


async def test_files_go_with_a_message(api: Api) -> None:
    terminal, bot = RecordingTerminal(), remote(api)
    async with listening(bot, terminal):
        await bot.deliver(
            [message("x", "k", Attachment(name="a.png", media_type="image/png", data=b"1"))]
        )
        await terminal.wait_for(sent=1)
    assert terminal.sent[0].text == "X [A.PNG]"


async def test_lines_from_before_the_start_are_not_shown(api: Api) -> None:
    api.add("c1", "reply", {"message_id": "old", "text": "yesterday"}, age=86_400)
    terminal, bot = RecordingTerminal(), remote(api)
    async with listening(bot, terminal):
        await bot.deliver([message("now", "k")])
        api.add("c1", "notice", {"text": "by itself"})
        await terminal.wait_for(sent=2)
    assert [(item.text, item.kind) for item in terminal.sent] == [
        ("NOW", "final"),
        ("by itself", "notice"),
    ]


async def test_a_broken_connection_is_resumed_where_it_broke(api: Api) -> None:
    terminal, bot = RecordingTerminal(), remote(api)
    async with listening(bot, terminal):
        await bot.deliver([message("one", "k1")])
        await terminal.wait_for(sent=1)
        api.cut()
        await bot.deliver([message("two", "k2")])
        await terminal.wait_for(sent=2)
        await api.stop()
        api.answer("c1", "m2", "while away")
        await terminal.wait_for(hints=1)
        await api.start()
        await terminal.wait_for(sent=3)
    assert [item.text for item in terminal.sent] == ["ONE", "TWO", "WHILE AWAY"]
    assert terminal.hints == ["away"]
    assert api.resumed[0] == ""
    assert all(api.resumed[1:])


async def test_a_bot_that_is_starting_is_waited_for(api: Api) -> None:
    api.add("c1", "reply", {"text": "old"}, age=100)
    api.status = 503
    terminal, bot = RecordingTerminal(), remote(api)
    async with listening(bot, terminal):
        with pytest.raises(OSError, match="told 503"):
            await bot.deliver([message("one", "k1")])
        api.status = 0
        await bot.deliver([message("one", "k1")])
        await terminal.wait_for(sent=1)
    assert terminal.sent[0].text == "ONE"


async def test_a_refusal_has_the_words_of_the_bot(api: Api) -> None:
    terminal, bot = RecordingTerminal(), remote(api)
    async with listening(bot, terminal):
        await bot.deliver([message("one", "k1")])
        api.status = 413
        with pytest.raises(RuntimeError, match="told 413"):
            await bot.deliver([message("one", "k2")])


async def test_a_wrong_token_ends_the_listening(api: Api) -> None:
    with pytest.raises(LoggedOut):
        await remote(api, token="wrong").listen(RecordingTerminal())


async def test_a_turn_is_stopped_and_the_context_is_read(api: Api) -> None:
    bot = remote(api)
    with pytest.raises(RuntimeError, match="no such conversation"):
        await bot.stop()
    api.lines["c1"] = []
    await bot.stop()
    assert api.stops == ["c1"]
    assert (await bot.context())["tokens"] == 7


async def test_an_unreachable_bot_is_an_error(api: Api) -> None:
    bot = remote(api)
    await api.stop()
    with pytest.raises(OSError):
        await bot.stop()
    await api.start()


@every_case(
    "url", ["https://127.0.0.1:1", "127.0.0.1:8642", "file:///etc/passwd", "http://", "http://a:0"]
)
def test_only_a_plain_http_address_is_accepted(url: str) -> None:
    with pytest.raises(ValueError, match="not the address"):
        BotClient(url, TOKEN)


def test_the_token_is_not_in_what_is_printed() -> None:
    assert "secret" not in repr(BotClient("http://127.0.0.1:1", "secret"))


@asynccontextmanager
async def replying(data: bytes) -> AsyncIterator[str]:
    """The URL of a server that replies to every request with these bytes, then closes the
    connection.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_events_are_read_as_the_standard_says() -> None:
    data = (
        b': note\nretry: 5\n\nid: 1\nevent: delta\ndata: {\ndata:"text": "x"}\n\nevent: notice\n\n'
    )
    data += b'id: 2\r\nevent: delta\r\ndata: {"text": "z"}\r\n\r\nid: 3\nevent: delta\ndata: cut'
    terminal = RecordingTerminal()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    async with (
        replying(head + data) as url,
        listening(RemoteConversation(url, TOKEN, "c1", FAST), terminal),
    ):
        await terminal.wait_for(hints=1)
    assert [event.text for event in terminal.shown][:2] == ["x", "z"]
    assert "cut" not in [event.text for event in terminal.shown]


HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@every_case(
    "data",
    [
        b"",
        b"no HTTP\r\n\r\n",
        HEAD,
        HEAD + b"zz\r\n",
        HEAD + b"5\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
    ],
)
async def test_a_reply_that_breaks_off_is_a_broken_connection(data: bytes) -> None:
    async with replying(data) as url:
        with pytest.raises(ConnectionError):
            await BotClient(url, TOKEN).request("GET", "/api/v1/session", timeout=5)


async def test_a_reply_without_an_end_is_not_read_to_its_end() -> None:
    async with replying(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (MAX_REPLY_BYTES + 1)) as url:
        with pytest.raises(ConnectionError, match="larger"):
            await BotClient(url, TOKEN).request("GET", "/api/v1/session", timeout=20)


async def test_no_proxy_of_the_environment_sees_the_token(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    api.lines["c1"] = []
    assert (await remote(api).context())["tokens"] == 7


class BotOfToday(ScriptedBot):
    """The scripted bot of the web channel, with today's date on its lines."""

    def add(self, name: str, role: str, text: str, reply_to: str = "") -> TranscriptLine:
        line = replace(super().add(name, role, text, reply_to), at=datetime.now(UTC))
        self.said[name][-1] = line
        return line


async def test_the_real_site_and_the_terminal_understand_each_other() -> None:
    scripted = BotOfToday(answers=lambda asked: f"echo: {asked.text} {len(asked.attachments)}")
    terminal = RecordingTerminal()
    async with running(scripted) as site:
        bot = RemoteConversation(site.base, SITE_TOKEN, "terminal:home", FAST)
        async with listening(bot, terminal):
            [first] = await bot.deliver([message("one", "k1")])
            await terminal.wait_for(sent=1)
            file = Attachment(name="a.png", media_type="image/png", data=b"1")
            await bot.deliver([message("two", "k2", file)])
            scripted.show("terminal:home", "delta", first.id, "more")
            await terminal.wait_for(sent=2)
            await bot.stop()
        with pytest.raises(LoggedOut):
            await RemoteConversation(site.base, "wrong", "terminal:home", FAST).listen(
                RecordingTerminal()
            )
    assert [(item.text, item.kind) for item in terminal.sent] == [
        ("echo: one 0", "final"),
        ("echo: two 1", "final"),
    ]
    assert terminal.sent[0].reply_to == first.id
    assert scripted.stopped == ["terminal:home"]
