"""Extracts lasting facts from finished turns: queued, found, stored; each step resumes after a crash."""

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
from memory.tasks import wait_for_end
from memory.workspace.files import FileConflict, FileTooBig
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
MAX_MODEL_ATTEMPTS = 3  # the first after the turn, the others after later turns or a start
MAX_STORE_ATTEMPTS = 20  # in all: a row that cannot be stored must not block the queue for good
# The row stays in the queue and is tried again.
RETRYABLE_ERRORS = (OSError, StoreError, FileConflict, PathRefused, FileTooBig, MemoryFileUnreadable, MemoryLossRefused)
MAX_NEAREST = 5  # known memories shown to the model
MODEL_SECONDS = 60.0


class NoModel(Exception):
    """No language model is configured."""


class ModelUnanswered(Exception):
    """The model failed or did not answer in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSettings:
    """Settings that are read for each row."""

    #: Whether facts are extracted at all.
    extract: bool
    rules: ExtractionRules


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionWorker:
    """Processes the extraction queue of a space, oldest row first."""

    extractions: ExtractionQueue
    sessions: Sessions
    #: A space's long-term memory.
    memories: Callable[[str], Memories]
    #: Calls the fast model; raises NoModel when there is none.
    complete: Complete
    settings: Callable[[], ExtractionSettings]
    deadline: float = MODEL_SECONDS
    #: Held from reading the messages until their facts are stored; /forget takes it too.
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def step(self, space: str) -> bool:
        """Advance the space's oldest row by one state; False when there is none or it has to wait.

        When the model fails or a file cannot be written, the row waits for the next turn or start.
        """
        row = await self.extractions.next(space)
        if row is None:
            return False
        try:
            return await (self._store(row, space) if row.state == "found" else self._find(row, space))
        except ModelUnanswered as err:
            last = row.attempts >= MAX_MODEL_ATTEMPTS
            log.warning("extraction unanswered", why=str(err), attempt=row.attempts, last=last)
            if last:
                await self.extractions.move(row.turn_id, "failed", reason=str(err))
        except WrongState:  # its turn was forgotten in between
            return True
        except RETRYABLE_ERRORS as err:
            log.warning("extraction waits", state=row.state, error=type(err).__name__)
        return False

    async def _find(self, row: ExtractionRow, space: str) -> bool:
        settings, messages = self.settings(), await self.extractions.messages(row)
        exchange = replace(extraction.read_exchange(messages), tainted=is_tainted(messages))
        if row.attempts > MAX_MODEL_ATTEMPTS:
            await self.extractions.move(row.turn_id, "failed", reason="no attempt came to an end")
        elif not settings.extract or not extraction.is_worth_reading(exchange):
            await self.extractions.move(row.turn_id, "skipped", reason="too short" if settings.extract else "off")
        else:
            await self._find_facts(row, space, exchange, settings.rules)
        return True

    async def _find_facts(self, row: ExtractionRow, space: str, exchange: TurnExchange, rules: ExtractionRules) -> None:
        nearest = await self.memories(space).nearest(exchange.user, MAX_NEAREST)
        known = [KnownMemory(norm=line.norm, text=line.text, category=line.category) for line in nearest]
        try:
            answer = await self._call_model(row, extraction.build_prompts(exchange, known, rules))
        except NoModel:
            await self.extractions.move(row.turn_id, "skipped", reason="no model")
            return
        records = extraction.parse_answer(answer)
        if records is None:
            await self.extractions.move(row.turn_id, "failed", reason="the answer holds no JSON")
            return
        result = await asyncio.to_thread(extraction.validate_facts, records, exchange, known, rules)
        await self.extractions.move(row.turn_id, "found", found=extraction.dump_result(result))
        await hit_async("extract.found")

    async def _call_model(self, row: ExtractionRow, prompts: tuple[str, str]) -> str:
        call = self.complete(*prompts, extraction.MAX_ANSWER_TOKENS, row.conversation)
        answer = await wait_for_end(call, timeout=self.deadline)
        if not answer.done() or answer.cancelled():
            raise ModelUnanswered("the model took too long")
        if (err := answer.exception()) is not None:
            raise err if isinstance(err, NoModel) else ModelUnanswered(type(err).__name__) from err
        return answer.result()

    async def _store(self, row: ExtractionRow, space: str) -> bool:
        """found → done: store the facts whose words are still in the ledger; others were forgotten since.

        An existing line stays as it is, so that a second run changes nothing.
        """
        if row.attempts > MAX_STORE_ATTEMPTS:
            await self.extractions.move(row.turn_id, "failed", reason="it could not be stored")
            return True
        result, stored = extraction.load_result(row.found), list[UpsertResult]()
        conversation = await self.sessions.conversation(row.conversation)
        channel = conversation.place.channel if conversation else ""
        async with self.storing:
            for fact in result.facts:
                stored += await self._store_fact(row, space, channel, fact)
            try:
                await self.extractions.move(row.turn_id, "done", reason=_outcome_text(result, len(stored)))
            except WrongState:
                if norms := [one.row.norm for one in stored if one.action == "created"]:
                    await self.memories(space).remove(norms, "forget")
                raise
        await hit_async("extract.done")
        return True

    async def _store_fact(
        self, row: ExtractionRow, space: str, channel: str, fact: ExtractedFact
    ) -> Sequence[UpsertResult]:
        """Store one fact; nothing when its words or the whole row were forgotten."""
        current = await self.extractions.row(row.turn_id)
        messages = await self.extractions.messages(row)
        supported = await asyncio.to_thread(extraction.still_supported, [fact], extraction.read_exchange(messages))
        if current is None or current.state != "found" or not supported:
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


def _memory_source(row: ExtractionRow, channel: str, messages: Sequence[Message], quote: str) -> MemorySource:
    source = next(message for message in messages if message.origin == "person")
    return MemorySource(
        conversation=row.conversation, message_id=source.id, channel=channel, quote=quote, said=source.at
    )


def _outcome_text(result: ExtractionResult, kept: int) -> str:
    """Count the facts by outcome: "kept 1, importance 2"."""
    counts: Mapping[str, int] = {"kept": kept, "gone": len(result.facts) - kept, **result.dropped}
    return ", ".join(f"{why} {count}" for why, count in counts.items() if count or why == "kept")
