"""Notes the lasting facts of finished turns: queued, found, stored; a crash after any step goes on from there."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from memory.context.taint import is_tainted
from memory.conversation import Message
from memory.failpoints import hit_async
from memory.folding import Complete
from memory.longterm import extraction
from memory.longterm.extraction import ExtractedFact, ExtractionResult, ExtractionRules, KnownMemory, TurnExchange
from memory.longterm.memories import Memories, MemoryCandidate, UpsertResult
from memory.longterm.memory_file import MemoryFileUnreadable, MemoryLossRefused
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError, WrongState
from memory.store.longterm.extractions import ExtractionQueue
from memory.store.longterm.rows import ExtractionRow, MemorySource
from memory.workspace.files import FileConflict, FileTooBig
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
# Attempts at the model's answer; the first after the turn, the others after later turns or a start.
MAX_MODEL_ATTEMPTS = 3
MAX_STORE_ATTEMPTS = 20  # attempts in all: a row that cannot be stored must not keep the others waiting for ever
# What a row is kept for until it can be stored.
RETRYABLE_ERRORS = (OSError, StoreError, FileConflict, PathRefused, FileTooBig, MemoryFileUnreadable, MemoryLossRefused)
MAX_NEAREST = 5
MODEL_SECONDS = 60.0


class NoModel(Exception):
    """There is no language model to ask; nothing is wrong."""


class ModelUnanswered(Exception):
    """The model failed, or took longer than DEADLINE seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSettings:
    """As configured at that moment."""

    #: Whether facts are noted at all.
    extract: bool
    rules: ExtractionRules


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionWorker:
    """Works off the queue of one space after the other."""

    extractions: ExtractionQueue
    sessions: Sessions
    #: A space's long-term memory.
    memories: Callable[[str], Memories]
    #: Asks the fast model; it raises NoModel where there is none.
    complete: Complete
    settings: Callable[[], ExtractionSettings]
    deadline: float = MODEL_SECONDS
    #: Held from the look at the record to the end of what is stored, so that nothing is forgotten in between.
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def step(self, space: str) -> bool:
        """Bring the space's oldest row one state on; False when there is none, or when it has to wait.

        A row waits for the next turn or start where the model fails or a file cannot be written.
        """
        row = await self.extractions.next(space)
        if row is None:
            return False
        try:
            return await (self._store(row, space) if row.state == "found" else self._find(row, space))
        except ModelUnanswered as err:
            await self._unanswered(row, str(err))
        except WrongState:  # what was said in its turn has been forgotten meanwhile
            return True
        except RETRYABLE_ERRORS as err:
            log.warning("extraction waits", state=row.state, error=type(err).__name__)
        return False

    async def _find(self, row: ExtractionRow, space: str) -> bool:
        settings, messages = self.settings(), await self.extractions.messages(row)
        said = replace(extraction.read_exchange(messages), tainted=is_tainted(messages))
        if row.attempts > MAX_MODEL_ATTEMPTS:
            await self.extractions.move(row.turn_id, "failed", reason="no attempt came to an end")
        elif not settings.extract or not extraction.is_worth_reading(said):
            await self.extractions.move(row.turn_id, "skipped", reason="too short" if settings.extract else "off")
        else:
            await self._ask(row, space, said, settings.rules)
        return True

    async def _ask(self, row: ExtractionRow, space: str, said: TurnExchange, rules: ExtractionRules) -> None:
        near = await self.memories(space).nearest(said.user, MAX_NEAREST)
        known = [KnownMemory(norm=line.norm, text=line.text, category=line.category) for line in near]
        try:
            answer = await self._answer(row, extraction.build_prompts(said, known, rules))
        except NoModel:
            await self.extractions.move(row.turn_id, "skipped", reason="no model")
            return
        records = extraction.parse_answer(answer)
        if records is None:
            await self.extractions.move(row.turn_id, "failed", reason="the answer holds no JSON")
            return
        sifted = await asyncio.to_thread(extraction.validate_facts, records, said, known, rules)
        await self.extractions.move(row.turn_id, "found", found=extraction.dump_result(sifted))
        await hit_async("extract.found")

    async def _answer(self, row: ExtractionRow, prompts: tuple[str, str]) -> str:
        asked = asyncio.ensure_future(self.complete(*prompts, extraction.MAX_ANSWER_TOKENS, row.conversation))
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else may look at it
        try:
            await asyncio.wait((asked,), timeout=self.deadline)
        finally:
            asked.cancel()
        if not asked.done() or asked.cancelled():
            raise ModelUnanswered("the model took too long")
        if (err := asked.exception()) is not None:
            raise err if isinstance(err, NoModel) else ModelUnanswered(type(err).__name__) from err
        return asked.result()

    async def _store(self, row: ExtractionRow, space: str) -> bool:
        """What was found, as far as the person's words still stand in the record: they may have been forgotten since.

        A line that is there already stays as it is, so that a second time changes nothing.
        """
        if row.attempts > MAX_STORE_ATTEMPTS:
            await self.extractions.move(row.turn_id, "failed", reason="it could not be stored")
            return True
        sifted, made = extraction.load_result(row.found), list[UpsertResult]()
        channel = await self._channel(row)
        async with self.storing:
            for fact in sifted.facts:
                made += await self._stored(row, space, channel, fact)
            try:
                await self.extractions.move(row.turn_id, "done", reason=_outcome_text(sifted, len(made)))
            except WrongState:
                await self._take_back(space, made)
                raise
        await hit_async("extract.done")
        return True

    async def _stored(
        self, row: ExtractionRow, space: str, channel: str, fact: ExtractedFact
    ) -> Sequence[UpsertResult]:
        """One fact's line; none where its words, or the whole row, have been forgotten."""
        held = await self.extractions.row(row.turn_id)
        messages = await self.extractions.messages(row)
        said = await asyncio.to_thread(extraction.still_supported, [fact], extraction.read_exchange(messages))
        if held is None or held.state != "found" or not said:
            return ()
        candidate = MemoryCandidate(
            category=fact.category,
            text=fact.text,
            importance=fact.importance,
            origin="extraction",
            source=_memory_source(row, channel, messages, fact.quote),
            replaces=fact.replaces,
        )
        upserted = await self.memories(space).upsert(candidate)
        await hit_async("extract.upserted")
        return (upserted,)

    async def _take_back(self, space: str, made: Sequence[UpsertResult]) -> None:
        norms = [one.row.norm for one in made if one.action == "created"]
        if norms:
            await self.memories(space).remove(norms, "forget")

    async def _channel(self, row: ExtractionRow) -> str:
        conversation = await self.sessions.conversation(row.conversation)
        return conversation.place.channel if conversation else ""

    async def _unanswered(self, row: ExtractionRow, why: str) -> None:
        last = row.attempts >= MAX_MODEL_ATTEMPTS
        log.warning("extraction unanswered", why=why, attempt=row.attempts, last=last)
        if last:
            await self.extractions.move(row.turn_id, "failed", reason=why)


def _memory_source(row: ExtractionRow, channel: str, messages: Sequence[Message], quote: str) -> MemorySource:
    said = next(message for message in messages if message.origin == "person")
    return MemorySource(conversation=row.conversation, message_id=said.id, channel=channel, quote=quote, said=said.at)


def _outcome_text(sifted: ExtractionResult, kept: int) -> str:
    """How many facts were kept, and how many dropped for what: "kept 1, importance 2"."""
    counts: Mapping[str, int] = {"kept": kept, "gone": len(sifted.facts) - kept, **sifted.dropped}
    return ", ".join(f"{why} {count}" for why, count in counts.items() if count or why == "kept")
