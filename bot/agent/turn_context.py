"""What one turn works with: its context, its result, and `TurnSetup`, which makes the context and claims the turn."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.access.budget_guard import BudgetGuard
from bot.access.budgets import budget_account
from bot.access.permissions import AccessDecision, AccessScope, Actor, authorize
from bot.access.roles import RoleResolver
from bot.access.storage_quota import QuotaExceededError
from bot.agent.prompt import TurnSuffix, format_clock_note
from bot.config.schema import Config
from bot.gateway.attachments import StoredFile, format_attachment_refusal, ingest_attachments, sanitize_file_name
from bot.gateway.downloads import DownloadedFile, Downloads
from bot.gateway.receiver import access_scope
from bot.memory.recall import RecalledPassages, TurnRecall, find_tainted
from bot.messages import (
    MessageBody,
    StoredAttachment,
    album_caption,
    format_background,
    format_quote,
    load_body,
    sender_name,
    to_address,
)
from bot.texts import format_text, resolve_language
from channels.errors import AttachmentTooBig, ChannelError
from channels.message import Address, EventName, LiveEvent
from memory.context.taint import NOT_READ_LABEL
from memory.context.tokens import TokenCounter
from memory.conversation import Part, Role, Text
from memory.store.rows import ConversationRow, InboxRow, NewMessage, Place, TurnRow, TurnState, Usage
from memory.store.store import Store
from memory.workspace.blobs import Blobs

ShowEvent = Callable[[LiveEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSink:
    """Sends live events about one inbound message to the chat it came from."""

    show: ShowEvent
    address: Address
    message_id: str

    def tell(self, name: EventName, text: str = "", **facts: str | int | float | bool) -> None:
        """Send an event, best effort: a slow or absent viewer never raises."""
        self.show(LiveEvent(address=self.address, name=name, message_id=self.message_id, text=text, facts=facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTimeouts:
    """Limits of one turn in one process, in seconds."""

    #: After this long the model is asked to answer without more tool calls.
    sum_up: float = 720.0
    #: After this long the turn is cancelled.
    most: float = 900.0


DEFAULT_TIMEOUTS = TurnTimeouts()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """One claimed turn: the input of the agent loop."""

    conversation: ConversationRow
    turn: TurnRow
    actor: Actor
    where: AccessScope
    lang: str
    #: Text after the stored messages of each request: clock, recalled passages.
    tail: TurnSuffix
    #: Id of the chosen model.
    model: str
    #: Name of the context policy.
    policy: str
    max_steps: int
    event_sink: EventSink
    #: The person's own words; "" if they sent only files.
    words: str = ""
    #: Monotonic seconds when this process took the turn up.
    began: float = field(default_factory=time.monotonic)
    times: TurnTimeouts = DEFAULT_TIMEOUTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn ended."""

    state: TurnState
    #: Parts of the last message as stored.
    stored: tuple[Part, ...]
    #: The reply as sent.
    said: str
    usage: tuple[Usage, ...] = ()
    #: The model refused the request.
    declined: bool = False
    #: The stored parts were written while outside words were in view.
    tainted: bool = False


def format_minutes(seconds: float) -> int:
    """Round seconds to the minutes that texts name."""
    return round(seconds / 60)


