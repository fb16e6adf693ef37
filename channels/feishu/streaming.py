"""Answers that are seen while they are written: a card that is streamed into, and becomes the answer itself."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
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
from channels.feishu.client import SEQUENCE_CODE, STREAM_CLOSED_CODES, FeishuApiError, FeishuClient, PermissionMissing
from channels.message import Address, LiveEvent, OutboundMessage, Receipt
from channels.toolkit.delivery import without_leaving

# One answer while it is written: what is shown of it, and what is noted so that a restart can go on with it.

PAGE_PREFIX = "live:"  # what a draft's name in the notebook begins with
STORED_FIELDS = ("source", "card", "message", "most", "typing", "closed", "done", "at")


@dataclass(slots=True, kw_only=True)
class CardDraft:
    """id: of the row that is answered. source: the platform's id of that message, "" unknown.

    card, message, typing: the platform's ids of what is shown, "" while there is none. next, most: the number of the
    next operation on the card, and up to which they are noted. closed: streaming has ended. done: key of the part
    that it became. at: unix seconds of its beginning. seen: what the card holds. over: nothing more is to be shown.
    """

    id: str
    address: Address
    source: str = ""
    card: str = ""
    message: str = ""
    next: int = 1
    most: int = 1
    typing: str = ""
    closed: bool = False
    done: str = ""
    at: float = field(default_factory=time.time)
    text: str = ""
    tool: str = ""
    seen: str = ""
    task: asyncio.Task[None] | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, event: LiveEvent) -> None:
        """Know what an event tells; words after a tool are another step's, and begin again."""
        if event.name == "delta":
            anew = self.tool or event.facts.get("whole")
            self.text = event.text if anew else self.text + event.text
            self.tool = ""
        elif event.name == "tool_started":
            self.tool = str(event.facts.get("tool", "")) or "…"
        self.news.set()

    def visible(self) -> str:
        """What is to be seen now, within the limit of a message."""
        text = self.text
        if len(text) * 4 > LIMIT and len(text.encode()) > LIMIT:
            text = text.encode()[:LIMIT].decode("utf-8", "ignore") + "…"
        working = f"⏳ `{self.tool.replace('`', '')}`" if self.tool else ""
        return "\n\n".join(filter(None, (text.strip(), working)))

    def end(self) -> None:
        """Show nothing more."""
        self.over.set()
        self.news.set()

    async def rest(self, seconds: float) -> None:
        """So long, or until it is over."""
        try:
            async with asyncio.timeout(seconds):
                await self.over.wait()
        except TimeoutError:
            return

    def page(self) -> dict[str, str]:
        """What is to be noted."""
        return {PAGE_PREFIX + self.id: json.dumps({name: getattr(self, name) for name in STORED_FIELDS})}

    def recall(self, page: str) -> None:
        """Go on from what was noted; a page that cannot be read is none."""
        try:
            noted = json.loads(page)
            for name in STORED_FIELDS:
                kind = type(getattr(self, name))
                setattr(self, name, kind(noted[name]))
        except (ValueError, KeyError, TypeError):
            return
        self.next = self.most


log = structlog.get_logger(__name__)

CARD_UPDATE_SECONDS = 0.4  # between two updates of a card; it takes ten a second
TOTAL_UPDATE_SECONDS = 0.08  # between two updates of any cards: an API takes 50 a second, but 1000 a minute
# Numbers for a card's operations are noted so many ahead, for only rising ones are taken, after a restart too.
RESERVED = 1000
CLEANUP_SECONDS = 3600.0
MAX_DRAFTS = 1000
DRAFT_TTL_SECONDS = 7200.0  # for so long it is remembered which card became which answer
TYPING_EMOJI = "Typing"

SHOWN_EVENTS = ("started", "delta", "tool_started", "tool_ended")

# Sends a new message with this body to an address, as a reply to the message with that id ("" for none); its id.
Post = Callable[[Address, str, dict[str, Any]], Awaitable[str]]


