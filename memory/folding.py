"""One fold, step by step: plan, summarise, validate, log, commit. It resumes from its last finished step."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memory.context.summary import prompt
from memory.context.summary.extractive import detect_language, log_utterances, part_summary
from memory.context.summary.prompt import MAX_PROMPT_TOKENS, FoldTexts, PromptBudget, PromptChunk, Task
from memory.context.summary.validation import FoldSource, SummaryLimit, validate_summary
from memory.context.taint import CLEAN_FOLD
from memory.context.tokens import TokenCounter
from memory.conversation import Message
from memory.failpoints import hit_async
from memory.store.conversations.folds import Folds
from memory.store.conversations.sessions import Sessions
from memory.store.rows import FoldMethod, FoldPlan, FoldRow
from memory.tasks import result_or_none
from memory.workspace import daily_log
from memory.workspace.daily_log import LogSection
from memory.workspace.files import Workspace
from memory.workspace.fold_labels import label_texts

# Calls a model with system prompt, prompt, limit of answer tokens, and id of the conversation that is charged.
# May raise anything, or never return.
Complete = Callable[[str, str, int, str], Awaitable[str]]

MAX_STEPS_BACK = 4  # extractive folds before this one that are summarised again from their messages
MAX_PARALLEL_CALLS = 4  # model calls of one fold at the same time
CHUNKS_TIME_SHARE = 2 / 3  # of the deadline; the merge gets the rest
DEFAULT_SUMMARY = 1_000  # tokens the prompt allows for a summary that is thrown away


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRunner:
    """Runs folds. Each step ends in a transaction, so that a crash at any point loses no finished step."""

    folds: Folds
    sessions: Sessions
    workspace: Workspace
    complete: Complete
    counter: Callable[[], TokenCounter]
    #: Time zone of the daily log.
    zone: tzinfo
    #: Seconds for all model calls of one fold.
    deadline: float = 60.0
    #: Token limit of a summary, by policy name.
    summary_tokens: Callable[[str], int] = lambda policy: 1_000
    #: Token limit of one prompt; a longer range is summarised in chunks.
    prompt_tokens: int = MAX_PROMPT_TOKENS
    #: Called with the row and "planned", "summarised", "digest" (no usable answer), "logged", "folded" or "stale".
    notify: Callable[[FoldRow, str], None] = lambda row, what: None

    async def start(self, plan: FoldPlan) -> FoldRow | None:
        """Store the plan; None when a fold of this conversation is open or the view has moved on."""
        row = await self.folds.plan(plan)
        if row is not None:
            await hit_async("fold.planned")
            self.notify(row, "planned")
        return row

    async def run_fold(
        self, row: FoldRow, *, extract: bool = False, finish_now: asyncio.Event | None = None
    ) -> FoldRow | None:
        """Run the remaining steps of a fold; None when it has become stale.

        Args:
            extract: call no model; the summary is extracted from the messages.
            finish_now: once set, the model is not waited for any longer, and the summary is extracted.

        Raises:
            OSError: the daily log could not be written; the fold stays in its state.
            StoreError: the store failed; the fold stays in its state.
        """
        finish_now = finish_now or asyncio.Event()
        if extract:
            finish_now.set()
        source = await self._load_source(row)
        current: FoldRow | None = row
        if row.state == "planned":
            current = await self._summarise(row, source, finish_now)
            self._notify_state(current, "summarised")
        if current and current.state == "summarised":
            current = await self._validate(current, source, finish_now)
        if current and current.state == "checked":
            current = await self._write_log(current, resumed=row.state == "checked")
            self._notify_state(current, "logged")
        if current and current.state == "logged":
            current = await self._commit(current, source)
        if current is None or current.state != "folded":
            await self._mark_stale(row)
            return None
        self.notify(current, "folded")
        return current

    async def _load_source(self, row: FoldRow) -> FoldSource:
        """Load the messages of the range and what the new summary continues.

        Extractive summaries before it are replaced by their messages: a model summarises them better than a digest.
        """
        turns = await self.sessions.messages(row.conversation, row.from_seq, row.to_seq)
        previous = None if row.log_only else await self._load_fold(row.prev_fold)
        replaced, from_seq = previous.summary_tokens if previous else 0, row.from_seq
        for _ in range(MAX_STEPS_BACK):
            if previous is None or previous.method == "model":
                break
            from_seq = previous.from_seq
            previous = await self._load_fold(previous.prev_fold)
        earlier: list[Message] = []
        if from_seq < row.from_seq:
            earlier = await self.sessions.messages(row.conversation, from_seq, row.from_seq - 1)
        return FoldSource(
            before=previous.summary if previous else "",
            label=previous.label if previous else CLEAN_FOLD,
            replaced=replaced,
            earlier=tuple(earlier),
            turns=tuple(turns),
            at=row.at,
        )

    async def _load_fold(self, id: str) -> FoldRow | None:
        return await self.folds.fold(id) if id else None

    async def _summarise(self, row: FoldRow, source: FoldSource, finish_now: asyncio.Event) -> FoldRow | None:
        """planned → summarised: store the model's log and summary, or empty texts for an extractive fold."""
        texts = None if finish_now.is_set() else await self._request_texts(row, source, finish_now)
        method: FoldMethod = "model" if texts else "extract"
        log, summary = (texts.log, texts.summary) if texts else ("", "")
        after = await self.folds.advance(row, "summarised", method=method, log_text=log, summary=summary)
        await hit_async("fold.summarised")
        return after

    async def _request_texts(self, row: FoldRow, source: FoldSource, finish_now: asyncio.Event) -> FoldTexts | None:
        """The model's texts; None when it fails, is too slow or gives no valid answer, or `finish_now` is set."""
        writer = SummaryWriter(
            complete=self.complete,
            conversation=row.conversation,
            counter=await asyncio.to_thread(self.counter),
            zone=self.zone,
            deadline=self.deadline,
            prompt_tokens=self.prompt_tokens,
            summary_tokens=self._summary_limit(row),
        )
        request = asyncio.create_task(writer.write(source))
        stop = asyncio.create_task(finish_now.wait())
        try:
            await asyncio.wait((request, stop), return_when=asyncio.FIRST_COMPLETED)
            return request.result() if request.done() else None
        finally:
            request.cancel()
            stop.cancel()

    async def _validate(self, row: FoldRow, source: FoldSource, finish_now: asyncio.Event) -> FoldRow | None:
        """summarised → checked: drop what the messages do not say, add what is missing, label tainted lines."""
        counter = await asyncio.to_thread(self.counter)
        limit = SummaryLimit(counter=counter, summary_tokens=self._summary_limit(row), zone=self.zone)
        valid = await asyncio.to_thread(validate_summary, row.log_text, row.summary, source, limit)
        labels = await asyncio.to_thread(label_texts, valid.log, valid.summary, source)
        after = await self.folds.advance(
            row,
            "checked",
            method=valid.method,
            log_text=valid.log,
            summary=valid.summary,
            summary_tokens=counter.text(valid.summary),
            source_sha256=valid.source_sha256,
            tainted=labels.tainted,
            clean_lines=labels.clean_lines,
            summary_tainted=labels.summary_tainted,
        )
        if after is not None and valid.method == "extract" and not finish_now.is_set():
            self.notify(after, "digest")
        await hit_async("fold.checked")
        return after

    async def _write_log(self, row: FoldRow, *, resumed: bool) -> FoldRow | None:
        """checked → logged: append the section to the daily log.

        Args:
            resumed: a former process may have written it already, into another day's file if the zone was another one.
        """
        files = await asyncio.to_thread(self.workspace.space, row.space)
        path = await asyncio.to_thread(daily_log.find_section, files, self._section(row)) if resumed else None
        if path is None:
            path = await asyncio.to_thread(daily_log.append_section, files, self._section(row))
            await hit_async("fold.log_written")
        after = await self.folds.advance(row, "logged", log_ref=f"spaces/{row.space}/{path}" if row.space else path)
        await hit_async("fold.log_synced")
        return after

    async def _commit(self, row: FoldRow, source: FoldSource) -> FoldRow | None:
        """logged → folded: the view starts at the first kept turn, in one transaction that compares the epoch."""
        removed = sum(message.tokens for message in source.turns) + source.replaced
        kept = row.tokens_after or max(0, row.tokens_before - removed)
        return await self.folds.commit(row, kept + row.summary_tokens)

    async def _mark_stale(self, row: FoldRow) -> None:
        files = await asyncio.to_thread(self.workspace.space, row.space)
        path = await asyncio.to_thread(daily_log.find_section, files, self._section(row))
        if path is not None:
            await asyncio.to_thread(daily_log.mark_section, files, path, row.id, "stale")
        self.notify(row, "stale")

    def _notify_state(self, row: FoldRow | None, state: str) -> None:
        if row is not None and row.state == state:
            self.notify(row, state)

    def _summary_limit(self, row: FoldRow) -> int:
        return 0 if row.log_only else self.summary_tokens(row.policy)

    def _section(self, row: FoldRow) -> LogSection:
        return LogSection(
            fold=row.id,
            channel=row.channel,
            first_turn=row.from_turn,
            last_turn=row.to_turn,
            at=row.at.astimezone(self.zone),
            body=row.log_text,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryWriter:
    """Has a model write the log and the summary of one fold: in one call, or in chunks that are merged."""

    complete: Complete
    #: Charged for the calls.
    conversation: str
    counter: TokenCounter
    zone: tzinfo
    #: Seconds for all calls together.
    deadline: float
    #: Token limit of one prompt.
    prompt_tokens: int
    #: Token limit of the summary; 0 when only the log is wanted, and then nothing is merged.
    summary_tokens: int

    async def write(self, source: FoldSource) -> FoldTexts | None:
        """The model's texts, None when they are not complete in time.

        A chunk without an answer is represented by its extract, in the log and in the merge. Without any answer for
        the turns, or without the merge, there are no texts.
        """
        until = asyncio.get_running_loop().time() + self.deadline
        budget = await asyncio.to_thread(self._prompt_budget, source)
        prompts = await asyncio.to_thread(prompt.build_prompts, source.before, source.earlier, source.turns, budget)
        lang = detect_language(source.messages)
        if prompts.whole:
            return await self._call(prompts.whole, "whole", lang, until)
        earlier = prompts.earlier if self.summary_tokens else ()
        chunks = (*earlier, *prompts.turns)
        answers = await self._call_chunks(chunks, lang, until - self.deadline * (1 - CHUNKS_TIME_SHARE))
        turn_answers = answers[len(earlier) :]
        if not any(turn_answers):
            return None
        logs = (_chunk_log(chunk, texts, self.zone) for chunk, texts in zip(prompts.turns, turn_answers, strict=True))
        summary = await self._merge(source.before, list(zip(chunks, answers, strict=True)), budget, lang, until)
        return None if summary is None else FoldTexts(log="\n".join(logs), summary=summary)

    async def _call_chunks(self, chunks: Sequence[PromptChunk], lang: str, until: float) -> list[FoldTexts | None]:
        slots = asyncio.Semaphore(MAX_PARALLEL_CALLS)

        async def call(chunk: PromptChunk) -> FoldTexts | None:
            async with slots:
                return await self._call(prompt.chunk_prompt(chunk), "part", lang, until)

        return await asyncio.gather(*map(call, chunks))

    async def _merge(
        self,
        before: str,
        answers: Sequence[tuple[PromptChunk, FoldTexts | None]],
        budget: PromptBudget,
        lang: str,
        until: float,
    ) -> str | None:
        """One summary of the earlier summary and all chunks; "" when none is wanted, None when the call fails."""
        if not self.summary_tokens:
            return ""
        limit = min(self.summary_tokens, prompt.part_tokens(budget, len(answers)))
        parts = [
            (chunk, texts.summary if texts else part_summary(chunk.said, self.counter, limit))
            for chunk, texts in answers
        ]
        merge = await asyncio.to_thread(prompt.merge_prompt, before, parts, budget)
        texts = await self._call(merge, "merge", lang, until)
        return texts.summary if texts else None

    async def _call(self, text: str, task: Task, lang: str, until: float) -> FoldTexts | None:
        """The texts of one call; None when it fails, is not done by `until` (loop time), or the answer is invalid."""
        left = until - asyncio.get_running_loop().time()
        if left <= 0:
            return None
        system = prompt.system_prompt(lang, self.summary_tokens or DEFAULT_SUMMARY, task)
        answer = await result_or_none(
            self.complete(system, text, prompt.MAX_ANSWER_TOKENS, self.conversation), timeout=left
        )
        return None if answer is None else prompt.parse_answer(answer, task)

    def _prompt_budget(self, source: FoldSource) -> PromptBudget:
        return PromptBudget(counter=self.counter, most=self.prompt_tokens, zone=self.zone, weights=source.weights())


def _chunk_log(chunk: PromptChunk, texts: FoldTexts | None, zone: tzinfo) -> str:
    return texts.log if texts and texts.log.strip() else log_utterances(chunk.said, zone)
