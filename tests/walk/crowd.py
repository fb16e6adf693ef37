"""Many people at several processes: on the page through whichever gateway answers, and in
Telegram.
"""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.emulators.telegram import TelegramEmulator
from tests.walk.chats import Chatter, excused
from tests.walk.oracle import REPEAT_MARK, Oracle
from tests.walk.record import Db, ledger_faults, query, unended
from tests.walk.speech import asked, tokens_in
from tests.walk.web import Page, Web

PATIENCE = 5.0  # seconds after which a page tries the next gateway
MOST_OPEN = 3
LOOK = 0.05
FIRST_PERSON = 6001


class Doors(Web):
    """A page that goes to whichever gateway is there. webs: the page as each of them serves it."""

    def __init__(self, webs: Sequence[Web]) -> None:
        super().__init__()
        self._webs = list(webs)
        self.up.set()

    async def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        for _ in self._webs:
            web = self._at()
            try:
                return await asyncio.wait_for(web.ask(method, path, **options), PATIENCE)
            except (httpx.TransportError, TimeoutError):
                self._leave(web)
        raise httpx.ConnectError("no gateway answers")

    async def events(
        self, conversation: str, after: str = ""
    ) -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
        web = self._at()
        try:
            async for event in web.events(conversation, after):
                yield event
        finally:
            self._leave(web)

    def _at(self) -> Web:
        return next((web for web in self._webs if web.up.is_set()), self._webs[0])

    def _leave(self, web: Web) -> None:
        if self._webs[0] is web:
            self._webs.append(self._webs.pop(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What people sent and saw.

    marked: repeats that say so; repeated: those that do not; excused: told that there will be no
    answer.
    """

    sent: int
    answered: int
    lost: int
    repeated: int
    marked: int
    excused: int
    out_of_order: int

    def __str__(self) -> str:
        ends = (
            f"{self.sent} sent, {self.answered} answered, {self.lost} lost, {self.repeated} "
            "repeated without a mark"
        )
        return (
            f"{ends}, {self.marked} marked as a repeat, {self.excused} told otherwise, "
            f"{self.out_of_order} disordered"
        )


@dataclass(slots=True, kw_only=True)
class Crowd:
    """People who each write in a conversation of their own, at a pace, whatever becomes of the
    processes.

    pace: mean seconds between two messages of one of them. said, seen: token -> when, by the
    monotonic clock.
    """

    doors: Doors
    telegram: TelegramEmulator
    db: Db
    seed: int
    pace: float
    oracle: Oracle = field(default_factory=Oracle)
    chatters: list[Chatter] = field(default_factory=list)
    pages: dict[str, Page] = field(default_factory=dict)
    said: dict[str, float] = field(default_factory=dict)
    seen: dict[str, float] = field(default_factory=dict)
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _looking: asyncio.Task[None] | None = None

    def begin(self, conversations: int) -> None:
        """Half of them on the page, half in Telegram."""
        for at in range(conversations // 2):
            self._tasks.append(asyncio.create_task(self._on_page(f"page{at}")))
        for user in persons(conversations - conversations // 2):
            chatter = Chatter(
                self.telegram, int(user), random.Random(f"{self.seed} {user}"), self.db
            )
            self.chatters.append(chatter)
            self._tasks.append(asyncio.create_task(self._in_chat(chatter)))
        self._looking = asyncio.create_task(self._look())

    async def end(self) -> None:
        """Nobody begins anything more; all that was begun is confirmed."""
        self.enough.set()
        await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """Go home."""
        for task in [*self._tasks, *([self._looking] if self._looking else [])]:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        for page in self.pages.values():
            await page.close()

    async def open_ones(self) -> list[Any]:
        """What has no end yet."""
        chats = [token for chatter in self.chatters for token in chatter.open_ones]
        return [*chats, *await self.oracle.open_ones(self.doors), *unended(self.db)]

    def unshown(self) -> list[str]:
        """Answers that an open page does not show."""
        shown = {id for page in self.pages.values() for id in page.replies}
        return [self.oracle.confirmed[id][0] for id in self.oracle.confirmed if id not in shown]

    def waits(self) -> list[float]:
        """Seconds from each message to its answer, shortest first."""
        return sorted(
            self.seen[token] - self.said[token] for token in self.said if token in self.seen
        )

    async def faults(self) -> list[str]:
        """Every breach of the promise; call it at rest."""
        found = [*await self.oracle.faults(self.doors), *await ledger_faults(self.db)]
        found += [fault for chatter in self.chatters for fault in chatter.faults()]
        found += [f"an open page does not show an answer: {name}" for name in self.unshown()]
        return [*found, *(f"a job is left: {job}" for job in self.jobs())]

    def jobs(self) -> list[tuple[Any, ...]]:
        """Wishes to work on a lane that nobody has taken yet, or has done."""
        return query(self.db, "SELECT task_name, lock, status::text FROM procrastinate_jobs")

    async def count(self) -> Count:
        """What people sent and saw in all; call it at rest."""
        texts = [
            seen.text for chatter in self.chatters for seen in self.telegram.sent(chatter.user)
        ]
        for name in self.oracle.sent:
            texts += [
                line["text"] for line in await self.doors.lines(name) if line["role"] != "user"
            ]
        times = Counter(token for text in texts for token in tokens_in(text)[:1])
        marks = sum(REPEAT_MARK in text for text in texts)
        sent = [
            *(f for keys in self.oracle.sent.values() for t in keys.values() for f in tokens_in(t))
        ]
        sent += [token for chatter in self.chatters for token in chatter.said]
        answered = [token for token in sent if times[token]]
        told = [token for token in sent if not times[token] and token in excused(self.db)]
        faults = [
            *await self.oracle.faults(self.doors),
            *(f for one in self.chatters for f in one.faults()),
        ]
        return Count(
            sent=len(sent),
            answered=len(answered),
            lost=len(sent) - len(answered) - len(told),
            repeated=sum(times[token] - 1 for token in answered) - marks,
            marked=marks,
            excused=len(told),
            out_of_order=sum("out of order" in fault for fault in faults),
        )

    async def _on_page(self, name: str) -> None:
        chance, number = random.Random(f"{self.seed} {name}"), 0
        while await self._paused(chance):
            if self._open_of(name) < MOST_OPEN:
                number += 1
                token = f"{name}/{number}"
                self.said[token] = time.monotonic()
                await self.oracle.deliver(self.doors, name, f"key-{number}", asked(token))
                if name not in self.pages:
                    self.pages[name] = Page(self.doors, name)

    async def _in_chat(self, chatter: Chatter) -> None:
        while await self._paused(chatter.random):
            if self._open_of(f"t{chatter.user}") < MOST_OPEN:
                now = time.monotonic()
                self.said[chatter.say()] = now

    def _open_of(self, name: str) -> int:
        return sum(token not in self.seen for token in self.said if token.startswith(f"{name}/"))

    async def _paused(self, chance: random.Random) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.enough.wait(), chance.uniform(0, 2 * self.pace))
        return not self.enough.is_set()

    async def _look(self) -> None:
        """Note when each answer was first seen."""
        at, shown = 0, Counter[str]()
        while True:
            new = self.telegram.world.visible[at:]
            at += len(new)
            texts = [seen.text for seen in new]
            for name, page in self.pages.items():
                lines = list(page.shown.values())[shown[name] :]
                shown[name] += len(lines)
                texts += [
                    line.get("text", "") for line in lines if line["name"] in ("reply", "notice")
                ]
            for text in texts:
                for token in tokens_in(text)[:1]:
                    self.seen.setdefault(token, time.monotonic())
            await asyncio.sleep(LOOK)


def persons(count: int) -> list[str]:
    """The ids of so many people in Telegram."""
    return [str(FIRST_PERSON + at) for at in range(count)]
