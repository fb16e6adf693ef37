"""WeCom keeps the promises of every channel, in a chat of two and in a group."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, ClassVar

import aiohttp
import pytest

from channels.base import Deliver
from channels.errors import Ambiguous
from channels.message import Address, LiveEvent
from channels.toolkit.text import split_text
from channels.wecom.channel import Frames, Wecom
from channels.wecom.connection import WecomTiming
from channels.wecom.settings import WecomSettings
from tests.contracts.channel_faults import Failing
from tests.contracts.channel_receiving import Acts, Files
from tests.contracts.channel_sending import Sending, SendingFiles, Writing
from tests.contracts.channel_stage import (
    Cut,
    Fault,
    Inbox,
    Pages,
    Stage,
    eventually,
    listening,
    part,
)
from tests.contracts.channel_suite import ChannelSuite, InBot
from tests.emulators.wecom import WecomEmulator

# Literals, so that the product is not compared with itself.
LIMIT = 20_480

QUICK = WecomTiming(
    connect=5,
    ping=1,
    pong=2,
    reply=2,
    upload=5,
    first_pause=0.05,
    max_pause=0.2,
    rate_limit=7,
    live=0.05,
    live_refresh=30,
)


class Counting(Wecom):
    """Counts the callbacks that need not be brought again: the platform asks for no sign of
    that.
    """

    taken = 0

    async def _deliver(self, deliver: Deliver, frames: Frames) -> None:
        await super()._deliver(deliver, frames)
        self.taken += len(frames)
        self.stir()

    stir: Callable[[], None]


class WecomStage:
    """Ada writes, Bo is the other one."""

    person, other_person = "ada", "bo"
    redeliveries = (10.0, 3_600.0, 80_000.0)

    def __init__(self, emulator: WecomEmulator, chat: str = "ada") -> None:
        self.emulator = emulator
        self.world = emulator.world
        self.world.rates = False
        self.world.chats.add(chat)
        self.chat = chat
        self.address = Address(channel="wecom", account=self.world.bot_id, chat_id=chat)
        self.group = Address(channel="wecom", account=self.world.bot_id, chat_id="wr-1")
        self.notebook = Pages()
        self.before = 0
        self.last: dict[str, Any] = {}
        self.channel = self._made()

    def _made(self) -> Counting:
        channel = Counting(WecomSettings(**self.config()), timing=QUICK)
        channel.stir = self.world.notify
        return channel

    def config(self) -> dict[str, Any]:
        return {
            "bot_id": self.world.bot_id,
            "secret": "secret-of-the-lab",
            "ws_url": self.emulator.ws_url,
        }

    async def restart(self) -> None:
        self.before += self.channel.taken
        await self.channel.close()
        self.channel = self._made()

    def _who(self) -> dict[str, str]:
        return (
            {"user": self.person}
            if self.chat == self.person
            else {"user": self.person, "group": self.chat}
        )

    def say(self, text: str) -> None:
        self.last = self.world.inject(text, **self._who())

    def say_again(self) -> None:
        self.world.repeat(self.last)

    def another_says(self, text: str) -> None:
        self.world.inject(text, user=self.other_person)

    def say_in_group(self, text: str, to_us: bool) -> None:
        if to_us:
            self.world.inject(text, user=self.person, group=self.group.chat_id)

    def say_shuffled(self, texts: Sequence[str]) -> None:
        for text in texts:
            self.say(text)
            self.world.advance(1)
        self.world.random.shuffle(self.world.pending)

    def quote(self, text: str, quoted: str) -> None:
        self.world.inject(
            text, quote={"msgtype": "text", "text": {"content": quoted}}, **self._who()
        )

    def press(self, data: str) -> None:
        self.world.press(data, **self._who())

    def send_album(self, pictures: Sequence[bytes]) -> None:
        self.world.mixed(*pictures, **self._who())

    def send_picture(self, data: bytes) -> None:
        self.world.picture(data, **self._who())

    def send_file(self, name: str, data: bytes) -> None:
        self.world.file(data, name, **self._who())

    def forget_files(self) -> None:
        self.world.advance(301)

    def odd(self) -> int:
        self.world.event("enter_chat")
        self.world.event("feedback_event", id="f")
        self.world.event("of_next_year", x=1)
        self.world.inject(msgtype="text", text=17)
        self.world.inject(msgid="")
        self.world.push("aibot_msg_callback", {"chattype": "group", "chatid": "wr-9"})
        return 6

    def later(self, seconds: float) -> None:
        self.world.advance(seconds)

    def seen(self) -> list[str]:
        return [one.text for one in self.world.sent(self.chat) if one.text]

    def another_sees(self) -> list[str]:
        return [one.text for one in self.world.sent(self.other_person)]

    def live(self) -> str:
        return "".join(one.text for one in self.world.live(self.chat))

    def files_seen(self) -> list[tuple[str, bytes]]:
        return [one.file for one in self.world.sent(self.chat) if one.file]

    def confirmed(self) -> int:
        return self.before + self.channel.taken

    def refuse_next(self, seconds: float) -> None:
        assert seconds == QUICK.rate_limit, "the platform names no time"
        self.emulator.fault("errcode", cmd="aibot_send", code=45009)

    def lose_next(self) -> None:
        for cmd in ("aibot_send", "aibot_respond"):
            self.emulator.fault("accept_then_close", cmd=cmd)

    def flood(self, seconds: float) -> None:
        self.world.flooded[self.chat] = self.world.now() + seconds

    def spoil(self, fault: Fault) -> None:
        meant: dict[Fault, dict[str, Any]] = {
            "html_502": {"action": "garbage"},
            "status_500": {"action": "errcode", "code": 846601},
            "error_in_200": {"action": "errcode", "code": 40058},
            "empty_body": {"action": "no_code"},
            "cut_body": {"action": "cut"},
            "reset": {"action": "close"},
            "no_answer": {"action": "drop"},
        }
        if fault == "chat_gone":
            self.world.gone.add(self.chat)
        elif fault == "unreachable":
            self.emulator.refusing = True
            self.emulator.cut()
        else:
            self.emulator.fault(cmd="aibot_send", **meant[fault])

    async def cut(self, how: Cut) -> None:
        if how == "silent":
            self.emulator.half_open = True
        elif how == "refused":
            await self.emulator.stop()
        else:
            self.emulator.refusing = True
            self.emulator.cut()

    async def mend(self) -> None:
        self.emulator.half_open = self.emulator.refusing = False
        await self.emulator.stop()
        await self.emulator.start()

    def revoke(self) -> None:
        self.emulator.secret = "another"
        self.emulator.cut()

    async def rival(self) -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(self.emulator.ws_url) as socket,
        ):
            body = {"bot_id": self.world.bot_id, "secret": self.emulator.secret}
            await socket.send_json(
                {"cmd": "aibot_subscribe", "headers": {"req_id": "rival"}, "body": body}
            )
            await socket.receive()

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.emulator.until(holds)


class OfThisPlatform:
    """What differs: an answer to a message has a key, a message of its own has none."""

    not_here: ClassVar = {
        "edit": "the platform tells of no edits",
        "withdraw": "nor of messages taken back",
        "move": "a group keeps its id",
        "take_us_in": "the platform does not tell",
        "expired_token": "there is no token",
        "bad_format": "no Markdown is refused",
    }

    async def test_a_probe_with_bad_credentials_says_so(self, stage: Stage) -> None:
        """To try the secret is to take the bot from where it runs: the probe says that it has not
        been tried.
        """
        assert "tried when it runs" in await stage.channel.probe()  # type: ignore[attr-defined]

    async def test_a_part_whose_answer_was_lost_is_sent_again_and_seen_once(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        """An answer, that is: it is the stream that its message and its part name."""
        async with listening(stage.channel, inbox):
            stage.say("hello")
            (asked,) = await inbox.until(1)
            answer = part(stage, "but once", reply_to="row-1", reply_to_key=asked.key)
            stage.lose_next()
            with pytest.raises(Ambiguous):
                await stage.channel.send(answer)
            await stage.channel.send(answer)
            await stage.channel.send(answer)
        assert stage.seen() == ["but once"]

    async def test_a_long_answer_arrives_in_parts_within_the_limit(self, stage: Stage) -> None:
        text = " ".join(f"word{number}🙂" for number in range(4000))
        for number, piece in enumerate(split_text(text, LIMIT, "utf8")):
            await stage.channel.send(part(stage, piece, number))
        seen = stage.seen()
        assert len(seen) == 3
        assert all(len(piece.encode()) <= LIMIT for piece in seen)
        assert " ".join(seen).split() == text.split()

    async def _begin(self, stage: Stage, inbox: Inbox) -> str:
        """What is shown is about a message that `deliver` has named."""
        stage.say("say hello")
        (asked,) = await inbox.until(1)
        for name, text in (("started", ""), ("delta", "Hel"), ("delta", "lo")):
            event = LiveEvent(address=stage.address, name=name, message_id=asked.key, text=text)  # type: ignore[arg-type]
            stage.channel.show(event)  # type: ignore[attr-defined]
        await eventually(lambda: "Hel" in stage.live())
        return asked.key


class TestWecom(OfThisPlatform, ChannelSuite):
    by_night: ClassVar = (InBot,)

    @pytest.fixture
    async def stage(self) -> AsyncIterator[WecomStage]:
        async with WecomEmulator() as emulator:
            stage = WecomStage(emulator)
            yield stage
            await stage.channel.close()


class TestWecomInAGroup(OfThisPlatform, Acts, Files, Sending, SendingFiles, Writing, Failing):
    by_night: ClassVar = (SendingFiles, Writing, Failing)  # as in private

    @pytest.fixture
    async def stage(self) -> AsyncIterator[WecomStage]:
        async with WecomEmulator() as emulator:
            stage = WecomStage(emulator, "wr-1")
            yield stage
            await stage.channel.close()

    test_a_probe_with_bad_credentials_says_so = None  # type: ignore[assignment]

    async def test_talk_between_people_is_not_meant_for_us(
        self, stage: Stage, inbox: Inbox
    ) -> None:
        """The platform keeps it from us."""
        async with listening(stage.channel, inbox):
            stage.say_in_group("among ourselves", False)
            stage.say("to you")
            (message,) = await inbox.until(1)
        assert (message.text, message.kind, message.addressed) == ("to you", "group", True)
