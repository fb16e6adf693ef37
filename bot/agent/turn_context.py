"""The context and the result of a turn, and `TurnSetup`, which claims a turn and builds its
context.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo

from bot.access.budget_guard import BudgetGuard
from bot.access.budgets import budget_account
from bot.access.permissions import AccessScope, Actor, access_scope
from bot.access.roles import RoleResolver, grants_key
from bot.access.storage_quota import QuotaExceededError
from bot.agent.subagents.values import LAST_STEP_SHARE, MAX_STEPS, Subagent
from bot.agent.timeouts import DEFAULT_TIMEOUTS, TurnTimeouts
from bot.config.schema import Config
from bot.gateway.attachments import (
    StoredFile,
    format_attachment_refusal,
    ingest_attachments,
    sanitize_file_name,
)
from bot.gateway.downloads import DownloadedFile, Downloads
from bot.memory.recall import (
    MAX_RECALL_TOKENS,
    NOTHING_RECALLED,
    RecallBlock,
    RecalledPassages,
    TurnRecall,
    format_recall_block,
)
from bot.messages import (
    MessageBody,
    StoredAttachment,
    album_caption,
    format_background,
    format_outcome,
    format_quote,
    load_body,
    sender_name,
)
from bot.telemetry.recorder import Telemetry
from bot.texts import resolve_language
from channels.errors import AttachmentTooBig, ChannelError
from channels.message import Address, EventName, LiveEvent
from channels.phrases import Phrase
from channels.toolkit.text import replace_unstorable
from memory.context.taint import (
    CLEAN_REPLY,
    NOT_READ_LABEL,
    OUTCOME_ORIGIN,
    ReplyLabel,
    is_view_tainted,
    was_view_tainted,
)
from memory.context.tokens import TokenCounter
from memory.conversation import UNFINISHED_MARKS, Part, Role, Session, Text, ToolCall, Unfinished
from memory.store.conversations.delivery import NextWork
from memory.store.rows import (
    ConversationRow,
    InboxRow,
    NewMessage,
    Place,
    TurnRow,
    TurnState,
    Usage,
)
from memory.store.store import Store
from memory.tasks import cancel_and_wait
from memory.workspace import fold_labels
from memory.workspace.blobs import Blobs

ShowEvent = Callable[[LiveEvent], None]
# of the turn of a task; tokens that came from no cache, and those of the answers
JOB_STEPS, JOB_TOKENS = 8, 50_000


@dataclass(slots=True)
class ShownText:
    """What was shown of an answer that is being written."""

    #: Text of each stored step.
    earlier: list[str] = field(default_factory=list)
    #: Pieces that no stored message holds yet.
    pieces: list[str] = field(default_factory=list)
    #: The next piece takes the place of `pieces`: the request was repeated.
    restarts: bool = False
    #: What the request of `pieces` showed the model: the session, and whether what was recalled may
    #: hold outside words.
    session: Session | None = None
    recalled: bool = False

    @property
    def unstored(self) -> str:
        return "".join(self.pieces).strip()

    @property
    def whole(self) -> str:
        return "\n\n".join(filter(None, (*self.earlier, self.unstored)))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSink:
    """Sends live events about one inbound message to the chat it came from."""

    show: ShowEvent
    address: Address
    message_id: str
    #: Whether the chat displays an answer while it is written.
    displays_text: bool = False
    shown: ShownText = field(default_factory=ShownText)

    def begin_request(self, session: Session, *, recalled: bool) -> None:
        """Note what the request shows whose answer comes next; an earlier one of the same step is
        void then.
        """
        self.shown.session, self.shown.recalled = session, recalled
        self.restart()

    def restart(self) -> None:
        """Let the next text take the place of what was shown of this step; until there is one, that
        stays.
        """
        self.shown.restarts = bool(self.shown.pieces)

    def add_text(self, text: str) -> None:
        """Show more of the answer."""
        if not self.shown.restarts:
            self.shown.pieces.append(text)
            self.send("delta", text)
            return
        self.shown.pieces, self.shown.restarts = [text], False
        self.send("delta", text, whole=True)

    def end_answer(self) -> None:
        """Withdraw what was shown of a request that was repeated, and whose new answer has no
        text.
        """
        if self.shown.restarts:
            self.add_text("")

    def end_step(self) -> None:
        """Note that the step is stored from now on."""
        self.shown.earlier.append(self.shown.unstored)
        self.shown.pieces = []

    def send(self, name: EventName, text: str = "", **facts: str | int | float | bool) -> None:
        """Show an event, best effort: a slow or absent viewer never raises."""
        self.show(
            LiveEvent(
                address=self.address, name=name, message_id=self.message_id, text=text, facts=facts
            )
        )


RECALL_SHARE = 5  # recalled passages get at most this fraction (1/5) of the conversation's tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSuffix:
    """Text at the end of the running message, outside the cached prefix; made once per turn."""

    #: See `format_clock_note`.
    clock: str
    recalled: RecalledPassages = NOTHING_RECALLED
    #: Other people's words are always in view.
    is_group: bool = False
    #: Note after the newest results: no more tools may be called. "" while they may.
    last: str = ""

    def shown(
        self,
        session: Session,
        prefix: Iterable[str],
        memory_changes: str,
        tokens: int,
        counter: TokenCounter,
    ) -> RecallBlock:
        """Format the suffix of one request, without `last`; say whether it is tainted.

        Args:
            session: what the request shows of the conversation.
            prefix: texts of the system parts and the summary; passages that say the same are not
                repeated.
            memory_changes: see SystemPrompt.
            tokens: that the conversation may have.
        """
        limit = min(MAX_RECALL_TOKENS, tokens // RECALL_SHARE)
        is_clean = self.recalled.has_outside and not self.is_group and not was_view_tainted(session)
        recalled = format_recall_block(
            self.recalled, (*prefix, memory_changes), limit, counter, is_view_clean=is_clean
        )
        text = "\n".join(filter(None, (recalled.text, memory_changes, self.clock)))
        return replace(recalled, text=text)


def format_clock_note(now: datetime) -> str:
    """Format the person's local time, with its offset: a name such as CST stands for several
    zones.
    """
    return f"[Now: {now:%A %Y-%m-%d %H:%M}, {format_utc_offset(now)}]"


def format_utc_offset(now: datetime) -> str:
    """Format the offset at this moment, such as "UTC+8", "UTC+5:30", "UTC−3" or "UTC"."""
    minutes = round((now.utcoffset() or timedelta()).total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "−" if minutes < 0 else "+"
    return f"UTC{sign}{hours}{f':{rest:02}' if rest else ''}" if minutes else "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """One claimed turn: the input of the agent loop."""

    conversation: ConversationRow
    turn: TurnRow
    actor: Actor
    scope: AccessScope
    lang: str
    #: Text after the stored messages of each request: clock, recalled passages.
    suffix: TurnSuffix
    #: Id of the chosen model.
    model: str
    #: Name of the context policy.
    policy: str
    max_steps: int
    event_sink: EventSink
    #: The person's own words; "" if they sent only files.
    words: str = ""
    #: Id of the job whose turn this is; "" for a turn that answers a person.
    job: str = ""
    #: It answers the person's refusal of a call.
    is_refusal: bool = False
    #: The person typed it on the page, in a chat of another channel.
    is_from_page: bool = False
    #: Uncached tokens that the turn may use; 0 for no limit.
    max_tokens: int = 0
    #: What it works on in a hidden conversation; None for a person's turn.
    subagent: Subagent | None = None
    #: Monotonic seconds when this process started or resumed the turn.
    started: float = field(default_factory=time.monotonic)
    timeouts: TurnTimeouts = DEFAULT_TIMEOUTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn ended."""

    state: TurnState
    #: The last message as stored.
    parts: tuple[Part, ...]
    #: Text of the reply as sent; of an unfinished answer the notice of why it ended.
    reply: str
    #: See Message.
    origin: str = "model"
    #: How the answer was left that was shown in part, and that text.
    unfinished: Unfinished | None = None
    shown: str = ""
    usage: tuple[Usage, ...] = ()
    #: The model refused the request.
    declined: bool = False
    #: The model did not answer.
    unreached: bool = False
    #: Of the parts.
    label: ReplyLabel = CLEAN_REPLY


