"""Stored state of a WeCom bot: answerable messages, outcomes of sends, undelivered callbacks."""

import json
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace

import structlog

from channels.base import Notebook
from channels.errors import Ambiguous, ChannelError
from channels.wecom.messages import WecomMessage

log = structlog.get_logger(__name__)
ANSWERABLE_SECONDS = 24 * 3600.0  # for which a callback's request id is assumed to be valid
MAX_CALLS = 5000
# Prefixes of names in the notebook.
_CALL, _ATTEMPTS, _SPELLING, _UNDELIVERED = "req:", "try:", "who:", "unheard:"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerableCall:
    """A received message that can be answered. Stored as JSON by these field names."""

    key: str
    req_id: str
    #: When it was received: unix seconds.
    at: float
    #: Client key of the part that ends its stream, "" for none yet.
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendAttempts:
    """Outcome of the attempts to send one part. Stored as JSON by these field names."""

    #: Of the first attempt: unix seconds.
    at: float
    #: Attempts whose outcome is unknown.
    all: int = 0
    #: Those of them without an idempotency key.
    keyless: int = 0
    #: The platform's id once the part was sent.
    done: str = ""


class WecomState:
    """The notebook, read once and held in memory; without one, state is in memory only."""

    def __init__(self) -> None:
        self._notebook: Notebook | None = None
        self._read = False
        self._calls: dict[str, AnswerableCall] = {}
        self._attempts: dict[str, SendAttempts] = {}
        #: WeCom's spelling of a chat, by chat id.
        self._spellings: dict[str, str] = {}
        #: Frames by the time they were received.
        self._undelivered: dict[str, str] = {}

    def bind(self, notebook: Notebook) -> None:
        self._notebook = notebook

    async def open(self) -> None:
        """Read the notebook, the first time."""
        if self._read or self._notebook is None:
            return
        values = await self._notebook.read()
        calls = [
            AnswerableCall(**json.loads(value)) for value in _with_prefix(values, _CALL).values()
        ]
        attempts = {
            key: SendAttempts(**json.loads(value))
            for key, value in _with_prefix(values, _ATTEMPTS).items()
        }
        self._calls = {
            call.key: call for call in sorted(calls, key=lambda call: call.at)
        } | self._calls
        self._attempts = attempts | self._attempts
        self._spellings = _with_prefix(values, _SPELLING) | self._spellings
        self._undelivered = _with_prefix(values, _UNDELIVERED) | self._undelivered
        self._read = True

    def call(self, key: str) -> AnswerableCall | None:
        """Return how to answer the message with this key; None if that is no longer possible."""
        call = self._calls.get(key)
        return call if call is not None and time.time() - call.at < ANSWERABLE_SECONDS else None

    def update(self, batch: Iterable[WecomMessage]) -> dict[str, str]:
        """Record how to answer these, and drop old ones; return the notebook values to store with
        them.
        """
        now = time.time()
        values = self._outdated(now)
        for one in batch:
            key, chat = one.message.key, one.message.address.chat_id
            if one.message.act == "message":
                call = self._calls.setdefault(
                    key, AnswerableCall(key=key, req_id=one.req_id, at=now)
                )
                values[_CALL + key] = _dump_value(call)
            if chat != one.to:
                self._spellings[chat] = values[_SPELLING + chat] = one.to
        return values

    def chat_spelling(self, chat_id: str) -> str:
        """Return a chat id as WeCom spells it."""
        return self._spellings.get(chat_id, chat_id)

    async def claim(self, call: AnswerableCall, client_key: str) -> bool:
        """Whether this part may end the stream of that message: only the first one that claims
        it.
        """
        known = self._calls.get(call.key, call)  # it may have been dropped meanwhile
        if not known.by:
            known = self._calls[call.key] = replace(known, by=client_key)
            await self._write({_CALL + call.key: _dump_value(known)})
        return known.by == client_key

    @asynccontextmanager
    async def attempt(
        self, name: str, receipt: str, *, keyless: bool
    ) -> AsyncIterator[SendAttempts]:
        """Record an attempt to send this part; yield the outcome of earlier ones.

        It is first stored as unknown, then as sent with this receipt, or removed if it certainly
        failed.
        """
        before = self._attempts.get(name, SendAttempts(at=time.time()))
        if before.done:
            yield before
            return
        await self._store_attempts(
            name, replace(before, all=before.all + 1, keyless=before.keyless + keyless)
        )
        try:
            yield before
        except ChannelError as err:
            if not isinstance(err, Ambiguous):
                await self._store_outcome(name, before if before.all else None)
            raise
        await self._store_outcome(name, replace(before, done=receipt))

    async def store_undelivered(self, frames: Mapping[str, str]) -> None:
        """Store callbacks that could not be delivered, by the time they were received."""
        self._undelivered |= frames
        await self._write({_UNDELIVERED + name: frame for name, frame in frames.items()})

    def undelivered(self) -> dict[str, str]:
        """Return the stored callbacks in order."""
        return dict(sorted(self._undelivered.items()))

    def removal_of(self, names: Iterable[str]) -> dict[str, str]:
        """Return the notebook values that remove stored callbacks, to be stored with their
        delivery.
        """
        return {_UNDELIVERED + name: "" for name in names if name in self._undelivered}

    def delivered(self, names: Iterable[str]) -> None:
        """Drop stored callbacks that were delivered."""
        for name in names:
            self._undelivered.pop(name, None)

    def _outdated(self, now: float) -> dict[str, str]:
        calls = list(self._calls.values())
        old = [call.key for call in calls if now - call.at >= ANSWERABLE_SECONDS]
        old += [call.key for call in calls[len(old) : max(len(old), len(calls) - MAX_CALLS)]]
        for key in old:
            self._calls.pop(key, None)
        return {_CALL + key: "" for key in old}

    async def _store_outcome(self, name: str, attempts: SendAttempts | None) -> None:
        try:
            await self._store_attempts(name, attempts)
        except OSError as err:
            log.warning("the fate of an attempt is not kept", error=str(err))

    async def _store_attempts(self, name: str, attempts: SendAttempts | None) -> None:
        """Store the attempts of a part, None to remove them; drop old ones."""
        now = time.time()
        old = [
            key for key, former in self._attempts.items() if now - former.at >= ANSWERABLE_SECONDS
        ]
        value = _dump_value(attempts) if attempts is not None else ""
        await self._write({**{_ATTEMPTS + key: "" for key in old}, _ATTEMPTS + name: value})
        for key in (*old, name):
            self._attempts.pop(key, None)
        if attempts is not None:
            self._attempts[name] = attempts

    async def _write(self, values: Mapping[str, str]) -> None:
        if self._notebook is not None:
            await self._notebook.write(values)


def _dump_value(value: AnswerableCall | SendAttempts) -> str:
    return json.dumps(asdict(value))


def _with_prefix(values: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {
        name.removeprefix(prefix): value
        for name, value in values.items()
        if name.startswith(prefix)
    }
