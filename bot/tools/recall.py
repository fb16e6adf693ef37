"""The tool that shows earlier messages of a conversation as they were stored."""

import re
from collections.abc import Sequence
from datetime import tzinfo

from pydantic import Field

from bot.errors import ToolFailed
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext
from memory.context.reductions import Handle, conversation_tag, parse_handle
from memory.context.taint import OUTSIDE_LABEL, is_tainted, judge_parts, outcome_tool
from memory.conversation import Document, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from memory.store.automation.background_tasks import TaskRecords
from memory.store.conversations.sessions import Sessions

PAGE_CHARS = 8_000
_TASK_HANDLE = re.compile(r"w([0-9]{1,9})")
MAX_MESSAGES = 200  # of one turn; no turn within the step limit has more


class RecallArguments(ToolArguments):
    """Arguments of `recall`: a handle or a turn."""

    handle: str = Field("", description='As it stands there, such as "41.0"')
    turn: int = Field(0, ge=1)
    page: int = Field(1, ge=1)


class RecallTool:
    """Shows originals by handle or turn: of this conversation, or of the one of this space that a
    handle names.

    Cleared messages, and conversations of other spaces, do not exist for it.
    """

    arguments = RecallArguments
    spec = LazyToolSpec(
        arguments,
        name="recall",
        description=(
            "Show in full what is shortened or summarised: a message by its handle, or a turn of "
            "this chat by its number."
        ),
        effect="pure",
        action="memory.read",
        outside=False,
    )

    def __init__(self, sessions: Sessions, tasks: TaskRecords) -> None:
        self._sessions = sessions
        self._tasks = tasks

    async def run(self, arguments: RecallArguments, context: ToolContext) -> str:
        if bool(arguments.handle) == bool(arguments.turn):
            raise ToolFailed("Give either a handle or a turn.")
        if arguments.turn:
            text, tainted = await self._show_turn(context, context.conversation, arguments.turn)
        else:
            text, tainted = await self._show_handle(context, arguments.handle)
        page = paginate_text(text, arguments.page)
        return f"{page}\n{OUTSIDE_LABEL}" if tainted else page

    async def _show_handle(self, context: ToolContext, text: str) -> tuple[str, bool]:
        """Return the text, and whether it is tainted."""
        if found := _TASK_HANDLE.fullmatch(text.strip()):
            return await self._show_task(context, int(found[1]), text)
        handle = _parse(text)
        conversation = await _named_conversation(self._sessions, context, handle, text)
        if handle.turn:
            return await self._show_turn(context, conversation, handle.turn)
        message, parts = await _find_part(self._sessions, conversation, handle, text)
        around = await self._sessions.messages(conversation, max(1, message.seq - 1), message.seq)
        tainted = any(
            found
            for other, part, found in judge_parts(around)
            if other.id == message.id and other.parts[part] in parts
        )
        return format_message(message, parts, context.now().tzinfo), tainted

    async def _show_task(self, context: ToolContext, number: int, text: str) -> tuple[str, bool]:
        """Return all that a sub-agent of this conversation saw and wrote."""
        task = await self._tasks.find(context.space, number)
        row = await self._sessions.conversation(task.child) if task and task.child else None
        if task is None or row is None or task.conversation != context.conversation:
            raise _nothing_at(text)
        messages = await self._sessions.messages(row.id, 1, row.next_seq, MAX_MESSAGES)
        zone = context.now().tzinfo
        shown = "\n\n".join(
            filter(None, (format_message(message, message.parts, zone) for message in messages))
        )
        return shown, task.tainted or is_tainted(messages)

    async def _show_turn(
        self, context: ToolContext, conversation: str, turn: int
    ) -> tuple[str, bool]:
        zone = context.now().tzinfo
        first = await self._first_of(conversation, turn)
        after = await self._first_of(conversation, turn + 1)
        messages = (
            await self._sessions.messages(conversation, first, after - 1, MAX_MESSAGES)
            if after > first
            else []
        )
        if not messages:
            raise ToolFailed(f"There is no turn {turn}.")
        text = "\n\n".join(
            filter(None, (format_message(message, message.parts, zone) for message in messages))
        )
        return text, is_tainted(messages)

    async def _first_of(self, conversation: str, turn: int) -> int:
        """Return the lowest seq of this turn or a later one; binary search, since turns rise with
        seq.
        """
        low, high = await _epoch_bounds(self._sessions, conversation)
        while low < high:
            middle = (low + high) // 2
            at = await self._sessions.messages(conversation, middle, middle, 1)
            if at and at[0].turn < turn:
                low = middle + 1
            else:
                high = middle
        return low