class LiveCards:
    """The drafts of one app. refused: why no card can be made, "" as long as nothing is known of it."""

    def __init__(self, wire: FeishuClient, post: Post) -> None:
        self._wire = wire
        self._post = post
        self._notebook: Notebook | None = None
        self._drafts: dict[str, CardDraft] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._slot = 0.0
        self._tidied = 0.0
        self._typeless = False
        self.refused = ""

    def bind(self, notebook: Notebook) -> None:
        """Where drafts are remembered over a restart."""
        self._notebook = notebook

    def show(self, event: LiveEvent, source: str, reachable: bool) -> None:
        """Take one event.

        Args:
            source: the platform's id of the message answered, "" unknown. reachable: a new message may go to that
                chat without being a reply.
        """
        draft = self._drafts.get(event.message_id)
        if event.name == "failed" and draft is not None:
            draft.end()
        if event.name not in SHOWN_EVENTS or not event.message_id:
            return
        if draft is None:
            if not source and not reachable:
                return
            if not self._has_room():
                return
            draft = CardDraft(id=event.message_id, address=event.address, source=source)
            self._drafts[draft.id] = draft
            draft.task = self._go(self._write(draft))
        draft.take(event)

    async def finish(self, message: OutboundMessage) -> Receipt | None:
        """Let the draft for this part become the part; None where there is none, or it cannot.

        Raises:
            Retryable, Ambiguous, LoggedOut: the draft waits for the next attempt.
        """
        if not _ends_draft(message):
            return None
        draft = self._drafts.pop(message.reply_to, None)
        if draft is None:
            draft = CardDraft(id=message.reply_to, address=message.address)
            await self._recall(draft)
        elif draft.task is not None:
            draft.end()  # the update under way is waited for: its number and its fate count
            await asyncio.wait([draft.task])
        if draft.typing:
            self._go(self._remove_typing(draft))
        if draft.done:
            return Receipt(platform_id=draft.message) if draft.done == idempotency_key(message.client_key) else None
        return await self._become(draft, message) if draft.card else None

    def begin(self) -> None:
        """Put the notebook in order, beside everything else."""
        self._go(self._clean_up())

    async def _clean_up(self) -> None:
        """Forget in the notebook what is long over; close what nobody has finished."""
        self._tidied = time.monotonic()
        for name, page in (await self._notebook.read(PAGE_PREFIX) if self._notebook else {}).items():
            draft = CardDraft(id=name.removeprefix(PAGE_PREFIX), address=_NO_ADDRESS, at=0.0)
            draft.recall(page)
            if time.time() - draft.at < DRAFT_TTL_SECONDS or draft.id in self._drafts:
                continue
            if draft.message and not draft.done and not draft.closed:
                await self._try(self._close_card(draft, "…"))
            await self._try(self._keep({name: ""}))

    async def close(self) -> None:
        """Stop writing; what is half written is finished by a later `finish`."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._drafts.clear()

    # -- while it is written ----------------------------------------------------------------------

    def _has_room(self) -> bool:
        """Whether one more answer can be shown. One that is being written is not given up for it."""
        if len(self._drafts) >= MAX_DRAFTS:
            old = time.time() - DRAFT_TTL_SECONDS
            for draft in [one for one in self._drafts.values() if one.over.is_set() or one.at < old]:
                self._drafts.pop(draft.id).end()
        return len(self._drafts) < MAX_DRAFTS

    async def _write(self, draft: CardDraft) -> None:
        try:
            await self._recall(draft)
            await self._type(draft)
            while not (draft.over.is_set() or draft.done or draft.closed or self.refused):
                await draft.news.wait()
                draft.news.clear()
                if not draft.over.is_set():
                    await self._update(draft)
        except (ChannelError, OSError) as err:
            draft.closed = True
            log.info("live text given up", error=f"{type(err).__name__}: {err}")

    async def _update(self, draft: CardDraft) -> None:
        """Bring the card to what is known now. What came too early or was lost is dropped: the next has it all."""
        text = draft.visible()
        if not text or text == draft.seen:
            return
        try:
            await self._open(draft)
            await self._pace(draft)
            await self._stream(draft, text)
            draft.seen = text
        except Retryable as err:
            draft.news.set()
            await draft.rest(min(err.retry_after or 1.0, 60.0))
        except Ambiguous:
            draft.news.set()
        except PermissionMissing as err:
            self.refused = str(err)
        except FeishuApiError as err:
            if err.code not in STREAM_CLOSED_CODES:
                raise
            draft.closed = True
            await self._note(draft)
        await draft.rest(CARD_UPDATE_SECONDS)

    async def _pace(self, draft: CardDraft) -> None:
        """Wait for the next place among all cards."""
        now = time.monotonic()
        self._slot = max(self._slot + TOTAL_UPDATE_SECONDS, now)
        await draft.rest(self._slot - now)

    async def _open(self, draft: CardDraft) -> None:
        """Make the card and send it; either may have been done before."""
        if not draft.card:
            made = await self._wire.call("POST", "/cardkit/v1/cards", dump_card(streaming_card()))
            draft.card = _read_id(made, "card_id")
            await self._note(draft)
        if not draft.message:
            body = {**card_entity_body(draft.card), "uuid": idempotency_key(f"live {draft.id}")}
            draft.message = await self._post(draft.address, draft.source, body)
            await self._note(draft)

    async def _stream(self, draft: CardDraft, text: str) -> None:
        path = f"/cardkit/v1/cards/{draft.card}/elements/{ELEMENT_ID}/content"
        await self._operate(draft, "PUT", path, {"content": sanitize_markdown(text)})

    async def _operate(self, draft: CardDraft, method: str, path: str, body: dict[str, Any]) -> None:
        """One operation on a card under the next number; where the card is ahead of us, we leap."""
        for again in (True, True, False):
            if draft.next >= draft.most:
                draft.most = draft.next + RESERVED
                await self._note(draft)
            number, draft.next = draft.next, draft.next + 1
            try:
                numbered = {**body, "sequence": number, "uuid": idempotency_key(f"{draft.card} {number}")}
                await self._wire.call(method, path, numbered)
                return
            except FeishuApiError as err:
                if err.code != SEQUENCE_CODE or not again:
                    raise
                draft.next += RESERVED

    async def _type(self, draft: CardDraft) -> None:
        """Feishu has no typing state: a reaction to the question stands for it."""
        if not draft.source or draft.typing or draft.done or self._typeless:
            return
        try:
            path = f"/im/v1/messages/{draft.source}/reactions"
            made = await self._wire.call("POST", path, {"reaction_type": {"emoji_type": TYPING_EMOJI}})
            draft.typing = _read_id(made, "reaction_id")
            await self._note(draft)
        except PermissionMissing as err:
            self._typeless = True
            log.info("no reaction while an answer is written", error=str(err))
        except (Rejected, Retryable, Ambiguous) as err:
            log.info("no reaction", error=str(err))

    async def _remove_typing(self, draft: CardDraft) -> None:
        await self._try(self._wire.call("DELETE", f"/im/v1/messages/{draft.source}/reactions/{draft.typing}"))
        if not draft.card:
            await self._try(self._keep({PAGE_PREFIX + draft.id: ""}))

    # -- when it is done --------------------------------------------------------------------------

    async def _become(self, draft: CardDraft, message: OutboundMessage) -> Receipt | None:
        try:
            await self._open(draft)
            if message.plain:
                await self._replace(draft, plain_card(message.text))
            else:
                await self._settle(draft, message.text)
        except Rejected as err:
            await self._withdraw(draft, err)
            return None
        except OSError as err:
            raise Retryable("the card's number could not be noted") from err
        draft.done = idempotency_key(message.client_key)
        await self._try(self._note(draft))
        if time.monotonic() - self._tidied > CLEANUP_SECONDS:
            self._go(self._clean_up())
        return Receipt(platform_id=draft.message)

    async def _settle(self, draft: CardDraft, text: str) -> None:
        try:
            if not draft.closed:
                await self._stream(draft, text)
                await self._close_card(draft, text)
                return
        except FeishuApiError as err:
            if err.code not in STREAM_CLOSED_CODES:
                raise
        await self._replace(draft, markdown_card(text))

    async def _close_card(self, draft: CardDraft, text: str) -> None:
        await self._operate(
            draft, "PATCH", f"/cardkit/v1/cards/{draft.card}/settings", {"settings": end_streaming_settings(text)}
        )

    async def _replace(self, draft: CardDraft, card: dict[str, Any]) -> None:
        await self._operate(draft, "PUT", f"/cardkit/v1/cards/{draft.card}", {"card": dump_card(card)})

    async def _withdraw(self, draft: CardDraft, err: Rejected) -> None:
        """The card cannot become the answer: it goes, and the answer is sent as any other."""
        log.warning("card withdrawn", error=str(err))
        if draft.message:
            await self._try(self._wire.call("DELETE", f"/im/v1/messages/{draft.message}"))
        await self._try(self._keep({PAGE_PREFIX + draft.id: ""}))

    # -- what is remembered -----------------------------------------------------------------------

    async def _recall(self, draft: CardDraft) -> None:
        if self._notebook is not None:
            name = PAGE_PREFIX + draft.id
            draft.recall((await self._notebook.read(name)).get(name, ""))

    async def _note(self, draft: CardDraft) -> None:
        await self._keep(draft.page())

    async def _keep(self, values: Mapping[str, str]) -> None:
        if self._notebook is not None:
            await self._notebook.write(values)

    def _go(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        with without_leaving():
            task = asyncio.create_task(work, name="feishu live")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _try(self, work: Awaitable[Any]) -> None:
        """For what may fail without harm to the answer."""
        try:
            await work
        except (ChannelError, OSError) as err:
            log.info("live card not tidied", error=f"{type(err).__name__}: {err}")


def _ends_draft(message: OutboundMessage) -> bool:
    """Whether this part ends what was being written, rather than standing beside it."""
    first = bool(message.reply_to) and not message.part_no
    return first and message.kind in ("final", "notice") and message.file is None and not message.buttons


def _read_id(reply: dict[str, Any], name: str) -> str:
    value = (reply.get("data") or {}).get(name)
    if not isinstance(value, str) or not value:
        raise Ambiguous(f"an answer without {name}")
    return value


_NO_ADDRESS = Address(channel="feishu", account="", chat_id="")
