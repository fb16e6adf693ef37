"""Live replies: a card that the text is streamed into, and that becomes the reply itself."""

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import structlog

from channels.base import Notebook
from channels.errors import Ambiguous, ChannelError, Rejected, Retryable
from channels.feishu.cards import (
    ELEMENT_ID,
    LIMIT,
    card_entity_body,
    dump_card,
    end_streaming_settings,
    idempotency_key,
    markdown_card,
    plain_card,
    sanitize_markdown,
    streaming_card,
)
from channels.feishu.client import (
    SEQUENCE_CODE,
    STREAM_CLOSED_CODES,
    FeishuApiError,
    FeishuClient,
    PermissionMissing,
    reply_field,
)
from channels.message import Address, LiveEvent, OutboundMessage, Receipt
from channels.toolkit.delivery import BackgroundTasks, EmptyNotebook

log = structlog.get_logger(__name__)

CARD_UPDATE_SECONDS = 0.4  # between two updates of a card; Feishu accepts ten a second
# between two updates of any cards; an API accepts 50 a second, but 1000 a minute
TOTAL_UPDATE_SECONDS = 0.08
# Operations of a card must have rising numbers, also after a restart; so many are reserved in one
# write.
RESERVED_NUMBERS = 1000
CLEANUP_SECONDS = 3600.0
MAX_DRAFTS = 1000
DRAFT_TTL_SECONDS = 7200.0  # how long the notebook holds which card became which reply
TYPING_EMOJI = "Typing"
NOTE_PREFIX = "live:"
STORED_FIELDS = ("source", "card", "message", "most", "typing", "closed", "done", "at")
SHOWN_EVENTS = ("started", "delta", "tool_started", "tool_ended")

# Posts a message with this body to an address, as a reply to the message with that id ("" for
# none); returns its id.
Post = Callable[[Address, str, dict[str, Any]], Awaitable[str]]