async def find_original(sessions: Sessions, context: ToolContext, text: str) -> Part:
    """Return the stored part that a handle names; without a part number, the first one.

    Raises:
        ToolFailed: there is none, or the person cleared it.
    """
    handle = _parse(text)
    conversation = await _named_conversation(sessions, context, handle, text)
    _, parts = await _find_part(sessions, conversation, handle, text)
    return parts[0]


def _parse(text: str) -> Handle:
    handle = parse_handle(text)
    if handle is None:
        raise ToolFailed(f'{text!r} is no handle; they look like "41.0".')
    return handle


async def _named_conversation(
    sessions: Sessions, context: ToolContext, handle: Handle, text: str
) -> str:
    """Return the id of the conversation that a handle is of: the running one, or another one of the
    same space.
    """
    if not handle.tag or handle.tag == conversation_tag(context.conversation):
        return context.conversation
    found = await sessions.tagged(context.space, handle.tag)
    if len(found) != 1:
        raise _nothing_at(text)
    return found[0]


async def _find_part(
    sessions: Sessions, conversation: str, handle: Handle, text: str
) -> tuple[Message, tuple[Part, ...]]:
    first, _ = await _epoch_bounds(sessions, conversation)
    messages = (
        await sessions.messages(conversation, handle.seq, handle.seq) if handle.seq >= first else []
    )
    if not messages or (handle.part is not None and handle.part >= len(messages[0].parts)):
        raise _nothing_at(text)
    message = messages[0]
    return message, message.parts if handle.part is None else message.parts[
        handle.part : handle.part + 1
    ]


def _nothing_at(text: str) -> ToolFailed:
    return ToolFailed(f"There is nothing at {text}.")


async def _epoch_bounds(sessions: Sessions, conversation: str) -> tuple[int, int]:
    row = await sessions.conversation(conversation)
    return (max(1, row.cleared_before), row.next_seq) if row else (1, 1)


def format_message(message: Message, parts: tuple[Part, ...], zone: tzinfo | None) -> str:
    """Format a message's parts below a header with role, or tool, and local time; "" when no part
    has text.
    """
    words = "\n".join(filter(None, map(_part_text, parts)))
    whose = outcome_tool(message) or message.role
    head = (
        f"[turn {message.turn}, message {message.seq}, {whose}, "
        f"{message.at.astimezone(zone):%Y-%m-%d %H:%M}]"
    )
    return f"{head}\n{words}" if words else ""


def paginate_text(text: str, page: int) -> str:
    """Return one page of a long text; the last line names the next page."""
    return _select_page(
        [text[at : at + PAGE_CHARS] for at in range(0, len(text), PAGE_CHARS)] or [""], page
    )


def paginate_lines(lines: Sequence[str], page: int) -> str:
    """Return one page of whole lines; the last line names the next page."""
    pages = [lines[0]]
    for line in lines[1:]:
        if len(pages[-1]) + 1 + len(line) <= PAGE_CHARS:
            pages[-1] += f"\n{line}"
        else:
            pages.append(line)
    return _select_page(pages, page)


def _select_page(pages: Sequence[str], page: int) -> str:
    if page > len(pages):
        raise ToolFailed(f"There are {len(pages)} pages.")
    following = f"; next: page={page + 1}" if page < len(pages) else ""
    return (
        pages[page - 1]
        if len(pages) == 1
        else f"{pages[page - 1]}\n[page {page} of {len(pages)}{following}]"
    )


def _part_text(part: Part) -> str:
    match part:
        case Text():
            return part.shown
        case ToolResult(text=text):
            return text
        case Image(media_type=kind, width=width, height=height):
            return f"[picture, {kind}, {width}x{height}]"
        case Document(name=name, size=size, text=text):
            return f"[file {name}, {size} bytes]\n{text}"
        case ToolCall(name=name, input=arguments):
            return f"[called {name} with {arguments}]"
        case Thinking():
            return ""
