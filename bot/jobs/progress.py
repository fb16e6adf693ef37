"""Progress of background tasks: as text for /tasks, and as notices in their chats at growing
intervals.

Where a sent message can be edited, there is one notice for each task, which gets the newer texts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

import structlog

from bot.messages import PartExtras, dump_extras, split_reply
from bot.texts import format_duration
from channels.base import Channel
from channels.phrases import Phrase
from memory.store.automation.background_tasks import TaskKind, TaskRow
from memory.store.errors import StoreError
from memory.store.store import Store

log = structlog.get_logger(__name__)
LOOK_SECONDS = 30.0
# Minutes after its start at which a notice is sent: five at most, however long the task takes.
NOTICE_MINUTES = (2, 4, 8, 16, 32)
LATEST_SECONDS = 110.0  # after such a minute, a notice is still sent; later it is skipped
MAX_LINE_CHARS = 120
KIND_TEXTS: Mapping[TaskKind, Phrase] = {
    "agent": Phrase("sub-agent"),
    "exec": Phrase("command"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """Describes running tasks, and sends notices of them to their chats."""

    store: Store
    #: The running channels by name.
    channels: Mapping[str, Channel]
    #: The language of a conversation, "zh" or "en".
    language: Callable[[str], Awaitable[str]]
    #: Returns the last line that a command of this process has printed, by the id of its task.
    last_line: Callable[[str], str]
    #: The minute of the newest notice, by running task.
    _noticed: dict[str, int] = field(default_factory=dict)

    async def describe(self, row: TaskRow, lang: str) -> str:
        """Describe how long a task has run, and its current step."""
        span = format_duration(self.store.now() - row.at, lang)
        if row.kind == "exec":
            return f"{span} · {line}" if (line := quote_line(self.last_line(row.id))) else span
        steps = await self.store.tasks.steps(row.child)
        called = Phrase("tool calls: {ended}", ended=steps.ended).text(lang)
        return " · ".join(filter(None, (span, called, quote_line(steps.current))))

    async def watch(self) -> None:
        """Send notices of long tasks, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.send_due_notices()
            except StoreError as err:
                log.info("progress notices not sent", error=type(err).__name__)

    async def send_due_notices(self) -> int:
        """Send the notices that are due; return how many.

        A chat whose platform limits the messages per message of the person gets none.
        """
        rows = [row for row in await self.store.tasks.running() if row.detached]
        for gone in self._noticed.keys() - {row.id for row in rows}:
            del self._noticed[gone]
        count = 0
        for row in rows:
            minute = due_minute(self.store.now() - row.at)
            if minute and self._noticed.get(row.id) != minute:
                self._noticed[row.id] = minute
                count += await self._send_notice(row, minute)
        return count

    async def _send_notice(self, row: TaskRow, minute: int) -> bool:
        conversation = await self.store.sessions.conversation(row.conversation)
        channel = self.channels.get(conversation.place.channel) if conversation else None
        if (
            conversation is None
            or channel is None
            or conversation.place.is_hidden
            or _counts_messages(channel)
        ):
            return False
        lang = await self.language(row.conversation)
        kind = KIND_TEXTS[row.kind].text(lang)
        text = f"⏳ {row.name} · {kind} · {await self.describe(row, lang)}"
        notice = split_reply(text, "notice", channel.capabilities)
        if channel.capabilities.edits and (sent := await self._sent_before(row, minute)):
            notice = [
                replace(part, payload=dump_extras(PartExtras(replaces=sent))) for part in notice[:1]
            ]
        await self.store.delivery.notify(row.conversation, _source(row, minute), notice)
        return True

    async def _sent_before(self, row: TaskRow, minute: int) -> str:
        """Return the platform's id of the notice that was sent in an earlier minute; "" for
        none.
        """
        for earlier in reversed([one for one in NOTICE_MINUTES if one < minute]):
            if sent := await self.store.delivery.platform_id(_source(row, earlier)):
                return sent
        return ""


def due_minute(seconds: float) -> int:
    """Return the minute whose notice is due after so many seconds of running; 0 for none. Pure."""
    return next(
        (minute for minute in NOTICE_MINUTES if 0 <= seconds - minute * 60 < LATEST_SECONDS), 0
    )


def quote_line(text: str) -> str:
    """Quote words from outside as one line of code; "" for none. Pure."""
    line = " ".join(text.replace("`", "'").split())
    if not line:
        return ""
    return f"`{line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + '…'}`"


def _source(row: TaskRow, minute: int) -> str:
    return f"progress:{row.id}:{minute}"


def _counts_messages(channel: Channel) -> bool:
    return channel.capabilities.user_writes_first or hasattr(channel, "allowance")
