"""Answers that people see while they are written: a draft in private chats, one message that grows in groups."""

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
from channels.telegram.messages import draft_parameters, edit_parameters, opening_parameters, preview_text
from channels.toolkit.bounded import BoundedDict

log = structlog.get_logger(__name__)

DRAFT_PAUSE = 1.0
EDIT_PAUSE = 3.0  # seconds between two looks of an answer in one chat; a group takes twenty messages a minute
DRAFT_FADES_SECONDS = 20.0  # a draft is gone after thirty seconds
MAX_IDLE = 180.0  # an answer that nothing was heard of for so long is not shown any more
CALL_SECONDS = 10.0
CLOSING_SECONDS = 2.0
NOTE_TTL_SECONDS = 86_400  # how long it is remembered which message an answer stands in
NOTE_PREFIX = "live:"
MAX_FINISHED = 1_000

CallApi = Callable[[str, dict[str, Any]], Awaitable[Any]]


@dataclass(slots=True)
class _LiveReply:
    """One answer in the making."""

    id: str
    address: Address
    #: Platform key of the question, "" unknown.
    asked: str
    text: str = ""
    shown: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    #: Held during a call.
    calling: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: asyncio.Task[None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _LiveMessage:
    """The message of ours in which an answer stands."""

    chat: str
    message: int
    since: int
    #: Client key of the part that it has become.
    taken: str = ""


class LiveReplies:
    """All answers in the making of one bot; best effort, while `take` and `end` are exact.

    speak: calls a method. pauses: seconds between two looks in a private chat, and in a group.
    """

    def __init__(self, speak: CallApi, pauses: tuple[float, float] = (DRAFT_PAUSE, EDIT_PAUSE)) -> None:
        self._speak = speak
        self._pauses = pauses
        self._open: dict[str, _LiveReply] = {}
        self._over: BoundedDict[str, None] = BoundedDict(MAX_FINISHED)
        self._free: dict[str, float] = {}
        self._standing: dict[str, _LiveMessage] | None = None
        self._reading = asyncio.Lock()
        self._drafts = True
        self.notebook: Notebook | None = None

    def add(self, event: LiveEvent, asked: str) -> None:
        """One more piece of an answer. asked: the platform key of the message answered, "" where it is not known."""
        answer = self._open.get(event.message_id)
        if answer is None:
            if not event.text.strip() or event.message_id in self._over or not self._shows(event.address):
                return
            answer = self._open[event.message_id] = _LiveReply(event.message_id, event.address, asked)
            answer.task = asyncio.create_task(self._go_on(answer), name="live answer")
        answer.text = event.text if event.facts.get("whole") else answer.text + event.text
        answer.changed.set()

    def pause(self, id: str) -> None:
        """A step of the answer has ended: what follows begins a paragraph of its own."""
        answer = self._open.get(id)
        if answer is not None and answer.text.strip():
            answer.text = f"{answer.text.rstrip()}\n\n"

    async def end(self, id: str) -> None:
        """No further look at this answer; returns when none is on its way."""
        self._note_over(id)
        answer = self._open.pop(id, None)
        if answer is not None and answer.task is not None:
            async with answer.calling:
                answer.task.cancel()

    async def take(self, part: OutboundMessage) -> int:
        """The id of the message that this part is to become, 0 for none; noted before it is used.

        Raises:
            Retryable: the notebook cannot be read or written now.
        """
        try:
            standing = (await self._notes()).get(part.reply_to)
            if standing is None or standing.chat != part.address.chat_id or standing.taken not in ("", part.client_key):
                return 0
            await self._note(part.reply_to, replace(standing, taken=part.client_key))
        except (OSError, RuntimeError) as err:
            raise Retryable(f"the notebook does not answer: {type(err).__name__}") from err
        return standing.message

    async def close(self) -> None:
        """Show nothing more; what is on its way is given a moment, so that it is known what it led to."""
        tasks = [answer.task for answer in self._open.values() if answer.task is not None]
        if tasks:
            await asyncio.wait(
                [asyncio.ensure_future(self.end(id)) for id in list(self._open)], timeout=CLOSING_SECONDS
            )
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _shows(self, address: Address) -> bool:
        return self._drafts or address.chat_id.startswith("-")

    async def _go_on(self, answer: _LiveReply) -> None:
        group = answer.address.chat_id.startswith("-")
        try:
            if group:  # a short answer comes whole before anything is shown of it
                await asyncio.sleep(self._pauses[1])
            while await self._moved(answer, MAX_IDLE if group else DRAFT_FADES_SECONDS):
                await self._wait_for_slot(answer.address.chat_id, self._pauses[group])
                answer.changed.clear()
                await self._show(answer, group)
        except MethodMissing:
            self._drafts = False
        except (ChannelError, TimeoutError, OSError, RuntimeError, KeyError, TypeError, ValueError) as err:
            log.info("live answer not shown", error=type(err).__name__)
        finally:
            if self._open.get(answer.id) is answer:
                self._note_over(answer.id)
                del self._open[answer.id]

    def _note_over(self, id: str) -> None:
        """Nothing of this answer is shown any more, however late it comes."""
        self._over[id] = None

    async def _moved(self, answer: _LiveReply, longest: float) -> bool:
        """Wait for something new; a draft is shown again before it fades, while the answer is being written."""
        since = time.monotonic()
        while time.monotonic() - since < MAX_IDLE:
            try:
                async with asyncio.timeout(longest):
                    await answer.changed.wait()
                return True
            except TimeoutError:
                if longest < MAX_IDLE:
                    await self._show(answer, False)
        return False

    async def _wait_for_slot(self, chat: str, pause: float) -> None:
        """Answers in one chat (in its topics, say) share its pace."""
        now = time.monotonic()
        self._free = {name: free for name, free in self._free.items() if free > now}
        due = self._free.get(chat, now)
        self._free[chat] = due + pause
        await asyncio.sleep(due - now)

    async def _show(self, answer: _LiveReply, group: bool) -> None:
        text = preview_text(answer.text, answer.address)
        if not text.strip() or (group and text == answer.shown):
            return
        async with answer.calling:
            try:
                async with asyncio.timeout(CALL_SECONDS if answer.shown or not group else None):
                    await (self._grow(answer, text) if group else self._draft(answer, text))
            except MethodMissing:
                raise
            except Retryable as err:  # too many: this look is left out
                self._free[answer.address.chat_id] = time.monotonic() + (err.retry_after or self._pauses[group])
                return
            except Ambiguous:  # a draft and an edit may be repeated, a message may not
                if group and not answer.shown:
                    raise
                return
        answer.shown = text

    async def _draft(self, answer: _LiveReply, text: str) -> None:
        await self._speak("send_message_draft", draft_parameters(answer.address, text, answer.id))

    async def _grow(self, answer: _LiveReply, text: str) -> None:
        standing = (await self._notes()).get(answer.id)
        if standing is not None:
            if standing.taken:
                return
            try:
                await self._speak("edit_message_text", edit_parameters(answer.address, standing.message, text))
            except MessageUnchanged:
                return
        elif answer.asked:  # else it could not be shown as an answer, and the final text will be
            sent = await self._speak("send_message", opening_parameters(answer.address, text, answer.asked))
            chat, message = answer.address.chat_id, int(sent["message_id"])
            await self._note(answer.id, _LiveMessage(chat=chat, message=message, since=int(time.time())))

    async def _notes(self) -> dict[str, _LiveMessage]:
        async with self._reading:
            if self._standing is None:
                kept = await self.notebook.read(NOTE_PREFIX) if self.notebook else {}
                self._standing = {name.removeprefix(NOTE_PREFIX): _read_note(value) for name, value in kept.items()}
        return self._standing

    async def _note(self, id: str, standing: _LiveMessage) -> None:
        notes = await self._notes()
        notes[id] = standing
        old = [name for name, one in notes.items() if one.since < time.time() - NOTE_TTL_SECONDS]
        for name in old:
            del notes[name]
        if self.notebook:
            value = f"{standing.chat} {standing.message} {standing.since} {standing.taken}"
            await self.notebook.write({NOTE_PREFIX + id: value} | {NOTE_PREFIX + name: "" for name in old})


def _read_note(value: str) -> _LiveMessage:
    chat, message, since, taken = value.split(" ", 3)
    return _LiveMessage(chat=chat, message=int(message), since=int(since), taken=taken)
