"""Carries out a fold: planned, summarised, checked, logged, folded; a crash after any step goes on from there."""

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
from memory.workspace import daily_log
from memory.workspace.daily_log import LogSection
from memory.workspace.files import Workspace
from memory.workspace.fold_labels import label_texts

# Asks a model for the texts of a fold: in one call where the range fits a prompt, else in chunks that are merged.

# Asks a model: system prompt, prompt, most tokens of the answer, id of the conversation it is for. May raise anything,
# or never return.
Complete = Callable[[str, str, int, str], Awaitable[str]]

MAX_PARALLEL_CALLS = 4  # chunks of one fold that are asked for beside each other
CHUNKS_TIME_SHARE = 2 / 3  # of the deadline; the merge has the rest
DEFAULT_SUMMARY = 1_000  # tokens of a summary that is asked for but not kept


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryWriter:
    """Asks for the texts of one fold."""

    complete: Complete
    #: Whose, for the model's account.
    conversation: str
    counter: TokenCounter
    zone: tzinfo
    #: Seconds for all calls together.
    deadline: float
    #: Most of one prompt.
    prompt_tokens: int
    #: Most of the summary; 0 when only a log is wanted, and then nothing is merged.
    summary_tokens: int

    async def texts(self, material: FoldSource) -> FoldTexts | None:
        """A model's texts of the material; None when they are not to be had in time.

        Of a chunk that fails, its own digest stands in the log and goes into the merge. The summary is a model's: when
        the merge fails, or every chunk of the turns did, there are no texts.
        """
        until = asyncio.get_running_loop().time() + self.deadline
        room = await asyncio.to_thread(self._room, material)
        asked = await asyncio.to_thread(prompt.build_prompts, material.before, material.earlier, material.turns, room)
        lang = detect_language(material.messages)
        if asked.whole:
            return await self._ask(asked.whole, "whole", lang, until)
        earlier = asked.earlier if self.summary_tokens else ()
        parts = (*earlier, *asked.turns)
        found = await self._parts(parts, lang, until - self.deadline * (1 - CHUNKS_TIME_SHARE))
        answered = found[len(earlier) :]
        if not any(answered):
            return None
        logs = (_chunk_log(chunk, texts, self.zone) for chunk, texts in zip(asked.turns, answered, strict=True))
        summary = await self._merged(material.before, list(zip(parts, found, strict=True)), room, lang, until)
        return None if summary is None else FoldTexts(log="\n".join(logs), summary=summary)

    async def _merged(
        self,
        before: str,
        parts: Sequence[tuple[PromptChunk, FoldTexts | None]],
        room: PromptBudget,
        lang: str,
        until: float,
    ) -> str | None:
        """The summary of all parts and of what was before; "" when none is wanted, None when it is not to be had."""
        if not self.summary_tokens:
            return ""
        wanted = min(self.summary_tokens, prompt.part_tokens(room, len(parts)))
        gists = [
            (chunk, texts.summary if texts else part_summary(chunk.said, self.counter, wanted))
            for chunk, texts in parts
        ]
        asked = await asyncio.to_thread(prompt.merge_prompt, before, gists, room)
        texts = await self._ask(asked, "merge", lang, until)
        return texts.summary if texts else None

    async def _parts(self, parts: Sequence[PromptChunk], lang: str, until: float) -> list[FoldTexts | None]:
        places = asyncio.Semaphore(MAX_PARALLEL_CALLS)

        async def one(chunk: PromptChunk) -> FoldTexts | None:
            async with places:
                return await self._ask(prompt.chunk_prompt(chunk), "part", lang, until)

        return await asyncio.gather(*map(one, parts))

    async def _ask(self, asked: str, task: Task, lang: str, until: float) -> FoldTexts | None:
        """The texts of one call; None when it fails, is not there at that time of the loop, or is something else."""
        left = until - asyncio.get_running_loop().time()
        if left <= 0:
            return None
        system = prompt.system_prompt(lang, self.summary_tokens or DEFAULT_SUMMARY, task)
        answer = asyncio.ensure_future(self.complete(system, asked, prompt.MAX_ANSWER_TOKENS, self.conversation))
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else may look at it
        try:
            await asyncio.wait((answer,), timeout=left)
        finally:
            answer.cancel()
        if not answer.done() or answer.cancelled() or answer.exception() is not None:
            return None
        return prompt.parse_answer(answer.result(), task)

    def _room(self, material: FoldSource) -> PromptBudget:
        return PromptBudget(counter=self.counter, most=self.prompt_tokens, zone=self.zone, weights=material.weights())


