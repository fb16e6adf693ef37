"""Learns from the usage that providers report: token counter corrections, shares from their
cache.
"""

import asyncio
import re
from collections.abc import Coroutine, Mapping
from typing import Any

import structlog

from memory.context.tokens import (
    HALF_OF_RANKS,
    WEIGHTED,
    TokenCounter,
    calibrate_factor,
    is_believable,
    load_o200k_counter,
)
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
SETTLED_SAMPLES = 10  # replies; after these only a change of more than MIN_FACTOR_CHANGE is stored
MIN_FACTOR_CHANGE = 0.005
# of the newest reply in a conversation's factor: its requests repeat most of their text
CONVERSATION_WEIGHT = 0.7
MAX_FACTORS = 10_000
# in which factors gather for one transaction; those of a process that dies are learned again
STORE_SECONDS = 5.0

_DATED = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$")

CalibrationFactor = tuple[float, int, float]  # (factor, samples, last error in per cent)
NO_CALIBRATION: CalibrationFactor = (1.0, 0, 0.0)


class TokenCalibration:
    """Learns a factor for each model, and one for each conversation with it.

    The error of the counter depends on the text: one mean for Chinese, English and code is wrong
    for each of them. So a conversation starts with its model's factor and continues with its own.
    Factors are rows, so that a restart plans with the same numbers. Only this process writes them,
    so each row is read once.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._known: dict[str, CalibrationFactor] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._unstored: dict[str, CalibrationFactor] = {}
        self._storing: asyncio.TimerHandle | None = None
        #: Share of the newest request that came from the provider's cache, 0 to 1, by conversation.
        self.shares: dict[str, float] = {}

    async def factor(self, model: str, conversation: str = "") -> CalibrationFactor:
        """Return the conversation's factor for the model, else the model's, else NO_CALIBRATION.

        Args:
            model: a dated snapshot counts as the model without the date.
        """
        if conversation:
            own = await self._read(_factor_key(model, conversation))
            if own[1]:
                return own
        return await self._read(_factor_key(model))

    def note(self, model: str, counted: int, actual: int, conversation: str) -> None:
        """Learn at once, and store it some seconds later; what is lost is learned again."""
        keys = _factor_keys(model, conversation)
        if not is_believable(counted, actual):
            return
        if all(key in self._known for key in keys):
            learned = _learn_factors({key: self._known[key] for key in keys}, counted, actual)
            self._unstored.update(self._changed(learned))
            self._known.update(learned)
            if self._unstored and self._storing is None:
                self._storing = asyncio.get_running_loop().call_later(
                    STORE_SECONDS, self._store_soon
                )
            return
        self._start(self.learn(model, counted, actual, conversation))

    async def settled(self) -> None:
        """Store what is noted, and wait until it is."""
        self._store_soon()
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    def _store_soon(self) -> None:
        if self._storing is not None:
            self._storing.cancel()
            self._storing = None
        if self._unstored:
            learned, self._unstored = self._unstored, {}
            self._start(self._write(learned))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    async def learn(self, model: str, counted: int, actual: int, conversation: str = "") -> None:
        """Learn from the usage of one reply, unless it is missing or cannot be true.

        Args:
            counted: our count of the request, without a factor.
            actual: the provider's count; 0 if it gave none.
        """
        if not is_believable(counted, actual):
            return
        known = {key: await self._read(key) for key in _factor_keys(model, conversation)}
        await self._store(_learn_factors(known, counted, actual))

    async def _read(self, row: str) -> CalibrationFactor:
        if row not in self._known:
            if len(self._known) >= MAX_FACTORS:
                self._known.clear()
            found = await self._sessions.factor(row)
            return self._known.setdefault(row, found)  # a factor learned during the read is newer
        return self._known[row]

    async def _store(self, learned: Mapping[str, CalibrationFactor]) -> None:
        """Update memory, then the store; a failed write is undone in memory."""
        changed = self._changed(learned)
        self._known.update(learned)
        if changed:
            await self._write(changed)

    async def _write(self, changed: Mapping[str, CalibrationFactor]) -> None:
        """Store factors; where that fails they are read again."""
        try:
            await self._sessions.set_factors(changed)
        except StoreError:
            for row in changed:
                self._known.pop(row, None)
            raise

    def _changed(self, learned: Mapping[str, CalibrationFactor]) -> dict[str, CalibrationFactor]:
        """Return the factors that differ from the known ones, errors aside."""
        return {
            key: factor
            for key, factor in learned.items()
            if factor[:2] != self._known.get(key, NO_CALIBRATION)[:2]
        }

    def note_cache(self, conversation: str, cached: int, total: int) -> None:
        """Record how many input tokens of the newest request came from the provider's cache."""
        self.shares.pop(conversation, None)
        if len(self.shares) >= MAX_FACTORS:
            del self.shares[next(iter(self.shares))]
        self.shares[conversation] = cached / total if total else 0.0

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.warning("a factor was not kept", error=type(err).__name__)


def _update_factor(before: CalibrationFactor, fresh: float, error: float) -> CalibrationFactor:
    """Return the estimate after one more reply; a settled factor changes only if it moved
    noticeably.
    """
    factor, samples, _ = before
    if samples >= SETTLED_SAMPLES and abs(fresh - factor) <= MIN_FACTOR_CHANGE:
        return factor, samples, round(error, 2)
    return round(fresh, 4), samples + 1, round(error, 2)


def _learn_factors(
    known: Mapping[str, CalibrationFactor], counted: int, actual: int
) -> Mapping[str, CalibrationFactor]:
    """Return the factors after one more reply. known: the model's factor, then perhaps the
    conversation's.

    Pure.
    """
    (model_key, of_model), *conversation = known.items()
    used = next((own for _, own in conversation if own[1]), of_model)
    _, error = calibrate_factor(used[0], counted, actual)
    fresh, _ = calibrate_factor(of_model[0], counted, actual)
    learned = {model_key: _update_factor(of_model, fresh, error)}
    for key, own in conversation:
        fresh, _ = calibrate_factor(used[0], counted, actual, CONVERSATION_WEIGHT)
        learned[key] = _update_factor((used[0], own[1], own[2]), fresh, error)
    return learned


def _factor_keys(model: str, conversation: str) -> tuple[str, ...]:
    """Return the key of the model's factor, and that of the conversation's if there is one."""
    return (
        (_factor_key(model), _factor_key(model, conversation))
        if conversation
        else (_factor_key(model),)
    )


def _factor_key(model: str, conversation: str = "") -> str:
    """Return the key of a stored factor: the model's name, then a space and the conversation's
    id.
    """
    return f"{_DATED.sub('', model)} {conversation}".rstrip()


def load_best_counter() -> TokenCounter:
    """Return the counter of tiktoken, with half of its ranks, or the weighted one if they are
    missing.

    The other half takes 22 MB and .4 s, for a count that is 3 to 9 % nearer to one provider's. The
    factor learns that from the first replies, as it does the tokenizers of other providers.
    """
    try:
        return load_o200k_counter(HALF_OF_RANKS)
    except OSError as err:
        log.warning("token ranks missing, counting by weight", error=str(err))
        return WEIGHTED
