"""Live replies: a draft in private chats, and in groups one message that is edited until it is
complete.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from channels.base import Notebook
from channels.errors import Ambiguous, ChannelError, Retryable
from channels.message import Address, LiveEvent, OutboundMessage
from channels.telegram.client import MessageUnchanged, MethodMissing
from channels.telegram.messages import (
    draft_parameters,
    edit_parameters,
    opening_parameters,
    preview_text,
)
from channels.toolkit.delivery import BoundedDict, EmptyNotebook

log = structlog.get_logger(__name__)

DRAFT_PAUSE = 1.0
EDIT_PAUSE = 3.0  # seconds between two updates in a chat; a group accepts twenty messages a minute
DRAFT_REFRESH_SECONDS = 20.0  # Telegram removes a draft after thirty seconds
MAX_IDLE = 180.0  # seconds without news after which a reply is not shown any more
CALL_SECONDS = 10.0
CLOSING_SECONDS = 2.0
NOTE_TTL_SECONDS = 86_400  # how long the notebook holds the message of a reply
NOTE_PREFIX = "live:"
MAX_FINISHED = 1_000

CallApi = Callable[[str, dict[str, Any]], Awaitable[Any]]


@dataclass(slots=True)
class _LiveReply:
    """A reply while it is written."""

    id: str
    address: Address
    #: Platform key of the message replied to, "" if unknown.
    question: str
    text: str = ""
    shown: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    #: Held during a call.
    calling: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: asyncio.Task[None] | None = None

    @property
    def in_group(self) -> bool:
        return self.address.chat_id.startswith("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class _LiveMessage:
    """The message of a group that shows a reply."""

    chat: str
    message: int
    since: int
    #: Client key of the part that it became.
    claimed_by: str = ""


class LiveReplies:
    """Shows the replies of one bot while they are written: best effort, but `end` and
    `claim_message` are exact.
    """

    def __init__(
        self, call: CallApi, pauses: tuple[float, float] = (DRAFT_PAUSE, EDIT_PAUSE)
    ) -> None:
        """Args: pauses: seconds between two updates in a private chat, and in a group."""
        self._call = call
        self._pauses = pauses
        self._open: dict[str, _LiveReply] = {}
        self._finished: BoundedDict[str, None] = BoundedDict(MAX_FINISHED)
        #: When a chat may be updated next, in monotonic seconds.
        self._next_update: dict[str, float] = {}
        self._messages: dict[str, _LiveMessage] | None = None
        self._reading = asyncio.Lock()
        self._has_drafts = True
        self.notebook: Notebook = EmptyNotebook()

    def add(self, event: LiveEvent, question: str) -> None:
        """Add a piece of a reply. question: the platform key of the message replied to, "" if
        unknown.
        """
        reply = self._open.get(event.message_id)
        if reply is None:
            reply = _LiveReply(event.message_id, event.address, question)
            if (
                not event.text.strip()
                or reply.id in self._finished
                or not (self._has_drafts or reply.in_group)
            ):
                return
            self._open[reply.id] = reply
            reply.task = asyncio.create_task(self._show_until_idle(reply), name="live answer")
        reply.text = event.text if event.facts.get("whole") else reply.text + event.text
        reply.changed.set()

    def begin_paragraph(self, id: str) -> None:
        """Let the text after a step of the turn begin a new paragraph."""
        reply = self._open.get(id)
        if reply is not None and reply.text.strip():
            reply.text = f"{reply.text.rstrip()}\n\n"

    async def end(self, id: str) -> None:
        """Show nothing more of a reply; returns when no update is in progress."""
        self._finished[id] = None
        reply = self._open.pop(id, None)
        if reply is not None and reply.task is not None:
            async with reply.calling:
                reply.task.cancel()

    async def claim_message(self, part: OutboundMessage) -> int:
        """Return the id of the message that this part replaces, 0 for none; the claim is noted
        first.

        Raises:
            Retryable: the notebook cannot be read or written.
        """
        try:
            live = (await self._load_messages()).get(part.reply_to)
            if (
                live is None
                or live.chat != part.address.chat_id
                or live.claimed_by not in ("", part.client_key)
            ):
                return 0
            await self._note(part.reply_to, replace(live, claimed_by=part.client_key))
        except (OSError, RuntimeError) as err:
            raise Retryable(f"the notebook does not answer: {type(err).__name__}") from err
        return live.message

    async def close(self) -> None:
        """Show nothing more; calls in progress get a moment to finish, so that their outcome is
        known.
        """
        tasks = [reply.task for reply in self._open.values() if reply.task is not None]
        if tasks:
            await asyncio.wait(
                [asyncio.ensure_future(self.end(id)) for id in list(self._open)],
                timeout=CLOSING_SECONDS,
            )
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _show_until_idle(self, reply: _LiveReply) -> None:
        try:
            if reply.in_group:  # a short reply is sent whole before any of it is shown
                await asyncio.sleep(self._pauses[1])
            while await self._wait_for_news(reply):
                await self._wait_for_slot(reply.address.chat_id, self._pauses[reply.in_group])
                reply.changed.clear()
                await self._show(reply)
        except MethodMissing:
            self._has_drafts = False
        except (
            ChannelError,
            TimeoutError,
            OSError,
            RuntimeError,
            KeyError,
            TypeError,
            ValueError,
        ) as err:
            log.info("live answer not shown", error=type(err).__name__)
        finally:
            if self._open.get(reply.id) is reply:
                self._finished[reply.id] = None
                del self._open[reply.id]

    async def _wait_for_news(self, reply: _LiveReply) -> bool:
        """Wait for new text and keep a draft from fading meanwhile; False after too long a
        silence.
        """
        since = time.monotonic()
        while time.monotonic() - since < MAX_IDLE:
            try:
                async with asyncio.timeout(MAX_IDLE if reply.in_group else DRAFT_REFRESH_SECONDS):
                    await reply.changed.wait()
                return True
            except TimeoutError:
                if not reply.in_group:
                    await self._show(reply)
        return False

    async def _wait_for_slot(self, chat: str, pause: float) -> None:
        """Wait for the chat's next update; replies in different topics of it share its rate
        limit.
        """
        now = time.monotonic()
        self._next_update = {name: at for name, at in self._next_update.items() if at > now}
        at = self._next_update.get(chat, now)
        self._next_update[chat] = at + pause
        await asyncio.sleep(at - now)

    async def _show(self, reply: _LiveReply) -> None:
        text = preview_text(reply.text, reply.address)
        if not text.strip() or (reply.in_group and text == reply.shown):
            return
        async with reply.calling:
            try:
                async with asyncio.timeout(
                    CALL_SECONDS if reply.shown or not reply.in_group else None
                ):
                    if reply.in_group:
                        await self._grow(reply, text)
                    else:
                        await self._call(
                            "send_message_draft", draft_parameters(reply.address, text, reply.id)
                        )
            except MethodMissing:
                raise
            except Retryable as err:  # rate limited: skip this update
                pause = err.retry_after or self._pauses[reply.in_group]
                self._next_update[reply.address.chat_id] = time.monotonic() + pause
                return
            except Ambiguous:  # a draft and an edit may be repeated, a message may not
                if reply.in_group and not reply.shown:
                    raise
                return
        reply.shown = text

    async def _grow(self, reply: _LiveReply, text: str) -> None:
        """Edit the reply's message in a group, or send its first one."""
        live = (await self._load_messages()).get(reply.id)
        if live is not None:
            if live.claimed_by:
                return
            try:
                await self._call(
                    "edit_message_text", edit_parameters(reply.address, live.message, text)
                )
            except MessageUnchanged:
                return
        elif reply.question:  # without it the message could not be a reply; the final text will be
            sent = await self._call(
                "send_message", opening_parameters(reply.address, text, reply.question)
            )
            chat, message = reply.address.chat_id, int(sent["message_id"])
            await self._note(
                reply.id, _LiveMessage(chat=chat, message=message, since=int(time.time()))
            )

    async def _load_messages(self) -> dict[str, _LiveMessage]:
        async with self._reading:
            if self._messages is None:
                notes = await self.notebook.read(NOTE_PREFIX)
                self._messages = {
                    name.removeprefix(NOTE_PREFIX): message
                    for name, note in notes.items()
                    if (message := _parse_note(note)) is not None
                }
        return self._messages

    async def _note(self, id: str, live: _LiveMessage) -> None:
        messages = await self._load_messages()
        messages[id] = live
        expired = [
            name for name, one in messages.items() if one.since < time.time() - NOTE_TTL_SECONDS
        ]
        for name in expired:
            del messages[name]
        note = f"{live.chat} {live.message} {live.since} {live.claimed_by}"
        await self.notebook.write(
            {NOTE_PREFIX + id: note} | {NOTE_PREFIX + name: "" for name in expired}
        )


def _parse_note(note: str) -> _LiveMessage | None:
    """Parse a note; None if it is malformed, since no reply may fail because of it."""
    try:
        chat, message, since, claimed_by = note.split(" ", 3)
        return _LiveMessage(
            chat=chat, message=int(message), since=int(since), claimed_by=claimed_by
        )
    except ValueError:
        return None