def _chunk_log(chunk: PromptChunk, texts: FoldTexts | None, zone: tzinfo) -> str:
    return texts.log if texts and texts.log.strip() else log_utterances(chunk.said, zone)


# How many extractive folds before this one are summarised from the originals; without a model there are no others.
MAX_STEPS_BACK = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRunner:
    """Carries out folds."""

    folds: Folds
    sessions: Sessions
    workspace: Workspace
    complete: Complete
    counter: Callable[[], TokenCounter]
    #: Whose day and clock the daily log goes by.
    zone: tzinfo
    #: Seconds a model has for all its texts.
    deadline: float = 60.0
    #: The most of a summary, by the policy's name.
    summary_tokens: Callable[[str], int] = lambda policy: 1_000
    #: A longer range goes to the model in chunks.
    prompt_tokens: int = MAX_PROMPT_TOKENS
    #: Told the row and "planned", "summarised", "digest" (a model's texts were not to be had or believed), "logged",
    #: "folded" or "stale".
    notify: Callable[[FoldRow, str], None] = lambda row, what: None

    async def start(self, plan: FoldPlan) -> FoldRow | None:
        """Record the plan; None when a fold of this conversation is open or the view has moved on."""
        row = await self.folds.plan(plan)
        if row is not None:
            await hit_async("fold.planned")
            self.notify(row, "planned")
        return row

    async def run_fold(
        self, row: FoldRow, *, extract: bool = False, finish_now: asyncio.Event | None = None
    ) -> FoldRow | None:
        """Go on from the row's state until it is folded; None when it has become stale.

        Args:
            extract: ask no model; the digest is made from the turns themselves, at once.
            hurry: once it is set, the model is waited for no longer, and the digest stands in.

        Raises:
            OSError: the daily log could not be written; the fold stays where it was.
            StoreError: the same, of the record.
        """
        steps = {"planned": self._summarise, "summarised": self._check, "checked": self._log, "logged": self._commit}
        finish_now = finish_now or asyncio.Event()
        if extract:
            finish_now.set()
        material = await self._material(row)
        now: FoldRow | None = await self._logged_before(row) if row.state == "checked" else row
        while now is not None and (step := steps.get(now.state)):
            now = await step(now, material, finish_now)
            if now is not None and now.state in ("summarised", "logged"):
                self.notify(now, now.state)
        if now is None or now.state != "folded":
            await self._stale(row)
            return None
        self.notify(now, "folded")
        return now

    async def _material(self, row: FoldRow) -> FoldSource:
        turns = await self.sessions.messages(row.conversation, row.from_seq, row.to_seq)
        previous = None if row.log_only else await self._fold(row.prev_fold)
        replaced, from_seq = previous.summary_tokens if previous else 0, row.from_seq
        for _ in range(MAX_STEPS_BACK):
            if previous is None or previous.method == "model":
                break
            from_seq = previous.from_seq
            previous = await self._fold(previous.prev_fold)
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

    async def _fold(self, id: str) -> FoldRow | None:
        return await self.folds.fold(id) if id else None

    async def _summarise(self, row: FoldRow, material: FoldSource, finish_now: asyncio.Event) -> FoldRow | None:
        texts = None if finish_now.is_set() else await self._ask(material, row, finish_now)
        method: FoldMethod = "model" if texts else "extract"
        log, summary = (texts.log, texts.summary) if texts else ("", "")
        after = await self.folds.advance(row, "summarised", method=method, log_text=log, summary=summary)
        await hit_async("fold.summarised")
        return after

    async def _ask(self, material: FoldSource, row: FoldRow, finish_now: asyncio.Event) -> FoldTexts | None:
        """A model's texts; None when it fails, is too slow, or answers with something else."""
        summariser = SummaryWriter(
            complete=self.complete,
            conversation=row.conversation,
            counter=await asyncio.to_thread(self.counter),
            zone=self.zone,
            deadline=self.deadline,
            prompt_tokens=self.prompt_tokens,
            summary_tokens=0 if row.log_only else self.summary_tokens(row.policy),
        )
        asked = asyncio.create_task(summariser.texts(material))
        hurried = asyncio.create_task(finish_now.wait())
        try:
            await asyncio.wait((asked, hurried), return_when=asyncio.FIRST_COMPLETED)
            return asked.result() if asked.done() else None
        finally:
            asked.cancel()
            hurried.cancel()

    async def _check(self, row: FoldRow, material: FoldSource, finish_now: asyncio.Event) -> FoldRow | None:
        counter = await asyncio.to_thread(self.counter)
        limit = SummaryLimit(
            counter=counter, summary_tokens=0 if row.log_only else self.summary_tokens(row.policy), zone=self.zone
        )
        checked = await asyncio.to_thread(validate_summary, row.log_text, row.summary, material, limit)
        labels = await asyncio.to_thread(label_texts, checked.log, checked.summary, material)
        after = await self.folds.advance(
            row,
            "checked",
            method=checked.method,
            log_text=checked.log,
            summary=checked.summary,
            summary_tokens=counter.text(checked.summary),
            source_sha256=checked.source_sha256,
            tainted=labels.tainted,
            clean_lines=labels.clean_lines,
            summary_tainted=labels.summary_tainted,
        )
        if after is not None and checked.method == "extract" and not finish_now.is_set():
            self.notify(after, "digest")
        await hit_async("fold.checked")
        return after

    async def _log(self, row: FoldRow, material: FoldSource, finish_now: asyncio.Event) -> FoldRow | None:
        files = await asyncio.to_thread(self.workspace.space, row.space)
        path = await asyncio.to_thread(daily_log.append_section, files, self._section(row))
        await hit_async("fold.log_written")
        after = await self._logged(row, path)
        await hit_async("fold.log_synced")
        return after

    async def _logged_before(self, row: FoldRow) -> FoldRow | None:
        """The row one step on where its section was written before a crash; the zone may be another one by now."""
        files = await asyncio.to_thread(self.workspace.space, row.space)
        path = await asyncio.to_thread(daily_log.find_section, files, self._section(row))
        return await self._logged(row, path) if path else row

    async def _logged(self, row: FoldRow, path: str) -> FoldRow | None:
        return await self.folds.advance(row, "logged", log_ref=f"spaces/{row.space}/{path}" if row.space else path)

    async def _commit(self, row: FoldRow, material: FoldSource, finish_now: asyncio.Event) -> FoldRow | None:
        gone = sum(message.tokens for message in material.turns) + material.replaced
        stays = row.tokens_after or max(0, row.tokens_before - gone)
        return await self.folds.commit(row, stays + row.summary_tokens)

    async def _stale(self, row: FoldRow) -> None:
        files = await asyncio.to_thread(self.workspace.space, row.space)
        path = await asyncio.to_thread(daily_log.find_section, files, self._section(row))
        if path is not None:
            await asyncio.to_thread(daily_log.mark_section, files, path, row.id, "stale")
        self.notify(row, "stale")

    def _section(self, row: FoldRow) -> LogSection:
        return LogSection(
            fold=row.id,
            channel=row.channel,
            first_turn=row.from_turn,
            last_turn=row.to_turn,
            at=row.at.astimezone(self.zone),
            body=row.log_text,
        )