class MessageCounter:
    """Makes messages ready to store, with their token count; the counter is loaded in a thread on first use."""

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

    async def draft(self, role: Role, parts: Sequence[Part], origin: str, *, tainted: bool = False) -> NewMessage:
        """Return a message ready to store.

        Args:
            origin: person, model, tool or house.
            tainted: see Message.
        """
        counter, stored = await self.counter(), tuple(parts)
        tokens = counter.message(stored)
        return NewMessage(role=role, parts=stored, tokens=tokens, counter=counter.name, origin=origin, tainted=tainted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClaimDetails:
    """What a claim adds to the message: its language and place, and whose budget it counts to."""

    lang: str
    place: Place
    account: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSetup:
    """Makes turn contexts of inbox rows: identifies the sender, builds the message's parts, claims the turn."""

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
    times: TurnTimeouts = DEFAULT_TIMEOUTS

    async def conversation(self, row: InboxRow) -> ConversationRow:
        """Load the row's conversation."""
        conversation = await self.store.sessions.conversation(row.conversation)
        if conversation is None:
            raise LookupError(f"conversation {row.conversation} of inbox row {row.id} is missing")
        return conversation

    async def actor(self, row: InboxRow, place: Place) -> Actor:
        """Return the sender with the role they have now."""
        sender, proven = row.sender_id, load_body(row.body).proven
        return await self.roles.actor(place.channel, place.account, sender, place.chat_id, place.kind, proven=proven)

    def check_chat(self, actor: Actor, place: Place) -> AccessDecision:
        """Decide whether the sender may talk to the bot in this chat."""
        return authorize(actor, "chat", "", access_scope(place.channel, place.kind, place.space))

    async def refuse_over_budget(
        self, row: InboxRow, body: MessageBody, conversation: ConversationRow, actor: Actor
    ) -> bool:
        """Settle the row with a refusal if the sender is over a limit; return whether that was so."""
        return await self.budget_guard.refuse(row, body, actor, conversation.model or self.model_name())

    def event_sink(self, place: Place, row: InboxRow) -> EventSink:
        """Return where the live events of this row are shown."""
        return EventSink(show=self.show, address=to_address(place), message_id=row.id)

    async def claim(
        self,
        row: InboxRow,
        body: MessageBody,
        conversation: ConversationRow,
        parts: tuple[Part, ...] | None,
        actor: Actor,
    ) -> TurnContext:
        """Return the context of the row's turn: resumed if it was claimed before, claimed now otherwise.

        Args:
            parts: what to answer instead of the row's own message (/retry).
        """
        config = self.config()
        words = _query_text(body, parts)
        place, lang = conversation.place, resolve_language(words, config.language)
        details = _ClaimDetails(lang=lang, place=place, account=budget_account(actor))
        turn, recalled = await asyncio.gather(  # independent of each other
            self._resume_or_claim(row, body, parts, details), self._recall(conversation, words)
        )
        return TurnContext(
            conversation=conversation,
            turn=turn,
            actor=actor,
            where=access_scope(place.channel, place.kind, place.space),
            lang=lang,
            tail=TurnSuffix(clock=format_clock_note(self.now()), recalled=recalled),
            model=conversation.model or self.model_name(),
            policy=conversation.policy or config.context_policy,
            max_steps=config.agent_max_steps,
            event_sink=self.event_sink(place, row),
            words=words,
            times=self.times,
        )

    async def _recall(self, conversation: ConversationRow, words: str) -> RecalledPassages:
        """Search memory for the words, and mark the passages that would taint the turn.

        A group's turns are tainted anyway.
        """
        recalled = await self.turn_recall.recalled(conversation, words)
        if conversation.place.kind == "group" or not recalled.passages:
            return recalled
        labelled = zip(recalled.passages, await find_tainted(self.store, recalled.passages), strict=True)
        return replace(recalled, outside=frozenset(passage for passage, outside in labelled if outside))

    async def _resume_or_claim(
        self, row: InboxRow, body: MessageBody, parts: tuple[Part, ...] | None, details: _ClaimDetails
    ) -> TurnRow:
        if row.turn_id and (turn := await self.store.delivery.take_over(row.turn_id)):
            return turn
        batched = [] if parts is not None else await self.store.delivery.load_batched_rows(row)
        content = parts if parts is not None else await self._build_parts(row, body, batched, details)
        draft = await self.message_counter.draft("user", content, "person")
        return await self.store.delivery.claim(
            row.id, replace(draft, id=row.id), row.sender_id, batched, body=row.body, who=details.account
        )

    async def _build_parts(
        self, row: InboxRow, body: MessageBody, batched: Sequence[InboxRow], details: _ClaimDetails
    ) -> tuple[Part, ...]:
        """Build the message as the model sees it: background, quotation, files, then its own text."""
        place = details.place
        background = [(other, load_body(other.body)) for other in batched if other.state == "aside"]
        album = [body, *(load_body(other.body) for other in batched if other.state == "new")]
        parts: list[Part] = [*format_background(background, place.kind), *format_quote(body, row, place.kind)]
        parts += await self._ingest([file for item in album for file in item.files], details)
        text = album_caption(item.text for item in album) if len(album) > 1 else body.text
        if text.strip() or not any(not isinstance(part, Text) or not part.aside for part in parts):
            parts.append(Text(text=text if text.strip() else "…", by=sender_name(body, row, place.kind)))
        return tuple(parts)

    async def _ingest(self, files: Sequence[StoredAttachment], details: _ClaimDetails) -> list[Part]:
        """Turn files into parts; for each that cannot be read, a note says why."""
        if not files:
            return []
        stored, failures = await self._fetch_all(files, details)
        ingested = await ingest_attachments(stored, self.blobs, details.lang)
        notes = (format_text(details.lang, "file_refused", why=why) for why in (*ingested.refused, *failures))
        return [*ingested.parts, *(Text(text=note, aside=NOT_READ_LABEL) for note in notes)]

    async def _fetch_all(
        self, files: Sequence[StoredAttachment], details: _ClaimDetails
    ) -> tuple[list[StoredFile], list[str]]:
        """Return the files that could be fetched, and one sentence for each of the others."""
        stored, failures = [], []
        for file in files:
            name = sanitize_file_name(file.name)
            try:
                stored.append(await self._fetch(file, details.place))
            except AttachmentTooBig:
                failures.append(format_attachment_refusal(file.name, "size", details.lang))
            except QuotaExceededError as err:
                failures.append(err.full.sentence(name, details.lang))
            except OSError as err:
                failures.append(f"{name}: {err.strerror or type(err).__name__}")
            except ChannelError as err:
                failures.append(f"{name}: {format_text(details.lang, 'file_away')} ({err})")
        return stored, failures

    async def _fetch(self, file: StoredAttachment, place: Place) -> StoredFile:
        downloaded = DownloadedFile(sha256=file.sha256)
        if file.ref and not file.sha256:
            downloaded = await self.downloads.get(place.channel, file.ref, place.space)
        elif file.size and not file.sha256:
            raise self.budget_guard.storage.quota_error(place.space, file.size)
        return StoredFile(name=downloaded.name or file.name, sha256=downloaded.sha256)


def _query_text(body: MessageBody, parts: tuple[Part, ...] | None) -> str:
    """Return the person's words, which the language and the search of memory depend on."""
    if parts is None:
        return body.text
    return " ".join(part.text for part in parts if isinstance(part, Text) and not part.aside)
