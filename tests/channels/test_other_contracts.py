"""Web page, terminal and scripted channel pass the channel contract; what each suite leaves out."""

import asyncio
import base64
import importlib
import io
import json
import os
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from channels.base import NO_NOTEBOOK_CHANGES, Deliver
from channels.errors import Ambiguous, BadFormat, LoggedOut, Rejected, Retryable
from channels.message import Accepted, Address, InboundMessage, OutboundMessage, Receipt
from channels.registry import CLASS_PATHS
from channels.terminal.channel import Terminal, TerminalOptions
from channels.terminal.prompt import read_piped_lines
from channels.terminal.view import PlainView, strip_control
from channels.testing import ScriptedChannel
from channels.web.backend import web_address
from channels.web.channel import Web
from tests.channels.web.server import Running, ScriptedBot, running
from tests.channels.web.streams import events
from tests.contracts.channel_cases import left_out
from tests.contracts.channel_stage import WAIT, Fault, eventually
from tests.contracts.channel_suite import ChannelSuite, InBot

ONE_PROCESS = (
    "what is shown here is shown by this process: nothing between them refuses, loses or delays it"
)
NO_ACTS = "people only write here: no groups, edits, answers to a message, buttons"
NO_LIVES = "there is no platform that could bring a message again"


class ScriptedStage:
    """Lists are the platform."""

    person, other_person = "u1", "u2"

    def __init__(self) -> None:
        self.channel = ScriptedChannel()
        self.address = Address(channel="scripted", account="bot", chat_id="c1")
        self.last: InboundMessage | None = None

    def say(self, text: str) -> None:
        self.last = self.channel.hear(text)

    def say_again(self) -> None:
        assert self.last is not None
        self.channel.redeliver(self.last)

    def seen(self) -> list[str]:
        return [message.text for message in self.channel.sent]

    def confirmed(self) -> int:
        return len(self.channel.confirmed)

    def refuse_next(self, seconds: float) -> None:
        self.channel.fail(Retryable("too many", retry_after=seconds))

    def lose_next(self) -> None:
        self.channel.fail(Ambiguous("lost"), arrived=True)

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.channel.until(holds)

    def spoil(self, fault: Fault) -> None:
        errors = {
            "unreachable": Retryable("nobody there"),
            "bad_format": BadFormat("markup"),
            "chat_gone": Rejected("blocked", gone=True),
        }
        self.channel.fail(errors.get(fault, Ambiguous(fault)), arrived=fault == "cut_body")

    def revoke(self) -> None:
        self.channel.fail(LoggedOut("the token is refused"))
        self.channel.end(LoggedOut("the token is refused"))


class TestScripted(ChannelSuite):
    not_here = dict.fromkeys(
        (
            "say_in_group",
            "edit",
            "withdraw",
            "quote",
            "press",
            "move",
            "take_us_in",
            "odd",
            "say_shuffled",
        ),
        NO_ACTS,
    )
    not_here |= dict.fromkeys(
        ("restart", "rival", "cut", "expired_token"), "lists have no connection and no process"
    )
    not_here |= dict.fromkeys(
        ("send_picture", "send_file", "send_album", "files_seen"), "lists of words have no files"
    )
    not_here |= dict.fromkeys(
        ("connection_status", "probe", "config"),
        "no configuration names it: it stands in for channels",
    )
    not_here |= {
        "live": "events are put into a list as they are",
        "keyed": "it sends without a key",
    }

    @pytest.fixture
    async def stage(self) -> ScriptedStage:
        return ScriptedStage()


class Drawn:
    """The web channel, with a page that has displayed each message before the next step."""

    def __init__(self, web: Web, page: "WebStage") -> None:
        self.name, self.account, self.capabilities = web.name, web.account, web.capabilities
        self.run, self.show = web.run, web.show
        self._web = web
        self._page = page

    async def send(self, message: OutboundMessage) -> Receipt:
        receipt = await self._web.send(message)
        await eventually(lambda: message.id in self._page.shown)
        return receipt


