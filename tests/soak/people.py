"""People who chat for hours: on the page, in one conversation after another, and in private chats
on Telegram.
"""

import asyncio
import base64
import contextlib
import io
import random
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from PIL import Image

from tests.emulators.telegram import TelegramEmulator
from tests.walk.chats import Chatter
from tests.walk.harness import until
from tests.walk.oracle import Oracle
from tests.walk.speech import LONG_PARTS, asked, asked_at_length, asked_for, tokens_in
from tests.walk.web import Page, Web

COMMANDS = ("/status", "/context", "/usage", "/help", "/whoami", "/context fold", "/memory")
PATIENCE = 20.0  # seconds for which somebody waits for an answer before they write on
MOST_OPEN = 3
NEWEST = 3 * LONG_PARTS + 12  # messages of a chat that are read for answers to what is open
SUBJECTS = (
    "the garden",
    "tea from Hangzhou",
    "the train to Lyon",
    "a birthday",
    "读书笔记",
    "周末的天气",
    "the tax return",
)


@dataclass(slots=True)
class Words:
    """What one person says next, by a seed.

    pace: seconds between two messages, the least and the most. at_length: whether it asks for
    answers of several parts.
    """

    name: str
    chance: random.Random
    pace: tuple[float, float]
    at_length: bool = True
    written: int = 0

    def token(self) -> str:
        self.written += 1
        return f"{self.name}/{self.written}"

    def text(self, token: str) -> str:
        """Mostly talk; sometimes work with a tool, a preference, or a question whose answer is
        long.
        """
        kind, subject = self.chance.random(), self.chance.choice(SUBJECTS)
        if kind < 0.10:
            note = f"notes/{self.name}-{self.chance.randrange(20)}.md"
            return asked_for(token, "write_file", path=note, content=f"{subject}\n" * 40)
        if kind < 0.15:
            return asked_for(token, "list_files")
        if kind < 0.18:
            return asked(
                token, f"one thing to know. I prefer {subject} number {self.chance.randrange(30)}."
            )
        if kind < 0.21 and self.at_length:
            return asked_at_length(token)
        return asked(
            token,
            f"what do you make of {subject}? " + "It is long to tell. " * self.chance.randrange(12),
        )

    async def think(self, enough: asyncio.Event) -> None:
        """Until the next message is due."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(enough.wait(), self.chance.uniform(*self.pace))


@dataclass(slots=True)
class Waits:
    """How long people wait for answers. since: message -> when it was written; taken: seconds of
    those answered.
    """

    since: dict[str, float] = field(default_factory=dict)
    taken: list[float] = field(default_factory=list)

    def still_open(self, answered: set[str]) -> int:
        """Note what is answered by now; returns how many are not."""
        now = time.monotonic()
        for message in self.since.keys() & answered:
            self.taken.append(now - self.since.pop(message))
        return len(self.since)


@dataclass(slots=True)
class Reader:
    """Somebody at the page, who begins a new conversation now and then. length: messages in
    each.
    """

    words: Words
    oracle: Oracle
    web: Web
    length: int
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    waits: Waits = field(default_factory=Waits)
    seen: int = 0
    _page: Page | None = None

    async def run(self) -> None:
        """Write until told that it is enough."""
        number = 0
        while not self.enough.is_set():
            number += 1
            await self._converse(f"{self.words.name}-{number}")

    async def _converse(self, conversation: str) -> None:
        self._page = None
        self.waits.since.clear()
        for _ in range(self.length):
            await self._say(conversation)
            self._page = self._page or Page(self.web, conversation)
            await self._wait()
            await self.words.think(self.enough)
            if self.enough.is_set():
                break
        if self._page:
            self.seen += len(self._page.replies)
            await self._page.close()

    @property
    def answers(self) -> int:
        """Answers seen so far."""
        return self.seen + (
            len(self._page.replies) if self._page and not self.enough.is_set() else 0
        )

    async def _say(self, conversation: str) -> None:
        chance, token = self.words.chance, self.words.token()
        kind = chance.random()
        if kind < 0.02 and not self._open():
            text = "/new"
        elif kind < 0.12:
            text = chance.choice(COMMANDS)
        elif kind < 0.16:
            await self._send_file(conversation, token)
            return
        else:
            text = self.words.text(token)
        began = time.monotonic()
        self.waits.since[await self.oracle.deliver(self.web, conversation, token, text)] = began

    async def _send_file(self, conversation: str, token: str) -> None:
        text = asked(token, "what is this?")
        picture = self.words.chance.random() < 0.5
        name, kind = ("dot.png", "image/png") if picture else ("notes.txt", "text/plain")
        data = _picture(self.words.chance) if picture else token.encode() * 500
        file = {"name": name, "media_type": kind, "data": base64.b64encode(data).decode()}
        body = {
            "conversation": conversation,
            "text": text,
            "key": uuid.uuid4().hex,
            "attachments": [file],
        }
        began = time.monotonic()
        answer = await self.web.ask("POST", "/api/messages", json=body)
        answer.raise_for_status()
        self.waits.since[answer.json()["id"]] = began
        self.oracle.sent.setdefault(conversation, {})[token] = f"{text}\n📎 {name}"
        self.oracle.confirmed[answer.json()["id"]] = (conversation, token)

    async def _wait(self) -> None:
        """For answers to all but the newest few, or until patience is over."""
        most = self.words.chance.randrange(MOST_OPEN)
        with contextlib.suppress(AssertionError):
            await until(lambda: self._open() <= most or self.enough.is_set(), "answers", PATIENCE)

    def _open(self) -> int:
        """How many have no answer yet; a clear takes back answers that are still on their way."""
        return self.waits.still_open({*(self._page.replies if self._page else ())})


@dataclass(slots=True)
class Texter:
    """Somebody in a private chat on Telegram, whose platform repeats and reorders now and then."""

    words: Words
    chatter: Chatter
    telegram: TelegramEmulator
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    waits: Waits = field(default_factory=Waits)

    async def run(self) -> None:
        """Write until told that it is enough."""
        while not self.enough.is_set():
            self._say()
            await self._wait()
            await self.words.think(self.enough)

    @property
    def answers(self) -> int:
        """Messages that were answered so far."""
        return len(self.chatter.said) - len(self.waits.since)

    def _say(self) -> None:
        chance, user = self.words.chance, self.chatter.user
        kind = chance.random()
        if kind < 0.1:
            self.telegram.inject(chance.choice(COMMANDS), user=user)
            return
        if kind < 0.3:
            self.waits.since[self.chatter.say()] = time.monotonic()
            return
        token = f"t{user}/{len(self.chatter.said) + 1}"
        text = self.words.text(token)
        if kind < 0.34:
            made = self.telegram.people.picture(
                _picture(chance), asked(token, "what is this?"), user=user
            )
        elif kind < 0.38:
            made = self.telegram.people.file(
                "notes.txt", token.encode() * 500, asked(token, "see this"), user=user
            )
        else:
            made = self.telegram.inject(text, user=user)
        self.chatter.said[token] = made["update_id"]
        self.waits.since[token] = time.monotonic()

    async def _wait(self) -> None:
        most = self.words.chance.randrange(MOST_OPEN)
        with contextlib.suppress(AssertionError):
            await until(lambda: self._open() <= most or self.enough.is_set(), "answers", PATIENCE)

    def _open(self) -> int:
        newest = self.telegram.world.visible[-NEWEST:]
        return self.waits.still_open(
            {token for seen in newest for token in tokens_in(seen.text)[:1]}
        )


def _picture(chance: random.Random) -> bytes:
    held = io.BytesIO()
    side = chance.randrange(40, 400)
    Image.new("RGB", (side, side), (chance.randrange(256), chance.randrange(256), 9)).save(
        held, "PNG"
    )
    return held.getvalue()


Person = Reader | Texter


def answers(people: Sequence[Person]) -> int:
    """How many were seen by all of them."""
    return sum(person.answers for person in people)


def waits(people: Sequence[Person]) -> list[float]:
    """Seconds of every answer since the last call, shortest first."""
    taken = sorted(seconds for person in people for seconds in person.waits.taken)
    for person in people:
        person.waits.taken.clear()
    return taken
