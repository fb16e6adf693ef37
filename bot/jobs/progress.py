"""How work beside conversations gets on: /tasks shows it, and its chat is told at growing intervals."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from bot.messages import split_reply
from bot.texts import format_duration
from channels.base import Channel
from memory.store.errors import StoreError
from memory.store.people.background_tasks import TaskKind, TaskRow
from memory.store.store import Store

log = structlog.get_logger(__name__)
LOOK_SECONDS = 30.0
# Minutes after its start at which a task is told of: five notices at most, however long it takes.
NOTICE_MINUTES = (2, 4, 8, 16, 32)
LATEST_SECONDS = 110.0  # after such a minute; what was missed is not made up for
MAX_LINE_CHARS = 120
KIND_TEXTS: Mapping[TaskKind, tuple[str, str]] = {"agent": ("子代理", "sub-agent"), "exec": ("命令", "command")}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """Describes running tasks, and tells their chats of them."""

    store: Store
    #: The running channels by name.
    channels: Mapping[str, Channel]
    #: The language of a conversation, "zh" or "en".
    language: Callable[[str], Awaitable[str]]
    #: Returns the last line that a command of this process has printed, by the id of its task.
    last_line: Callable[[str], str]
    #: The newest minute that each running task was told of.
    _told: dict[str, int] = field(default_factory=dict)

    async def describe(self, row: TaskRow, lang: str) -> str:
        """Say for how long a task has run, and what it is at."""
        span = format_duration(self.store.now() - row.at, lang)
        if row.kind == "exec":
            return f"{span} · {line}" if (line := quote_line(self.last_line(row.id))) else span
        steps = await self.store.tasks.steps(row.child)
        called = f"{steps.ended} 次工具调用" if lang == "zh" else f"tool calls: {steps.ended}"
        return " · ".join(filter(None, (span, called, quote_line(steps.current))))

    async def watch(self) -> None:
        """Tell of what takes long, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.tell_due()
            except StoreError as err:
                log.info("progress not told", error=type(err).__name__)

    async def tell_due(self) -> int:
        """Tell each chat of its tasks that have run for so many minutes now; return how many notices that were.

        A chat that is told only so many messages for each one that the person writes is left alone.
        """
        rows = [row for row in await self.store.tasks.running() if row.detached]
        for gone in self._told.keys() - {row.id for row in rows}:
            del self._told[gone]
        count = 0
        for row in rows:
            minute = due_minute(self.store.now() - row.at)
            if minute and self._told.get(row.id) != minute:
                self._told[row.id] = minute
                count += await self._tell(row, minute)
        return count

    async def _tell(self, row: TaskRow, minute: int) -> bool:
        conversation = await self.store.sessions.conversation(row.conversation)
        channel = self.channels.get(conversation.place.channel) if conversation else None
        if conversation is None or channel is None or conversation.place.is_hidden or _counts_messages(channel):
            return False
        lang = await self.language(row.conversation)
        kind = KIND_TEXTS[row.kind][lang != "zh"]
        notice = split_reply(
            f"⏳ {row.name} · {kind} · {await self.describe(row, lang)}", "notice", channel.capabilities
        )
        await self.store.delivery.notify(row.conversation, f"progress:{row.id}:{minute}", notice)
        return True


def due_minute(seconds: float) -> int:
    """Return the minute that a task is told of which has run for so long; 0 for none. Pure."""
    return next((minute for minute in NOTICE_MINUTES if 0 <= seconds - minute * 60 < LATEST_SECONDS), 0)


def quote_line(text: str) -> str:
    """Quote words from outside as one line of code; "" for none. Pure."""
    line = " ".join(text.replace("`", "'").split())
    if not line:
        return ""
    return f"`{line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + '…'}`"


def _counts_messages(channel: Channel) -> bool:
    return channel.capabilities.user_writes_first or hasattr(channel, "allowance")
