"""What the channel keeps between its lives: how callbacks are answered, what became of sends, what nobody heard."""

import json
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import structlog

from channels.base import Notebook
from channels.errors import Ambiguous, ChannelError
from channels.wecom.messages import WecomMessage

log = structlog.get_logger(__name__)
ANSWERABLE_SECONDS = 24 * 3600.0  # seconds for which a callback's request id is believed to be good
MAX_CALLS = 5000
_CALL, _TRY, _PERSON, _UNHEARD = "req:", "try:", "who:", "unheard:"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerableCall:
    """A message of theirs that can be answered."""

    key: str
    req_id: str
    #: When it came, unix seconds.
    at: float
    #: The part that ended its stream.
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendAttempts:
    """What became of one part."""

    at: float
    #: Attempts whose fate is unknown, and how many of them no key would make one with the next.
    all: int = 0
    #: Attempts whose fate is unknown, and how many of them no key would make one with the next.
    keyless: int = 0
    #: The platform's id once it has arrived.
    done: str = ""


class WecomState:
    """The notebook as this channel reads it; without one it is kept in memory only."""

    def __init__(self) -> None:
        self._notebook: Notebook | None = None
        self._read = False
        self._calls: dict[str, AnswerableCall] = {}
        self._tries: dict[str, SendAttempts] = {}
        self._people: dict[str, str] = {}
        self._unheard: dict[str, str] = {}

    def bind(self, notebook: Notebook) -> None:
        self._notebook = notebook

    async def open(self) -> None:
        """Read what earlier lives kept; once."""
        if self._read or self._notebook is None:
            return
        pages = await self._notebook.read()
        self._calls = {**{call.key: call for call in _load_pages(pages, _CALL, AnswerableCall)}, **self._calls}
        self._tries = {**_load_tries(pages), **self._tries}
        self._people = {**_pages_named(pages, _PERSON), **self._people}
        self._unheard = {**_pages_named(pages, _UNHEARD), **self._unheard}
        self._read = True

    def call(self, key: str) -> AnswerableCall | None:
        """How the message with this key is answered, None when it no longer is."""
        call = self._calls.get(key)
        return call if call is not None and time.time() - call.at < ANSWERABLE_SECONDS else None

    def heard(self, batch: Iterable[WecomMessage]) -> dict[str, str]:
        """Note how these are answered, let go of what is too old; returns what to keep with them."""
        now = time.time()
        keep = self._outdated(now)
        for one in batch:
            key, chat = one.message.key, one.message.address.chat_id
            if one.message.act == "message":
                call = self._calls.setdefault(key, AnswerableCall(key=key, req_id=one.req_id, at=now))
                keep[_CALL + key] = _dump_value(call)
            if chat != one.to:
                self._people[chat] = keep[_PERSON + chat] = one.to
        return keep

    def chat_spelling(self, chat_id: str) -> str:
        """A chat as WeCom spells it."""
        return self._people.get(chat_id, chat_id)

    async def claim(self, call: AnswerableCall, client_key: str) -> bool:
        """Whether this part may end the stream of that message: the first that asks, forever."""
        known = self._calls.get(call.key, call)  # it may have been let go of since it was looked up
        if not known.by:
            known = self._calls[call.key] = replace(known, by=client_key)
            await self._write({_CALL + call.key: _dump_value(known)})
        return known.by == client_key

    @asynccontextmanager
    async def attempt(self, name: str, receipt: str, *, keyless: bool) -> AsyncIterator[SendAttempts]:
        """While an attempt at this part goes on; yields what became of earlier ones.

        That its fate is unknown is kept first, and taken back when it was surely refused; when it ends well, `receipt`.
        """
        before = self._tries.get(name, SendAttempts(at=time.time()))
        if before.done:
            yield before
            return
        await self._note(name, replace(before, all=before.all + 1, keyless=before.keyless + keyless))
        try:
            yield before
        except ChannelError as err:
            if not isinstance(err, Ambiguous):
                await self._settled(name, before if before.all else None)
            raise
        await self._settled(name, replace(before, done=receipt))

    async def hold(self, frames: Mapping[str, str]) -> None:
        """Keep callbacks that nobody hears at the moment, by the order they came in."""
        self._unheard |= frames
        await self._write({_UNHEARD + name: frame for name, frame in frames.items()})

    def held_callbacks(self) -> dict[str, str]:
        """What is held, in order."""
        return dict(sorted(self._unheard.items()))

    def releasing(self, names: Iterable[str]) -> dict[str, str]:
        """What to keep with the delivery of what was held."""
        return {_UNHEARD + name: "" for name in names if name in self._unheard}

    def released(self, names: Iterable[str]) -> None:
        """It is delivered."""
        for name in names:
            self._unheard.pop(name, None)

    def _outdated(self, now: float) -> dict[str, str]:
        calls = list(self._calls.values())
        old = [call.key for call in calls if now - call.at >= ANSWERABLE_SECONDS]
        old += [call.key for call in calls[len(old) : max(len(old), len(calls) - MAX_CALLS)]]
        for key in old:
            self._calls.pop(key, None)
        return {_CALL + key: "" for key in old}

    async def _settled(self, name: str, tries: SendAttempts | None) -> None:
        try:
            await self._note(name, tries)
        except OSError as err:
            log.warning("the fate of an attempt is not kept", error=str(err))

    async def _note(self, name: str, tries: SendAttempts | None) -> None:
        now = time.time()
        old = [key for key, kept in self._tries.items() if now - kept.at >= ANSWERABLE_SECONDS]
        await self._write(
            {**{_TRY + key: "" for key in old}, _TRY + name: _dump_value(tries) if tries is not None else ""}
        )
        for key in (*old, name):
            self._tries.pop(key, None)
        if tries is not None:
            self._tries[name] = tries

    async def _write(self, values: Mapping[str, str]) -> None:
        if self._notebook is not None:
            await self._notebook.write(values)


def _dump_value(value: AnswerableCall | SendAttempts) -> str:
    return json.dumps(asdict(value))


def _pages_named(pages: Mapping[str, str], start: str) -> dict[str, str]:
    return {name.removeprefix(start): page for name, page in pages.items() if name.startswith(start)}


def _load_pages(pages: Mapping[str, str], start: str, kind: type[AnswerableCall]) -> list[AnswerableCall]:
    found = [kind(**json.loads(page)) for page in _pages_named(pages, start).values()]
    return sorted(found, key=lambda call: call.at)


def _load_tries(pages: Mapping[str, str]) -> dict[str, SendAttempts]:
    read: dict[str, Any] = {key: json.loads(page) for key, page in _pages_named(pages, _TRY).items()}
    return {key: SendAttempts(**fields) for key, fields in read.items()}
