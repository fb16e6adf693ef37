"""One fold, step by step: plan, summarise, validate, log, commit.

It resumes from its last finished step.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta, tzinfo

from memory.context.reductions import conversation_key, conversation_tag
from memory.context.summary.prompt import MAX_PROMPT_TOKENS, FoldTexts
from memory.context.summary.transcript import is_tool_utterance, list_utterances
from memory.context.summary.validation import FoldSource, SummaryLimit, validate_summary
from memory.context.taint import CLEAN_FOLD
from memory.context.tokens import TokenCounter
from memory.conversation import Complete, Message
from memory.failpoints import hit_async
from memory.folding.writer import SummaryWriter, WrittenTexts
from memory.store.conversations.folds.day_logs import DAY_REASON
from memory.store.conversations.folds.steps import FoldChanges, Folds
from memory.store.conversations.sessions import Sessions
from memory.store.rows import FoldPlan, FoldRow
from memory.workspace import daily_log
from memory.workspace.daily_log import LogSection
from memory.workspace.files import Workspace
from memory.workspace.fold_labels import label_texts
from memory.workspace.log_section import body_sha256, replace_body

MAX_STEPS_BACK = 4  # extractive folds before this one that are summarised again from their messages
MAX_REJECTED = 2  # unusable answers about the same messages; after these their digest is final
MAX_PLAIN_DAY = 600  # characters said on a day; its section lists them, and no model is asked
MAX_STORY_AGE = timedelta(days=31)  # of a day that a model still tells: an import may have years


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRunner:
    """Runs folds.

    Each step ends in a transaction, so that a crash at any point loses no finished step.
    """

    folds: Folds
    sessions: Sessions
    workspace: Workspace
    complete: Complete
    counter: Callable[[], TokenCounter]
    #: Time zone of the daily log.
    zone: tzinfo
    #: For folds that only write the log, for which nobody waits; None for `complete`.
    complete_log: Complete | None = None
    #: Token limit of a summary, by policy name.
    summary_tokens: Callable[[str], int] = lambda policy: 1_000
    #: Returns the token limit of one prompt; a longer range is summarised in chunks.
    prompt_tokens: Callable[[], int] = lambda: MAX_PROMPT_TOKENS
    #: Called with the row and "planned", "summarised", "digest" (no usable answer), "logged",
    #: "folded" or "stale".
    notify: Callable[[FoldRow, str], None] = lambda row, what: None
    #: Requests of folds that were finished before the answer, by id of the fold.
    _requests: dict[str, asyncio.Task[WrittenTexts]] = field(default_factory=dict)

    async def start(self, plan: FoldPlan) -> FoldRow | None:
        """Store the plan; None when a fold of this conversation is open or the view has moved
        on.
        """
        row = await self.folds.plan(plan, self.zone)
        if row is not None:
            await hit_async("fold.planned")
            self.notify(row, "planned")
        return row

    async def run_fold(
        self,
        row: FoldRow,
        *,
        extract: bool = False,
        finish_now: asyncio.Event | None = None,
        run_log: Callable[[FoldRow], Awaitable[object]] | None = None,
    ) -> FoldRow | None:
        """Run the remaining steps of a fold; None when it has become stale.

        Args:
            extract: call no model, now or later; the summary is extracted from the messages and the
                earlier summary.
            finish_now: once set, the model is not waited for any longer, and the summary is
                extracted.
            run_log: runs a log-only fold of its turns to its end, in place of this runner.

        A fold that did not wait for the model may still get its texts, see `write_late_texts`.

        Raises:
            OSError: the daily log could not be written; the fold stays in its state.
            StoreError: the store failed; the fold stays in its state.
        """
        finish_now = finish_now or asyncio.Event()
        if extract:
            finish_now.set()
        done: FoldRow | None = None
        try:
            done = await self._run_steps(row, finish_now, extract=extract, run_log=run_log)
        finally:
            if done is None or done.awaiting != "texts":
                self._drop_request(row)
        return done

    async def _run_steps(
        self,
        row: FoldRow,
        finish_now: asyncio.Event,
        *,
        extract: bool,
        run_log: Callable[[FoldRow], Awaitable[object]] | None,
    ) -> FoldRow | None:
        source = await self._load_source(row, replace_extracts=not extract)
        current: FoldRow | None = row
        if row.state == "planned":
            current = await self._summarise(row, source, finish_now, extract=extract)
            self._notify_state(current, "summarised")
        if current and current.state == "summarised":
            current = await self._validate(current, source, finish_now)
        if current and not current.log_only:
            await self._run_logs(current, finish_now, run_log, extract=extract)
        if current and current.state == "checked":
            current = await self._write_log(current, source, resumed=row.state == "checked")
            self._notify_state(current, "logged")
        if current and current.state == "logged":
            current = await self._commit(current, source)
        if current is None or current.state != "folded":
            await self._mark_stale(row)
            return None
        self.notify(current, "folded")
        return current

    async def _run_logs(
        self,
        row: FoldRow,
        finish_now: asyncio.Event,
        run_log: Callable[[FoldRow], Awaitable[object]] | None,
        *,
        extract: bool,
    ) -> None:
        """Run the log-only folds of its turns, so that these are in the daily log before they leave
        the view.
        """
        for log_row in await self.folds.open_logs_of(row):
            if run_log is not None:
                await run_log(log_row)
            else:
                await self.run_fold(log_row, extract=extract, finish_now=finish_now)

    async def write_late_texts(self, row: FoldRow, give_up: asyncio.Event) -> None:
        """Let the model's texts replace the digest of a fold that was finished without them.

        Resumes from the row. The summary is replaced in one transaction, then the section of the
        daily log.

        Args:
            give_up: once set, the model is not waited for any longer.

        Raises:
            OSError: the daily log could not be written; the row still awaits that.
            StoreError: the store failed; the row is unchanged.
        """
        current: FoldRow | None = row
        if row.awaiting == "texts":
            current = await self._replace_texts(row, give_up)
        while current is not None and current.awaiting == "log":
            files = await asyncio.to_thread(self.workspace.space, current.space)
            path = await asyncio.to_thread(daily_log.find_section, files, self._section(current))
            if path is not None:
                await asyncio.to_thread(
                    replace_body, files, path, current.id, current.body_sha256, current.log_text
                )
            await hit_async("fold.late_logged")
            if await self.folds.end_log(current):
                return
            current = await self._load_fold(row.id)

    async def _replace_texts(self, row: FoldRow, give_up: asyncio.Event) -> FoldRow | None:
        """Store what the model writes in place of the digest; None if there is nothing better, or
        it came too late.
        """
        source = await self._load_source(row)
        written = await self._request_texts(row, source, give_up) or WrittenTexts(texts=FoldTexts())
        changes = FoldChanges(rejected=row.rejected + written.rejected)
        if written.rejected:
            changes["sent_from"] = source.messages[0].seq
        if written.texts.summary:
            limit = await self._limit(row)
            valid = await asyncio.to_thread(
                validate_summary, written.texts.log, written.texts.summary, source, limit
            )
            # until the file is written it has the former text
            both_logs = "\n".join((row.log_text, valid.log))
            labels = await asyncio.to_thread(label_texts, both_logs, valid.summary, source)
            changes |= FoldChanges(
                method=valid.method,
                summary=valid.summary,
                summary_tokens=limit.counter.text(valid.summary),
                source_sha256=valid.source_sha256,
                tainted=labels.tainted,
                clean_lines=labels.clean_lines,
                summary_tainted=labels.summary_tainted,
            )
            if written.texts.log and limit.log:
                changes |= FoldChanges(
                    log_text=valid.log, awaiting="log", body_sha256=body_sha256(row.log_text)
                )
        return await self.folds.replace_texts(row, **changes)

    async def _load_source(self, row: FoldRow, *, replace_extracts: bool = True) -> FoldSource:
        """Load the messages of the range and what the new summary continues.

        Args:
            replace_extracts: put the messages in place of extractive summaries before it: a model
                summarises them better than a digest. Where a model has failed at them MAX_REJECTED
                times, the digest stands for them.
        """
        turns = await self.sessions.messages(row.conversation, row.from_seq, row.to_seq)
        previous = None if row.log_only else await self._load_fold(row.prev_fold)
        replaced, extracts = previous.summary_tokens if previous else 0, list[FoldRow]()
        max_steps = MAX_STEPS_BACK if replace_extracts else 0
        while previous is not None and previous.method == "extract" and len(extracts) < max_steps:
            extracts.append(previous)
            if _count_rejected(extracts, previous) >= MAX_REJECTED:
                extracts.pop()
                break
            previous = await self._load_fold(previous.prev_fold)
        earlier: list[Message] = []
        if extracts:
            earlier = await self.sessions.messages(
                row.conversation, extracts[-1].from_seq, row.from_seq - 1
            )
        name = await self.sessions.name(row.conversation)
        return FoldSource(
            conversation=conversation_key(row.channel, name.chat if name else "", row.conversation),
            day=date.fromisoformat(row.day) if row.day else None,
            before=previous.summary if previous else "",
            label=previous.label if previous else CLEAN_FOLD,
            replaced=replaced,
            earlier=tuple(earlier),
            turns=tuple(turns),
            at=row.at,
        )

    async def _load_fold(self, id: str) -> FoldRow | None:
        return await self.folds.fold(id) if id else None

    async def _summarise(
        self, row: FoldRow, source: FoldSource, finish_now: asyncio.Event, *, extract: bool
    ) -> FoldRow | None:
        """planned → summarised: store the model's usable texts."""
        asks_model = not finish_now.is_set() and not self._is_told_by_extract(row, source)
        found = await self._request_texts(row, source, finish_now) if asks_model else None
        written = found or WrittenTexts(texts=FoldTexts())
        texts = written.texts
        may_come_late = found is None and not row.log_only and not extract
        after = await self.folds.advance(
            row,
            "summarised",
            method="model" if texts.summary or (row.log_only and texts.log) else "extract",
            log_text=texts.log,
            summary=texts.summary,
            rejected=written.rejected,
            sent_from=source.messages[0].seq if written.rejected else 0,
            awaiting="texts" if may_come_late else "",
        )
        await hit_async("fold.summarised")
        return after

    def _is_told_by_extract(self, row: FoldRow, source: FoldSource) -> bool:
        """Whether the section of an ended day is made without a model: what was said is shorter
        than a story of it, or so long ago that nobody waits for one.
        """
        if row.reason != DAY_REASON:
            return False
        said = (one for one in list_utterances(source.turns) if not is_tool_utterance(one))
        is_old = source.day is not None and row.at.date() - source.day > MAX_STORY_AGE
        return is_old or sum(len(one.text) for one in said) <= MAX_PLAIN_DAY

    async def _request_texts(
        self, row: FoldRow, source: FoldSource, finish_now: asyncio.Event
    ) -> WrittenTexts | None:
        """What the model writes; None if `finish_now` is set before."""
        request = self._requests.pop(row.id, None)
        if request is None:
            writer = SummaryWriter(
                complete=(self.complete_log if row.log_only else None) or self.complete,
                conversation=row.conversation,
                limit=await self._limit(row),
                prompt_tokens=self.prompt_tokens,
            )
            request = asyncio.create_task(writer.write(source))
        stop = asyncio.create_task(finish_now.wait())
        try:
            await asyncio.wait((request, stop), return_when=asyncio.FIRST_COMPLETED)
            if request.done():
                return request.result()
            if row.state == "planned":
                # what it sends is awaited again once the fold is done
                self._requests[row.id] = request
            return None
        finally:
            if row.id not in self._requests:
                request.cancel()
            stop.cancel()

    def _drop_request(self, row: FoldRow) -> None:
        if request := self._requests.pop(row.id, None):
            request.cancel()

    async def _limit(self, row: FoldRow) -> SummaryLimit:
        counter = await asyncio.to_thread(self.counter)
        tokens = 0 if row.log_only else self.summary_tokens(row.policy)
        return SummaryLimit(
            counter=counter, summary_tokens=tokens, zone=self.zone, log=not row.summary_only
        )

    async def _validate(
        self, row: FoldRow, source: FoldSource, finish_now: asyncio.Event
    ) -> FoldRow | None:
        """summarised → checked: drop what the messages do not say, add what is missing, label
        tainted lines.
        """
        limit = await self._limit(row)
        if limit.log and row.log_text:
            source = replace(source, known_log=await self._known_log(row))
        valid = await asyncio.to_thread(validate_summary, row.log_text, row.summary, source, limit)
        labels = await asyncio.to_thread(label_texts, valid.log, valid.summary, source)
        after = await self.folds.advance(
            row,
            "checked",
            method=valid.method,
            log_text=valid.log,
            summary=valid.summary,
            summary_tokens=limit.counter.text(valid.summary),
            source_sha256=valid.source_sha256,
            tainted=labels.tainted,
            clean_lines=labels.clean_lines,
            summary_tainted=labels.summary_tainted,
        )
        if after is not None and valid.method == "extract" and not finish_now.is_set():
            self.notify(after, "digest")
        await hit_async("fold.checked")
        return after

    async def _known_log(self, row: FoldRow) -> str:
        """What the day's file has, without sections that are stale or were undone."""
        files = await asyncio.to_thread(self.workspace.space, row.space)
        return await asyncio.to_thread(daily_log.read_known_lines, files, self._section(row))

    async def _write_log(
        self, row: FoldRow, source: FoldSource, *, resumed: bool
    ) -> FoldRow | None:
        """checked → logged: append the section to the daily log.

        Args:
            resumed: a former process may have written it already, into another day's file if the
                zone was another one.

        A fold that writes only the summary names the file that other folds wrote.
        """
        if row.summary_only:
            log_ref = await self.folds.log_ref(row.conversation, row.from_seq, row.to_seq)
            return await self.folds.advance(row, "logged", log_ref=log_ref)
        files = await asyncio.to_thread(self.workspace.space, row.space)
        times = [message.at.astimezone(self.zone) for message in source.turns]
        section = replace(
            self._section(row),
            channel=await self._channel(row),
            began=min(times, default=None),
            ended=max(times, default=None),
        )
        path = await asyncio.to_thread(daily_log.find_section, files, section) if resumed else None
        if path is None:
            path = await asyncio.to_thread(daily_log.append_section, files, section)
            await hit_async("fold.log_written")
        after = await self.folds.advance(
            row, "logged", log_ref=f"spaces/{row.space}/{path}" if row.space else path
        )
        await hit_async("fold.log_synced")
        return after

    async def _commit(self, row: FoldRow, source: FoldSource) -> FoldRow | None:
        """logged → folded: the view starts at the first kept turn, in one transaction that compares
        the epoch.
        """
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

    async def _channel(self, row: FoldRow) -> str:
        """The channel of the section's heading, with the conversation's name."""
        name, tag = await self.sessions.name(row.conversation), conversation_tag(row.conversation)
        if name is None:
            return row.channel
        return daily_log.format_channel(
            row.channel, name.person or name.chat, tag, is_unique=name.is_unique
        )

    def _section(self, row: FoldRow) -> LogSection:
        return LogSection(
            fold=row.id,
            channel=row.channel,
            first_turn=row.from_turn,
            last_turn=row.to_turn,
            at=row.at.astimezone(self.zone),
            day=date.fromisoformat(row.day) if row.day else None,
            body=row.log_text,
        )


def _count_rejected(extracts: Sequence[FoldRow], fold: FoldRow) -> int:
    """How often a model failed at the messages of a fold: in that fold, and in later ones that sent
    them again.
    """
    return sum(
        each.rejected for each in extracts if each is fold or each.sent_from <= fold.from_seq
    )