def format_minutes(seconds: float) -> int:
    """Round seconds to the minutes that texts name."""
    return round(seconds / 60)


class MessageCounter:
    """Builds messages to store, with their token count; the counter is loaded in a thread on first
    use.
    """

    def __init__(self, load: Callable[[], TokenCounter]) -> None:
        self._load = load
        self._counter: TokenCounter | None = None
        self._loading = asyncio.Lock()  # one load at a time: it takes 100 MB while it lasts

    async def counter(self) -> TokenCounter:
        """Return the counter, loaded on the first call."""
        async with self._loading:
            if self._counter is None:
                self._counter = await asyncio.to_thread(self._load)
        return self._counter

    async def draft(
        self, role: Role, parts: Sequence[Part], origin: str, label: ReplyLabel = CLEAN_REPLY
    ) -> NewMessage:
        """Build a message to store.

        Args:
            origin: who wrote it; see Message.
        """
        counter, stored = await self.counter(), tuple(parts)
        tokens = counter.message(stored)
        return NewMessage(
            role=role,
            parts=stored,
            tokens=tokens,
            counter=counter.name,
            origin=origin,
            tainted=label.tainted,
            seen_only=label.seen_only,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSetup:
    """Builds the context of a turn from an inbox row: sender, parts of the message, claim."""

    store: Store
    blobs: Blobs
    message_counter: MessageCounter
    config: Callable[[], Config]
    #: The configured model's id.
    model_name: Callable[[], str]
    #: The owner's local time.
    now: Callable[[], datetime]
    show: ShowEvent
    turn_recall: TurnRecall
    roles: RoleResolver
    downloads: Downloads
    budget_guard: BudgetGuard
    #: The zones that people have chosen, by channel, account and person.
    zones: Mapping[tuple[str, str, str], tzinfo]
    telemetry: Telemetry
    timeouts: TurnTimeouts = DEFAULT_TIMEOUTS

    async def actor(self, work: NextWork) -> Actor:
        """Return the sender with the role they have now."""
        place, proven = work.conversation.place, load_body(work.row.body).proven
        sender = (place.channel, place.account, work.row.sender_id, place.chat_id, place.kind)
        asked = grants_key(*sender)
        # the grants are those of another spelling
        if asked is not None and asked.person != work.row.sender_id:
            return await self.roles.actor(*sender, proven=proven)
        return self.roles.actor_of(work.grants, *sender, proven=proven)

    async def claim(
        self,
        work: NextWork,
        body: MessageBody,
        parts: tuple[Part, ...] | None,
        actor: Actor,
        event_sink: EventSink,
        subagent: Subagent | None = None,
    ) -> TurnContext:
        """Return the context of the row's turn: resumed if it was claimed before, claimed now
        otherwise.

        Args:
            parts: what to answer instead of the row's own message (/retry).
        """
        config, row, conversation = self.config(), work.row, work.conversation
        words = _query_text(body, parts)
        place, lang = conversation.place, resolve_language(words, config.language)
        scope = access_scope(place.channel, place.kind, place.space)
        recalling = asyncio.create_task(
            self._timed_recall(row.trace_id, conversation, "" if subagent else words)
        )  # beside the claim, which it needs not
        began = time.perf_counter()
        try:
            turn = await self._resume_or_claim(work, body, parts, lang, actor)
            self.telemetry.stage_ended(row.trace_id, "claim", began)
            recalled = await self.turn_recall.wait(recalling)
        except BaseException:
            await cancel_and_wait({recalling})
            raise
        most_steps = MAX_STEPS if subagent else JOB_STEPS if body.job else config.agent_max_steps
        zone = self.zones.get((actor.channel, actor.account, actor.id))
        now = self.now().astimezone(zone) if zone else self.now()
        return TurnContext(
            conversation=conversation,
            turn=turn,
            actor=actor,
            scope=scope,
            lang=lang,
            suffix=TurnSuffix(
                clock=format_clock_note(now), recalled=recalled, is_group=scope.kind == "group"
            ),
            model=conversation.model or self.model_name(),
            policy=conversation.policy or config.context_policy,
            max_steps=min(config.agent_max_steps, most_steps),
            event_sink=event_sink,
            words=words,
            job=body.job,
            is_refusal=body.call_end == "denied",
            is_from_page=body.written_on == "page",
            max_tokens=int(subagent.tokens * LAST_STEP_SHARE)
            if subagent
            else JOB_TOKENS
            if body.job
            else 0,
            subagent=subagent,
            timeouts=self._timeouts_of(subagent),
        )

    def _timeouts_of(self, subagent: Subagent | None) -> TurnTimeouts:
        """Return the limits of a turn; a sub-agent's time began with its task."""
        if subagent is None:
            return self.timeouts
        left = min(self.timeouts.cancel_after, max(1.0, subagent.deadline - self.store.now()))
        return TurnTimeouts(last_step_after=left * LAST_STEP_SHARE, cancel_after=left)

    async def _timed_recall(
        self, trace: str, conversation: ConversationRow, words: str
    ) -> RecalledPassages:
        began = time.perf_counter()
        try:
            return await self.turn_recall.recalled(conversation, words)
        finally:
            self.telemetry.stage_ended(trace, "recall", began)

    async def _resume_or_claim(
        self,
        work: NextWork,
        body: MessageBody,
        parts: tuple[Part, ...] | None,
        lang: str,
        actor: Actor,
    ) -> TurnRow:
        row, place = work.row, work.conversation.place
        if row.turn_id and (turn := await self.store.delivery.take_over(row.turn_id)):
            return turn
        batched: Sequence[InboxRow] = ()
        if parts is None:
            if work.asides is None or row.album:
                batched = await self.store.delivery.load_batched_rows(row)
            else:
                batched = work.asides
            parts = await self._build_parts(row, body, batched, place, lang)
        origin = OUTCOME_ORIGIN if body.outcome else "model" if place.is_hidden else "person"
        draft = await self.message_counter.draft("user", parts, origin)
        return await self.store.delivery.claim(
            row.id,
            replace(draft, id=row.id),
            row.sender_id,
            batched,
            body=row.body,
            who=budget_account(actor),
        )

    async def _build_parts(
        self, row: InboxRow, body: MessageBody, batched: Sequence[InboxRow], place: Place, lang: str
    ) -> tuple[Part, ...]:
        """Build the message as the model sees it: background, quotation, files, then its own
        text.
        """
        background = [(other, load_body(other.body)) for other in batched if other.state == "aside"]
        album = [body, *(load_body(other.body) for other in batched if other.state == "new")]
        parts: list[Part] = [
            *format_background(background, place.kind),
            *format_quote(body, row, place.kind),
        ]
        parts += format_outcome(body)
        parts += await self._ingest([file for item in album for file in item.files], place, lang)
        if body.outcome:
            return tuple(parts)
        text = _text_of(album)
        if not text.strip() and all(map(_is_aside, parts)):
            text = "…"  # what stands beside a message is none
        if text.strip():
            by = "" if place.is_hidden else sender_name(body, row, place.kind)
            parts.append(Text(text=text, by=by))
        return tuple(parts)

    async def _ingest(
        self, files: Sequence[StoredAttachment], place: Place, lang: str
    ) -> list[Part]:
        """Turn files into parts; for each that cannot be read, a note says why."""
        if not files:
            return []
        stored, failures = await self._fetch_all(files, place, lang)
        ingested = await ingest_attachments(stored, self.blobs, lang)
        notes = (
            Phrase("Attachment not read: {why}", why=why).text(lang)
            for why in (*ingested.refused, *failures)
        )
        return [*ingested.parts, *(Text(text=note, aside=NOT_READ_LABEL) for note in notes)]

    async def _fetch_all(
        self, files: Sequence[StoredAttachment], place: Place, lang: str
    ) -> tuple[list[StoredFile], list[str]]:
        """Return the files that could be fetched, and one sentence for each of the others."""
        stored, failures = [], []
        for file in files:
            name = sanitize_file_name(file.name)
            try:
                stored.append(await self._fetch(file, place))
            except AttachmentTooBig:
                failures.append(format_attachment_refusal(file.name, "size", lang))
            except QuotaExceededError as err:
                failures.append(err.full.sentence(name, lang))
            except OSError as err:
                failures.append(f"{name}: {err.strerror or type(err).__name__}")
            except ChannelError as err:
                failures.append(
                    f"{name}: {Phrase('the platform did not deliver it').text(lang)} ({err})"
                )
        return stored, failures

    async def _fetch(self, file: StoredAttachment, place: Place) -> StoredFile:
        downloaded = DownloadedFile(sha256=file.sha256)
        if file.ref and not file.sha256:
            downloaded = await self.downloads.get(place.channel, file.ref, place.space)
        elif file.size and not file.sha256:
            raise self.budget_guard.storage.quota_error(place.space, file.size)
        return StoredFile(name=downloaded.name or file.name, sha256=downloaded.sha256)


def _text_of(album: Sequence[MessageBody]) -> str:
    """Return the text of a message, or the caption of one of several that are an album."""
    return album_caption(item.text for item in album) if len(album) > 1 else album[0].text


def _is_aside(part: Part) -> bool:
    """Whether a part stands beside a message: background, a quotation, a note on a file."""
    return isinstance(part, Text) and bool(part.aside)


def _query_text(body: MessageBody, parts: tuple[Part, ...] | None) -> str:
    """Return the person's words, which the language and the search of memory depend on."""
    if parts is None:
        return body.text
    return " ".join(part.text for part in parts if isinstance(part, Text) and not part.aside)


def is_tainted(context: TurnContext, session: Session) -> bool:
    """Tell whether the conversation in view holds outside words, or what was derived from them.

    Recalled passages are left aside: the answer to that request is labelled instead.
    """
    return context.scope.kind == "group" or is_view_tainted(session)


async def label_reply(
    context: TurnContext, session: Session, parts: Sequence[Part], *, recalled: bool = False
) -> ReplyLabel:
    """Label what the model has just written.

    Args:
        recalled: a passage recalled into its request is tainted.
    """
    is_view_clean, is_private = not is_tainted(context, session), context.scope.kind != "group"
    if is_view_clean and not recalled:
        return ReplyLabel()
    if not is_private or (recalled and any(isinstance(part, ToolCall) for part in parts)):
        # The passage is in no later view, so until the turn ends a step stands for it.
        return ReplyLabel(tainted=True)
    passages = context.suffix.recalled.passages if recalled else ()
    words = [passage.words for passage in passages if passage.outside]
    # slow with much in view
    return await asyncio.to_thread(fold_labels.label_reply, session, parts, words)


async def keep_shown_text(context: TurnContext, result: TurnResult) -> TurnResult:
    """Return the result of a turn with what was shown of its answer, if that is not finished."""
    shown = context.event_sink.shown
    if result.state == "done" or not context.event_sink.displays_text or not shown.whole:
        return result
    unfinished: Unfinished = "stopped" if result.state == "cancelled" else "cut"
    result = replace(result, unfinished=unfinished, shown=shown.whole)
    if shown.session is None or not shown.unstored:
        return result
    parts = (Text(text=replace_unstorable(shown.unstored)),)
    label = await label_reply(context, shown.session, parts, recalled=shown.recalled)
    marked = (*parts, Text(text=UNFINISHED_MARKS[unfinished]))
    return replace(result, parts=marked, origin=unfinished, label=label)
