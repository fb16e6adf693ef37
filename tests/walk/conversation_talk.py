"""A conversation on one platform with a real process: what is said, what is seen of it, and a
transcript of both.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.emulators.model import ModelEmulator
from tests.walk.channel_worlds import free_port, remember
from tests.walk.conversation_model import answer
from tests.walk.conversation_phones import Phone, Shown
from tests.walk.harness import PAUSE, Bot, settings, until
from tests.walk.oracle import alarms

MOST_OF_A_LINE = 2_000
SEEN_WITHIN = 60.0


@dataclass(slots=True)
class Transcript:
    """Who said what in which chat, in the order in which it could be seen."""

    path: Path
    began: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)
    _known: dict[tuple[str, str], Shown] = field(default_factory=dict)

    def note(self, chat: str, who: str, text: str) -> None:
        """One more line."""
        told = (
            text
            if len(text) <= MOST_OF_A_LINE
            else f"{text[:MOST_OF_A_LINE]} … ({len(text)} characters)"
        )
        indented = told.replace("\n", "\n" + " " * 10)
        self.lines.append(f"{time.monotonic() - self.began:7.2f}s  [{chat}] {who}: {indented}")

    def look(self, phone: Phone) -> None:
        """Note what has changed on all screens."""
        now = {(chat, one.id): one for chat in phone.chats() for one in phone.shown(chat)}
        for place, one in now.items():
            if self._known.get(place) != one:
                self.note(place[0], self._how(place, one), one.text + _beside(one))
        for place in [place for place in self._known if place not in now]:
            self.note(
                place[0],
                "bot",
                f"({'the draft ends' if place[1] == 'draft' else 'a message disappears'})",
            )
        self._known = now

    def write(self) -> None:
        """Put it on the disk, and print it."""
        self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        print("\n".join(["", *self.lines]))

    def _how(self, place: tuple[str, str], one: Shown) -> str:
        before = self._known.get(place)
        if one.growing:
            return "bot writes on …" if before else "bot begins to write …"
        if before is None:
            return "bot"
        return "bot (that message is finished)" if before.growing else "bot (edits it)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A bot, its model, and the phone that people have in their hands."""

    bot: Bot
    model: ModelEmulator
    phone: Phone
    transcript: Transcript

    def say(self, text: str, by: str = "") -> None:
        """Somebody (the owner unless named) writes to the bot alone."""
        person = by or self.phone.owner
        self.transcript.look(self.phone)
        self.transcript.note(person, person, text)
        self.phone.say(person, text)

    def show(self, picture: bytes) -> None:
        """The owner sends a picture to the bot alone."""
        self.transcript.look(self.phone)
        self.transcript.note(
            self.phone.owner, self.phone.owner, f"[a picture, {len(picture)} bytes]"
        )
        self.phone.show(self.phone.owner, picture)

    def speak(self, text: str, mention: bool = True) -> None:
        """The friend writes in the group: to the bot, or to nobody."""
        phone = self.phone
        self.transcript.look(phone)
        self.transcript.note(phone.group, phone.friend, f"@bot {text}" if mention else text)
        (phone.mention if mention else phone.talk)(phone.friend, text)

    async def ask(self, text: str, expected: str, by: str = "") -> Shown:
        """The same; returns the first message from then on that is whole and has this in it."""
        before = len(self.whole(by))
        self.say(text, by)
        return await self.sees(expected, by, before)

    async def sees(self, expected: str, by: str = "", after: int = 0) -> Shown:
        """Wait until a message with these words stands there, behind the first `after` ones."""
        try:
            await until(
                lambda: self._with(expected, by, after),
                f"{expected!r} on {by or 'the owner'}'s screen",
                SEEN_WITHIN,
            )
        except AssertionError as err:
            shown = [one.text[:300] for one in self.whole(by)[after:]]
            raise AssertionError(
                f"{err}; there is {shown}; the bot says: {self.bot.complaints()}"
            ) from None
        return self._with(expected, by, after)[0]

    def whole(self, chat: str = "") -> list[Shown]:
        """What stands in a chat and is not being written any more."""
        return [one for one in self.phone.shown(chat or self.phone.owner) if not one.growing]

    def growing(self, chat: str = "") -> list[Shown]:
        """What looks as if it were still being written."""
        return [one for one in self.phone.shown(chat or self.phone.owner) if one.growing]

    def _with(self, expected: str, by: str, after: int) -> list[Shown]:
        return [one for one in self.whole(by)[after:] if expected in one.text]

    def happens(self, what: str) -> None:
        """Note what no screen shows."""
        self.transcript.look(self.phone)
        self.transcript.note("machine", "*", what)


@asynccontextmanager
async def talking(phone: Phone, home: Path, **section: object) -> AsyncIterator[Talk]:
    """A running bot on that platform; section: more of what config.json says of the channel."""
    async with phone, ModelEmulator(responder=answer) as model:
        port = free_port()
        told = settings(model.url, provider="openai")
        channels = {"web": {"port": port}, phone.world.name: {**phone.section(port), **section}}
        bot = Bot(home, {**told, "channels": channels})
        await remember(bot, phone.world)
        talk = Talk(
            bot=bot, model=model, phone=phone, transcript=Transcript(home / "transcript.txt")
        )
        watching = asyncio.create_task(_watch(talk))
        try:
            await bot.start()
            yield talk
            talk.transcript.look(phone)
            assert await alarms(bot.web) == []
            assert await bot.term() == 0
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            talk.transcript.write()
            if bot.alive:
                await bot.kill()


async def _watch(talk: Talk) -> None:
    while True:
        talk.transcript.look(talk.phone)
        await asyncio.sleep(PAUSE)


def _beside(one: Shown) -> str:
    return f" [file {one.file[0]!r}, {len(one.file[1])} bytes]" if one.file else ""


def written_anywhere(home: Path, text: str) -> list[str]:
    """Names of the files below a home whose bytes hold this text."""
    found = []
    for path in sorted(home.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            if path.is_file() and text.encode() in path.read_bytes():
                found.append(str(path.relative_to(home)))
    return found
