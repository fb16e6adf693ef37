"""Learns from the usage that providers report: corrects the token counter, records the cache share."""

import asyncio
import re
from collections.abc import Mapping

import structlog

from memory.context.tokens import WEIGHTED, TokenCounter, calibrate_factor, is_believable, load_o200k_counter
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
SETTLED_SAMPLES = 10  # after so many replies only a change of more than `MIN_FACTOR_CHANGE` is written
MIN_FACTOR_CHANGE = 0.005
# Of the newest reply in a conversation's own factor: its requests repeat one another but for the last words.
CONVERSATION_WEIGHT = 0.7
MAX_FACTORS = 10_000
WINDOW_KEY = "window"  # behind a model's name: the row of the window that its provider named

_DATED = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$")

CalibrationFactor = tuple[float, int, float]  # (factor, samples, last error in per cent)
NO_CALIBRATION: CalibrationFactor = (1.0, 0, 0.0)


class TokenCalibration:
    """Learns one factor per model, and from it one for each conversation with that model.

    How far a counter is off depends on what it counts. One mean for a model that hears Chinese, English and code by
    turns is wrong for each of them, so a conversation starts with its model's factor and goes on with its own.

    Both are rows. What is kept here is what the rows say, so a restart plans with the same numbers; this process
    alone writes them, so each is read once. shares: of the newest request of a conversation, how much its provider's
    cache gave, 0 to 1.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._known: dict[str, CalibrationFactor] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.shares: dict[str, float] = {}

    async def factor(self, model: str, conversation: str = "") -> CalibrationFactor:
        """Return the factor learnt for the model in the conversation, else for the model; (1.0, 0, 0.0) if new.

        model: a name with a date is the same model as the name without.
        """
        if conversation:
            own = await self._read(_factor_key(model, conversation))
            if own[1]:
                return own
        return await self._read(_factor_key(model))

    def note(self, model: str, counted: int, actual: int, conversation: str) -> None:
        """Learn in the background: a row that is lost is learnt again."""
        task = asyncio.create_task(self.learn(model, counted, actual, conversation))
        self._tasks.add(task)
        task.add_done_callback(self._noted)

    async def settled(self) -> None:
        """Wait until everything noted is stored."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    async def learn(self, model: str, counted: int, actual: int, conversation: str = "") -> None:
        """One reply's usage. counted: our count of the request without a factor; actual: the provider's.

        Nothing is learnt where the provider did not say (0) or named what cannot be the size of this request.
        """
        if not is_believable(counted, actual):
            return
        used = await self.factor(model, conversation)
        _, error = calibrate_factor(used[0], counted, actual)
        whole = await self._read(_factor_key(model))
        fresh, _ = calibrate_factor(whole[0], counted, actual)
        learned = {_factor_key(model): _update_factor(whole, fresh, error)}
        if conversation:
            own = await self._read(_factor_key(model, conversation))
            start = own if own[1] else whole
            fresh, _ = calibrate_factor(start[0], counted, actual, CONVERSATION_WEIGHT)
            learned[_factor_key(model, conversation)] = _update_factor((start[0], own[1], own[2]), fresh, error)
        await self._keep(learned)

    async def window(self, model: str) -> int:
        """The window that this model's provider named when it refused a request; 0 where it never did."""
        tokens, known, _ = await self._read(_factor_key(model, WINDOW_KEY))
        return int(tokens) if known else 0

    async def note_window(self, model: str, tokens: int) -> None:
        """A provider has named its limit; the least that it named holds."""
        known = await self.window(model)
        if not known or tokens < known:
            await self._keep({_factor_key(model, WINDOW_KEY): (float(tokens), 1, 0.0)})

    async def _read(self, row: str) -> CalibrationFactor:
        if row not in self._known:
            if len(self._known) >= MAX_FACTORS:
                self._known.clear()
            found = await self._sessions.factor(row)
            return self._known.setdefault(row, found)  # what was learnt while we read is newer
        return self._known[row]

    async def _keep(self, learned: Mapping[str, CalibrationFactor]) -> None:
        """Update memory before the store, both in one order; a failed write is dropped."""
        changed = {
            row: factor for row, factor in learned.items() if factor[:2] != self._known.get(row, NO_CALIBRATION)[:2]
        }
        self._known.update(learned)
        if not changed:
            return
        try:
            await self._sessions.set_factors(changed)
        except StoreError:
            for row in changed:
                self._known.pop(row, None)
            raise

    def note_cache(self, conversation: str, cached: int, whole: int) -> None:
        """Of `whole` tokens of the newest request, the provider took `cached` from its cache."""
        self.shares.pop(conversation, None)
        if len(self.shares) >= MAX_FACTORS:
            del self.shares[next(iter(self.shares))]
        self.shares[conversation] = cached / whole if whole else 0.0

    def _noted(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.warning("a factor was not kept", error=type(err).__name__)


def _update_factor(before: CalibrationFactor, fresh: float, error: float) -> CalibrationFactor:
    """Return the estimate after one more reply; a settled factor changes only if it moved noticeably."""
    factor, samples, _ = before
    if samples >= SETTLED_SAMPLES and abs(fresh - factor) <= MIN_FACTOR_CHANGE:
        return factor, samples, round(error, 2)
    return round(fresh, 4), samples + 1, round(error, 2)


def _factor_key(model: str, conversation: str = "") -> str:
    """The name a factor is stored under: the model's, and behind a space the conversation's id."""
    return f"{_DATED.sub('', model)} {conversation}".rstrip()


# What everything is counted with.


def load_best_counter() -> TokenCounter:
    """The best counter there is: tiktoken's, or the weighted one where its ranks are missing."""
    try:
        return load_o200k_counter()
    except OSError as err:
        log.warning("token ranks missing, counting by weight", error=str(err))
        return WEIGHTED
