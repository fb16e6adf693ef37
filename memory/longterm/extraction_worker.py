"""Extracts lasting facts from finished turns: queued, found, stored; each step resumes after a
crash.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from memory.context.taint import is_tainted
from memory.conversation import Complete, Message
from memory.failpoints import hit_async
from memory.longterm import extraction
from memory.longterm.extraction import (
    ExtractedFact,
    ExtractionResult,
    ExtractionRules,
    KnownMemory,
    TurnExchange,
)
from memory.longterm.memories import Memories, MemoryCandidate, UpsertResult
from memory.longterm.memory_file import MemoryFileUnreadable, MemoryLossRefused
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError, WrongState
from memory.store.longterm.extractions import ExtractionMove, ExtractionQueue
from memory.store.longterm.rows import ExtractionRow, ExtractionState, MemorySource
from memory.tasks import wait_for_end
from memory.workspace.atomic_write import FileConflict
from memory.workspace.safe_path import FileTooBig, PathRefused

log = structlog.get_logger(__name__)
MAX_MODEL_ATTEMPTS = 3  # the first after the turn, the others after later turns or a start
MAX_STORE_ATTEMPTS = 20  # in all: a row that cannot be stored must not block the queue for good
# The row stays in the queue and is tried again.
RETRYABLE_ERRORS = (
    OSError,
    StoreError,
    FileConflict,
    PathRefused,
    FileTooBig,
    MemoryFileUnreadable,
    MemoryLossRefused,
)
MAX_BATCH = 8  # turns of a space in one request
MAX_NEAREST = 5  # known memories shown to the model
MORE_NEAREST = 2  # for each further turn
# of a turn in a request, at most: as many as extraction shows characters of it
EXCHANGE_TOKENS = 1_500


class NoModel(Exception):
    """No language model is configured."""


class ModelUnanswered(Exception):
    """The model failed, or fell silent."""


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
    #: Returns the token limit of a prompt to the model.
    prompt_tokens: Callable[[], int] = lambda: MAX_BATCH * EXCHANGE_TOKENS
    #: Held from reading the messages until their facts are stored; /forget takes it too.
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def step(self, space: str) -> bool:
        """Advance the space's oldest rows by one state; False when there is none or they have to
        wait.

        When the model fails or a file cannot be written, the rows wait for the next turn or start.
        """
        batch = max(1, min(MAX_BATCH, self.prompt_tokens() // EXCHANGE_TOKENS))
        rows = await self.extractions.next(space, batch)
        if not rows:
            return False
        try:
            return await (
                self._store(rows[0], space) if rows[0].state == "found" else self._find(rows, space)
            )
        except ModelUnanswered as err:
            last = rows[0].attempts >= MAX_MODEL_ATTEMPTS
            log.warning(
                "extraction unanswered",
                why=str(err),
                attempt=rows[0].attempts,
                last=last,
                rows=len(rows),
            )
            if last:
                await self._move(rows, "failed", str(err))
        except WrongState:  # its turn was forgotten in between
            return True
        except RETRYABLE_ERRORS as err:
            log.warning("extraction waits", state=rows[0].state, error=type(err).__name__)
        return False

    async def _find(self, rows: Sequence[ExtractionRow], space: str) -> bool:
        settings, worth, short = (
            self.settings(),
            list[tuple[ExtractionRow, TurnExchange]](),
            list[ExtractionRow](),
        )
        if rows[0].attempts > MAX_MODEL_ATTEMPTS:
            await self._move(rows, "failed", "no attempt came to an end")
            return True
        for row in rows:
            messages = await self.extractions.messages(row)
            exchange = replace(extraction.read_exchange(messages), tainted=is_tainted(messages))
            if settings.extract and extraction.is_worth_reading(exchange):
                worth.append((row, exchange))
            else:
                short.append(row)
        if short:
            await self._move(short, "skipped", "too short" if settings.extract else "off")
        if worth:
            await self._find_facts(worth, space, settings.rules)
        return True

    async def _find_facts(
        self,
        worth: Sequence[tuple[ExtractionRow, TurnExchange]],
        space: str,
        rules: ExtractionRules,
    ) -> None:
        """queued → found or done: ask the model once about all these turns of a space."""
        rows, exchanges = [row for row, _ in worth], [exchange for _, exchange in worth]
        words = "\n".join(exchange.user for exchange in exchanges)
        nearest = await self.memories(space).nearest(
            words, MAX_NEAREST + MORE_NEAREST * (len(rows) - 1)
        )
        known = [KnownMemory(norm=line.norm, text=line.text) for line in nearest]
        try:
            answer = await self._call_model(rows, extraction.build_prompts(exchanges, known, rules))
        except NoModel:
            await self._move(rows, "skipped", "no model")
            return
        records = extraction.parse_answer(answer)
        if records is None:
            await self._move(rows, "failed", "the answer holds no JSON")
            return
        results = await asyncio.to_thread(
            extraction.validate_facts, records, exchanges, known, rules
        )
        await self.extractions.move_queued(
            [
                ExtractionMove(
                    turn_id=row.turn_id, state="found", found=extraction.dump_result(result)
                )
                if result.facts
                else ExtractionMove(
                    turn_id=row.turn_id, state="done", reason=_outcome_text(result, 0)
                )
                for row, result in zip(rows, results, strict=True)
            ]
        )
        await hit_async("extract.found")

    async def _move(
        self, rows: Sequence[ExtractionRow], state: ExtractionState, reason: str
    ) -> None:
        await self.extractions.move_queued(
            [ExtractionMove(turn_id=row.turn_id, state=state, reason=reason) for row in rows]
        )

    async def _call_model(self, rows: Sequence[ExtractionRow], prompts: tuple[str, str]) -> str:
        most = extraction.MAX_ANSWER_TOKENS + extraction.MORE_ANSWER_TOKENS * (len(rows) - 1)
        call = self.complete(*prompts, most, rows[0].conversation)
        answer = await wait_for_end(call, timeout=None)
        if answer.cancelled():
            raise ModelUnanswered("the call was cancelled")
        if (err := answer.exception()) is not None:
            raise err if isinstance(err, NoModel) else ModelUnanswered(type(err).__name__) from err
        return answer.result()

    async def _store(self, row: ExtractionRow, space: str) -> bool:
        """found → done: store the facts whose words are still in the ledger; others were forgotten
        since.

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
                await self.extractions.move(
                    row.turn_id, "done", reason=_outcome_text(result, len(stored))
                )
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
        supported = await asyncio.to_thread(
            extraction.still_supported, [fact], extraction.read_exchange(messages)
        )
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


def _memory_source(
    row: ExtractionRow, channel: str, messages: Sequence[Message], quote: str
) -> MemorySource:
    source = next(message for message in messages if message.origin == "person")
    return MemorySource(
        conversation=row.conversation,
        message_id=source.id,
        channel=channel,
        quote=quote,
        said=source.at,
    )


def _outcome_text(result: ExtractionResult, kept: int) -> str:
    """Count the facts by outcome: "kept 1, importance 2"."""
    counts: Mapping[str, int] = {"kept": kept, "gone": len(result.facts) - kept, **result.dropped}
    return ", ".join(f"{why} {count}" for why, count in counts.items() if count or why == "kept")