@dataclass(slots=True, kw_only=True)
class CardDraft:
    """A reply while it is written. Names in STORED_FIELDS are keys of its note in the notebook."""

    #: Inbox id of the message replied to.
    id: str
    address: Address
    #: The platform's id of that message, "" if unknown.
    source: str = ""
    #: The platform's ids of the card, its message and the typing reaction, "" for none.
    card: str = ""
    message: str = ""
    typing: str = ""
    #: Number of the card's next operation, and the end of the reserved numbers.
    next: int = 1
    most: int = 1
    #: Streaming has ended.
    closed: bool = False
    #: Idempotency key of the part that it became.
    done: str = ""
    #: Unix seconds of its start.
    at: float = field(default_factory=time.time)
    text: str = ""
    tool: str = ""
    #: Text of the card.
    shown: str = ""
    task: asyncio.Task[None] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    #: Set when nothing more is to be shown.
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def apply(self, event: LiveEvent) -> None:
        """Add the content of an event; the text after a tool replaces the text before it."""
        if event.name == "delta":
            replaces = self.tool or event.facts.get("whole")
            self.text = event.text if replaces else self.text + event.text
            self.tool = ""
        elif event.name == "tool_started":
            self.tool = str(event.facts.get("tool", "")) or "…"
        self.changed.set()

    def visible_text(self) -> str:
        """Return the text to show now, within the limit of a message."""
        text = self.text
        if len(text) * 4 > LIMIT and len(text.encode()) > LIMIT:
            text = text.encode()[:LIMIT].decode("utf-8", "ignore") + "…"
        working = f"⏳ `{self.tool.replace('`', '')}`" if self.tool else ""
        return "\n\n".join(filter(None, (text.strip(), working)))

    def end(self) -> None:
        """Show nothing more."""
        self.ended.set()
        self.changed.set()

    async def sleep(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the draft."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.ended.wait()

    def note(self) -> dict[str, str]:
        """Return the notebook entry from which a restarted program continues."""
        return {
            NOTE_PREFIX + self.id: json.dumps({name: getattr(self, name) for name in STORED_FIELDS})
        }

    def restore(self, note: str) -> None:
        """Continue from a note; an unreadable one is ignored."""
        try:
            values = json.loads(note)
            for name in STORED_FIELDS:
                kind = type(getattr(self, name))
                setattr(self, name, kind(values[name]))
        except (ValueError, KeyError, TypeError):
            return
        self.next = self.most


class LiveCards:
    """Shows the replies of one app while they are written."""

    def __init__(self, client: FeishuClient, post: Post) -> None:
        self._client = client
        self._post = post
        self._notebook: Notebook = EmptyNotebook()
        self._drafts: dict[str, CardDraft] = {}
        self._background = BackgroundTasks()
        #: Monotonic seconds of the next update of any card, and of the last clean-up.
        self._next_update = 0.0
        self._cleaned_up = 0.0
        self._may_react = True
        #: Why cards cannot be created, "" if that is not known to fail.
        self.refused = ""

    def bind(self, notebook: Notebook) -> None:
        """Set the notebook that holds unfinished drafts."""
        self._notebook = notebook

    def show(self, event: LiveEvent, source: str, is_private: bool) -> None:
        """Show one event.

        Args:
            source: the platform's id of the message replied to, "" if unknown.
            is_private: a message to that chat need not be a reply.
        """
        draft = self._drafts.get(event.message_id)
        if event.name == "failed" and draft is not None:
            draft.end()
        if event.name not in SHOWN_EVENTS or not event.message_id:
            return
        if draft is None:
            if not (source or is_private) or not self._has_room():
                return
            draft = CardDraft(id=event.message_id, address=event.address, source=source)
            self._drafts[draft.id] = draft
            draft.task = self._start(self._write(draft))
        draft.apply(event)

    async def finish(self, message: OutboundMessage) -> Receipt | None:
        """Turn the draft of this part into the part; None if there is none, or it cannot.

        Raises:
            Retryable, Ambiguous, LoggedOut: the draft waits for the next attempt.
        """
        if not message.ends_live_reply:
            return None
        draft = self._drafts.pop(message.reply_to, None)
        if draft is None:
            draft = CardDraft(id=message.reply_to, address=message.address)
            await self._restore(draft)
        elif draft.task is not None:
            draft.end()  # the update in progress must end first: its number and outcome count
            await asyncio.wait([draft.task])
        if draft.typing:
            self._start(self._remove_typing(draft))
        if draft.done:
            return (
                Receipt(platform_id=draft.message)
                if draft.done == idempotency_key(message.client_key)
                else None
            )
        return await self._finish_card(draft, message) if draft.card else None

    def start_cleanup(self) -> None:
        """Clean up the notebook in the background."""
        self._start(self._clean_up())

    async def close(self) -> None:
        """Stop writing; a later `finish` completes unfinished drafts."""
        await self._background.close()
        self._drafts.clear()

    async def _clean_up(self) -> None:
        """Delete old notes; end the streaming of cards that were never finished."""
        self._cleaned_up = time.monotonic()
        for name, note in (await self._notebook.read(NOTE_PREFIX)).items():
            draft = CardDraft(id=name.removeprefix(NOTE_PREFIX), address=_NO_ADDRESS, at=0.0)
            draft.restore(note)
            if time.time() - draft.at < DRAFT_TTL_SECONDS or draft.id in self._drafts:
                continue
            if draft.message and not draft.done and not draft.closed:
                await _log_failure(self._end_streaming(draft, "…"))
            await _log_failure(self._notebook.write({name: ""}))

    # -- while the reply is written ---------------------------------------------------------------

    def _has_room(self) -> bool:
        """Whether one more reply can be shown. Only ended and old drafts are dropped for it."""
        if len(self._drafts) >= MAX_DRAFTS:
            oldest = time.time() - DRAFT_TTL_SECONDS
            for draft in [
                one for one in self._drafts.values() if one.ended.is_set() or one.at < oldest
            ]:
                self._drafts.pop(draft.id).end()
        return len(self._drafts) < MAX_DRAFTS

    async def _write(self, draft: CardDraft) -> None:
        try:
            await self._restore(draft)
            await self._add_typing(draft)
            while not (draft.ended.is_set() or draft.done or draft.closed or self.refused):
                await draft.changed.wait()
                draft.changed.clear()
                if not draft.ended.is_set():
                    await self._update(draft)
        except (ChannelError, OSError) as err:
            draft.closed = True
            log.info("live text given up", error=f"{type(err).__name__}: {err}")

    async def _update(self, draft: CardDraft) -> None:
        """Stream the current text into the card.

        A failed update is skipped: the next one has the whole text.
        """
        text = draft.visible_text()
        if not text or text == draft.shown:
            return
        try:
            await self._open(draft)
            await self._wait_for_slot(draft)
            await self._stream(draft, text)
            draft.shown = text
        except Retryable as err:
            draft.changed.set()
            await draft.sleep(min(err.retry_after or 1.0, 60.0))
        except Ambiguous:
            draft.changed.set()
        except PermissionMissing as err:
            self.refused = str(err)
        except FeishuApiError as err:
            if err.code not in STREAM_CLOSED_CODES:
                raise
            draft.closed = True
            await self._note(draft)
        await draft.sleep(CARD_UPDATE_SECONDS)

    async def _wait_for_slot(self, draft: CardDraft) -> None:
        """Wait for the rate limit that all cards share."""
        now = time.monotonic()
        self._next_update = max(self._next_update + TOTAL_UPDATE_SECONDS, now)
        await draft.sleep(self._next_update - now)

    async def _open(self, draft: CardDraft) -> None:
        """Create the card and post it, unless that was done before."""
        if not draft.card:
            created = await self._client.call(
                "POST", "/cardkit/v1/cards", dump_card(streaming_card())
            )
            draft.card = reply_field(created, "card_id")
            await self._note(draft)
        if not draft.message:
            body = {**card_entity_body(draft.card), "uuid": idempotency_key(f"live {draft.id}")}
            draft.message = await self._post(draft.address, draft.source, body)
            await self._note(draft)

    async def _stream(self, draft: CardDraft, text: str) -> None:
        path = f"/cardkit/v1/cards/{draft.card}/elements/{ELEMENT_ID}/content"
        await self._operate(draft, "PUT", path, {"content": sanitize_markdown(text)})

    async def _operate(
        self, draft: CardDraft, method: str, path: str, body: dict[str, Any]
    ) -> None:
        """Make one numbered operation on a card; skip ahead if the card has seen higher numbers."""
        for retry in (True, True, False):
            if draft.next >= draft.most:
                draft.most = draft.next + RESERVED_NUMBERS
                await self._note(draft)
            number, draft.next = draft.next, draft.next + 1
            try:
                numbered = {
                    **body,
                    "sequence": number,
                    "uuid": idempotency_key(f"{draft.card} {number}"),
                }
                await self._client.call(method, path, numbered)
                return
            except FeishuApiError as err:
                if err.code != SEQUENCE_CODE or not retry:
                    raise
                draft.next += RESERVED_NUMBERS

    async def _add_typing(self, draft: CardDraft) -> None:
        """React to the question: Feishu has no typing indicator."""
        if not draft.source or draft.typing or draft.done or not self._may_react:
            return
        try:
            path = f"/im/v1/messages/{draft.source}/reactions"
            added = await self._client.call(
                "POST", path, {"reaction_type": {"emoji_type": TYPING_EMOJI}}
            )
            draft.typing = reply_field(added, "reaction_id")
            await self._note(draft)
        except PermissionMissing as err:
            self._may_react = False
            log.info("no reaction while an answer is written", error=str(err))
        except (Rejected, Retryable, Ambiguous) as err:
            log.info("no reaction", error=str(err))

    async def _remove_typing(self, draft: CardDraft) -> None:
        await _log_failure(
            self._client.call("DELETE", f"/im/v1/messages/{draft.source}/reactions/{draft.typing}")
        )
        if not draft.card:
            await _log_failure(self._notebook.write({NOTE_PREFIX + draft.id: ""}))

    # -- when the reply is complete ---------------------------------------------------------------

    async def _finish_card(self, draft: CardDraft, message: OutboundMessage) -> Receipt | None:
        try:
            await self._open(draft)
            if message.plain:
                await self._replace(draft, plain_card(message.text))
            else:
                await self._stream_last(draft, message.text)
        except Rejected as err:
            await self._withdraw(draft, err)
            return None
        except OSError as err:
            raise Retryable("the card's number could not be noted") from err
        draft.done = idempotency_key(message.client_key)
        await _log_failure(self._note(draft))
        if time.monotonic() - self._cleaned_up > CLEANUP_SECONDS:
            self.start_cleanup()
        return Receipt(platform_id=draft.message)

    async def _stream_last(self, draft: CardDraft, text: str) -> None:
        try:
            if not draft.closed:
                await self._stream(draft, text)
                await self._end_streaming(draft, text)
                return
        except FeishuApiError as err:
            if err.code not in STREAM_CLOSED_CODES:
                raise
        await self._replace(draft, markdown_card(text))

    async def _end_streaming(self, draft: CardDraft, text: str) -> None:
        await self._operate(
            draft,
            "PATCH",
            f"/cardkit/v1/cards/{draft.card}/settings",
            {"settings": end_streaming_settings(text)},
        )

    async def _replace(self, draft: CardDraft, card: dict[str, Any]) -> None:
        await self._operate(
            draft, "PUT", f"/cardkit/v1/cards/{draft.card}", {"card": dump_card(card)}
        )

    async def _withdraw(self, draft: CardDraft, err: Rejected) -> None:
        """Delete the message of a card that cannot become the reply, which is then sent as a new
        message.
        """
        log.warning("card withdrawn", error=str(err))
        if draft.message:
            await _log_failure(self._client.call("DELETE", f"/im/v1/messages/{draft.message}"))
        await _log_failure(self._notebook.write({NOTE_PREFIX + draft.id: ""}))

    # -- notebook ---------------------------------------------------------------------------------

    async def _restore(self, draft: CardDraft) -> None:
        name = NOTE_PREFIX + draft.id
        draft.restore((await self._notebook.read(name)).get(name, ""))

    async def _note(self, draft: CardDraft) -> None:
        await self._notebook.write(draft.note())

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self._background.start(work, "feishu live")


async def _log_failure(work: Awaitable[Any]) -> None:
    """Await what may fail without harm to the reply."""
    try:
        await work
    except (ChannelError, OSError) as err:
        log.info("live card not tidied", error=f"{type(err).__name__}: {err}")


_NO_ADDRESS = Address(channel="feishu", account="", chat_id="")
