"""Has a model write the texts of a fold: one call, or chunks that are merged."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory.context.summary import prompt
from memory.context.summary.extractive import detect_language, part_summary
from memory.context.summary.log_text import log_utterances
from memory.context.summary.prompt import (
    Fault,
    FoldTexts,
    Language,
    PromptBudget,
    PromptChunk,
    Task,
    TextName,
    parse_answer,
)
from memory.context.summary.validation import (
    FoldSource,
    JudgedTexts,
    SummaryLimit,
    judge_texts,
)
from memory.conversation import Complete
from memory.tasks import wait_for_end

MAX_PARALLEL_CALLS = 4  # model calls of one fold at the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTexts:
    """What a model wrote for a fold."""

    #: Its usable texts.
    texts: FoldTexts
    #: Answers that were asked for with the messages of the fold, and could not be used.
    rejected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelCalls:
    """Calls of the model for one fold."""

    complete: Complete
    conversation: str
    limit: SummaryLimit
    lang: Language

    async def request(
        self, task: Task, text: str, *, fault: Fault | None = None
    ) -> FoldTexts | None:
        """The texts of one call, "" for each that is missing; None when the call failed."""
        system = prompt.system_prompt(
            self.lang, self.limit.summary_tokens, task, material=len(text), fault=fault
        )
        work = self.complete(system, text, prompt.MAX_ANSWER_TOKENS, self.conversation)
        answer = await wait_for_end(work, timeout=None)
        return None if answer.cancelled() or answer.exception() else parse_answer(answer.result())


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryWriter:
    """Has a model write the log and the summary of one fold: in one call, or in chunks that are
    merged.
    """

    complete: Complete
    #: Charged for the calls.
    conversation: str
    limit: SummaryLimit
    #: Returns the token limit of one prompt; lower once the model has refused a longer one.
    prompt_tokens: Callable[[], int]

    async def write(self, source: FoldSource) -> WrittenTexts:
        """The model's usable texts; it is asked once more, in shorter prompts, where it has refused
        the first ones.
        """
        prompt_tokens = self.prompt_tokens()
        written = await self._write(source, prompt_tokens)
        is_shorter = self.prompt_tokens() < prompt_tokens
        if written.texts == FoldTexts() and not written.rejected and is_shorter:
            return await self._write(source, self.prompt_tokens())
        return written

    async def _write(self, source: FoldSource, prompt_tokens: int) -> WrittenTexts:
        """The model's usable texts, of prompts of at most so many tokens.

        If only one of the two can be used, the other is asked for once more. A chunk without an
        answer is represented by its extract, in the log and in the merge. When no call about the
        turns is answered, there are no texts.
        """
        budget = await asyncio.to_thread(self._prompt_budget, source, prompt_tokens)
        prompts = await asyncio.to_thread(
            prompt.build_prompts, source.before, source.earlier, source.turns, budget
        )
        lang = detect_language(source.messages)
        calls = _ModelCalls(
            complete=self.complete, conversation=self.conversation, limit=self.limit, lang=lang
        )
        if prompts.whole:
            first = await calls.request(self._whole_task(), prompts.whole)
            return await self._improve(first, source, calls, prompts.whole)
        earlier = prompts.earlier if self.limit.summary_tokens else ()
        chunks = (*earlier, *prompts.turns)
        answers = await self._call_chunks(chunks, calls)
        turn_answers = answers[len(earlier) :]
        if not any(texts and (texts.log or texts.summary) for texts in turn_answers):
            return WrittenTexts(
                texts=FoldTexts(), rejected=int(any(texts is not None for texts in answers))
            )
        logs = (
            _chunk_log(chunk, texts, self.limit.zone)
            for chunk, texts in zip(prompts.turns, turn_answers, strict=True)
        )
        merge = await self._merge_prompt(
            source.before, list(zip(chunks, answers, strict=True)), budget
        )
        merged = await calls.request("merge", merge) if merge else None
        first = replace(merged or FoldTexts(), log="\n".join(logs) if self.limit.log else "")
        return await self._improve(first, source, calls, merge, is_merge=True)

    def _whole_task(self) -> Task:
        if not self.limit.summary_tokens:
            return "log"
        return "whole" if self.limit.log else "summary"

    async def _improve(
        self,
        texts: FoldTexts | None,
        source: FoldSource,
        calls: _ModelCalls,
        text: str,
        *,
        is_merge: bool = False,
    ) -> WrittenTexts:
        """Keep what can be used of an answer, and ask once more for the other text if one of them
        can.

        Args:
            texts: None if the call failed.
            text: the prompt.
            is_merge: the logs of chunks are not asked for again: each has stood in for itself.
        """
        if texts is None:
            return WrittenTexts(texts=FoldTexts())
        judged = await asyncio.to_thread(judge_texts, texts, source, self.limit)
        usable = _drop_faulty_texts(texts, judged)
        faults = (judged.log.fault, judged.summary.fault)
        if not any(faults):
            return WrittenTexts(texts=usable)
        if usable == FoldTexts() or (judged.log.fault and is_merge):
            return WrittenTexts(texts=usable, rejected=1)
        name: TextName = "log" if judged.log.fault else "summary"
        wrong = judged.log if judged.log.fault else judged.summary
        again = await calls.request(
            "merge" if is_merge else name,
            prompt.retry_prompt(text, wrong.unsupported),
            fault=wrong.fault,
        )
        if again is None:
            return WrittenTexts(texts=usable, rejected=1)
        second = await asyncio.to_thread(judge_texts, again, source, self.limit)
        if (second.log if name == "log" else second.summary).fault:
            return WrittenTexts(texts=usable, rejected=2)
        found = (
            replace(usable, log=again.log)
            if name == "log"
            else replace(usable, summary=again.summary)
        )
        return WrittenTexts(texts=found, rejected=1)

    async def _call_chunks(
        self, chunks: Sequence[PromptChunk], calls: _ModelCalls
    ) -> list[FoldTexts | None]:
        slots = asyncio.Semaphore(MAX_PARALLEL_CALLS)
        task: Task = "part" if self.limit.summary_tokens else "log"

        async def call(chunk: PromptChunk) -> FoldTexts | None:
            async with slots:
                return await calls.request(task, prompt.chunk_prompt(chunk))

        return await asyncio.gather(*map(call, chunks))

    async def _merge_prompt(
        self,
        before: str,
        answers: Sequence[tuple[PromptChunk, FoldTexts | None]],
        budget: PromptBudget,
    ) -> str:
        """The prompt that makes one summary of the earlier one and all chunks; "" when none is
        wanted.
        """
        if not self.limit.summary_tokens:
            return ""
        limit = min(self.limit.summary_tokens, prompt.part_tokens(budget, len(answers)))
        parts = [
            (
                chunk,
                (texts and texts.summary) or part_summary(chunk.said, self.limit.counter, limit),
            )
            for chunk, texts in answers
        ]
        return await asyncio.to_thread(prompt.merge_prompt, before, parts, budget)

    def _prompt_budget(self, source: FoldSource, prompt_tokens: int) -> PromptBudget:
        return PromptBudget(
            counter=self.limit.counter,
            most=prompt_tokens,
            zone=self.limit.zone,
            weights=source.weights(),
        )


def _drop_faulty_texts(texts: FoldTexts, judged: JudgedTexts) -> FoldTexts:
    """Return an answer without the texts that were judged faulty."""
    return FoldTexts(
        log="" if judged.log.fault else texts.log,
        summary="" if judged.summary.fault else texts.summary,
    )


def _chunk_log(chunk: PromptChunk, texts: FoldTexts | None, zone: tzinfo) -> str:
    return texts.log if texts and texts.log.strip() else log_utterances(chunk.said, zone)