class WebStage:
    """A web page: posts by HTTP, receives server-sent events, and drops repeats by the part's
    id.
    """

    def __init__(self, up: Running) -> None:
        self.channel = Drawn(up.web, self)
        self.address = web_address("home")
        self._client = up.client()
        self.shown: dict[str, str] = {}
        self.opened = asyncio.Event()
        self._draft = ""
        self._key = 0
        self._text = ""
        self._confirmed = 0
        self._tasks = [asyncio.create_task(self._look())]

    def say(self, text: str) -> None:
        self._key, self._text = self._key + 1, text
        self.say_again()

    def say_again(self) -> None:
        self._post({"text": self._text})

    def send_file(
        self, name: str, data: bytes, media_type: str = "application/octet-stream"
    ) -> None:
        self._key += 1
        whole = {"name": name, "media_type": media_type, "data": base64.b64encode(data).decode()}
        self._post({"attachments": [whole]})

    def send_picture(self, data: bytes) -> None:
        self.send_file("picture.png", data, "image/png")

    def seen(self) -> list[str]:
        return list(self.shown.values())

    def confirmed(self) -> int:
        return self._confirmed

    def live(self) -> str:
        return self._draft

    async def until(self, holds: Callable[[], bool]) -> None:
        await eventually(holds)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.aclose()

    def _post(self, fields: Mapping[str, Any]) -> None:
        body = json.dumps({"conversation": "home", "key": str(self._key), **fields})
        self._tasks.append(asyncio.create_task(self._insist(body)))

    async def _insist(self, body: str) -> None:
        headers, status = {"content-type": "application/json"}, 503
        while status == 503:
            await asyncio.sleep(0.02)
            status = (
                await self._client.post("/api/messages", content=body, headers=headers)
            ).status_code
        self._confirmed += 1

    async def _look(self) -> None:
        async for event in events(self._client, "home"):
            if "line" in event.data:
                self.opened.set()
            elif event.name in ("reply", "notice"):
                self.shown.setdefault(event.data["id"], event.data["text"])
                self._draft = ""
            elif event.name == "delta":
                self._draft += event.data["text"]


class TestWeb(ChannelSuite):
    by_night: ClassVar = (InBot,)
    not_here = dict.fromkeys(
        ("say_in_group", "edit", "withdraw", "quote", "press", "move", "take_us_in", "send_album"),
        NO_ACTS,
    )
    not_here |= dict.fromkeys(
        ("refuse_next", "lose_next", "spoil", "cut", "revoke", "rival"), ONE_PROCESS
    )
    not_here |= dict.fromkeys(
        ("restart", "config"), "tests/walk restarts a whole bot below an open page"
    )
    not_here |= {
        "odd": "what is no message is answered with what is wrong with it",
        "limit": "an answer is one part",
    }
    not_here |= {
        "say_shuffled": "a page posts one message after another",
        "files_seen": "files are not shown yet",
    }
    not_here |= dict.fromkeys(
        ("connection_status", "probe"), "it is the program's own server, which /healthz tells of"
    )
    not_here |= {"forget_files": "files come with the message"}

    @pytest.fixture
    async def stage(self) -> AsyncIterator[WebStage]:
        bot = ScriptedBot()
        bot.add("home", "assistant", "Welcome.")
        async with running(bot) as up:
            up.tasks[1].cancel()
            await asyncio.wait(up.tasks[1:])
            stage = WebStage(up)
            await asyncio.wait_for(stage.opened.wait(), WAIT)
            yield stage
            await stage.close()


class AnsweredTerminal(Terminal):
    """A terminal whose lines all get an empty answer, so that the next one is read.

    Behind a pipe there are no live replies.
    """

    capabilities = replace(Terminal.capabilities, live_display="")

    def __init__(self, setup: TerminalOptions, view: PlainView, lines: AsyncIterator[str]) -> None:
        super().__init__(setup, view, lines)
        self.stored = 0

    async def run(self, deliver: Deliver) -> None:
        async def counted(
            messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
        ) -> list[Accepted]:
            accepted = await deliver(messages, keep)
            self.stored += 1
            nothing = OutboundMessage(
                id=uuid.uuid4().hex,
                address=messages[0].address,
                client_key="",
                text="",
                reply_to=accepted[0].id,
            )
            await self.send(nothing)
            return accepted

        await super().run(counted)


class Screen(PlainView):
    """Records each answer as printed."""

    def __init__(self) -> None:
        self.printed = io.StringIO()
        self.answers: list[str] = []
        super().__init__(self.printed, io.StringIO())

    def answer(self, text: str) -> None:
        before = len(self.printed.getvalue())
        super().answer(text)
        self.answers.append(self.printed.getvalue()[before:].removesuffix("\n"))


class TerminalStage:
    """A user types into one end of a pipe and reads what is printed."""

    def __init__(self) -> None:
        reader, self._typed = os.pipe()
        self._reader = reader
        self.screen = Screen()
        self.channel = AnsweredTerminal(
            TerminalOptions(interactive=False), self.screen, read_piped_lines(reader)
        )
        self.address = Address(channel="terminal", account="local", chat_id="terminal")

    def say(self, text: str) -> None:
        # what comes through a pipe is bytes: one that is no UTF-8
        lone = text.replace("\ud83d", "\udcff")
        os.write(self._typed, lone.encode("utf-8", "surrogateescape") + b"\n")

    def seen(self) -> list[str]:
        return [text for text in self.screen.answers if text]

    def confirmed(self) -> int:
        return self.channel.stored

    async def until(self, holds: Callable[[], bool]) -> None:
        await eventually(holds)

    def close(self) -> None:
        os.close(self._typed)
        for thread in threading.enumerate():
            if thread.name == "terminal input":  # it still reads from that number
                thread.join(WAIT)
        os.close(self._reader)


class TestTerminal(ChannelSuite):
    by_night: ClassVar = (InBot,)
    drawn = staticmethod(strip_control)
    not_here = dict.fromkeys(
        ("say_in_group", "edit", "withdraw", "quote", "press", "move", "take_us_in", "send_album"),
        NO_ACTS,
    )
    not_here |= dict.fromkeys(("say_again", "restart", "say_shuffled", "odd"), NO_LIVES)
    not_here |= dict.fromkeys(
        ("refuse_next", "lose_next", "spoil", "cut", "revoke", "rival"), ONE_PROCESS
    )
    not_here |= dict.fromkeys(
        ("send_picture", "send_file", "files_seen"), "a pipe carries lines of words"
    )
    not_here |= {
        "live": "tests/channels/terminal/test_terminal.py shows it on a pty",
        "limit": "an answer is one part",
    }
    not_here |= dict.fromkeys(
        ("connection_status", "probe", "config"), "it is the program's own, and not configured"
    )

    @pytest.fixture
    def stage(self) -> Iterator[TerminalStage]:
        stage = TerminalStage()
        yield stage
        stage.close()


def suites() -> list[type[ChannelSuite]]:
    """Return all suites of the contract."""
    for path in sorted(Path(__file__).parent.rglob("test_*contract*.py")):
        place = path.relative_to(Path(__file__).parent).with_suffix("")
        importlib.import_module(".".join((__package__, *place.parts)))
    return sorted(_below(ChannelSuite), key=lambda suite: suite.__name__)


def _below(suite: type[ChannelSuite]) -> set[type[ChannelSuite]]:
    return {one for direct in suite.__subclasses__() for one in (direct, *_below(direct))}


def test_every_channel_passes_the_contract() -> None:
    names = " ".join(
        f"{suite.__module__} {suite.__name__}".lower().replace("_", "") for suite in suites()
    )
    for name in (name.replace("_", "") for name in CLASS_PATHS):
        assert f"test{name}" in names or f".{name}.testcontract " in names


def test_whatever_a_suite_leaves_out_it_gives_a_reason_for() -> None:
    for suite in suites():
        print(
            f"\n{suite.__module__.rpartition('.')[2]} {suite.__name__}: {len(left_out(suite))} "
            "cases left out"
        )
        for word, why in sorted(suite.not_here.items()):
            cases = [name for name, because in left_out(suite).items() if word in because]
            print(f"  {word} ({len(cases)}): {why}")
            assert cases, f"{suite.__name__} gives a reason for {word}, of which no case has need"
            assert len(why.split()) > 1, f"{suite.__name__}: {word}: {why!r} is no reason"
