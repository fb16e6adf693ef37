"""Transcripts for the page, read from the store; reading another person's private chat is
audited.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from starlette.requests import Request

from bot.access.budgets import money_for_usage
from bot.console.page_messages import PageMessages, conversation_owner
from channels.message import Address, InboundMessage
from channels.phrases import Phrase
from channels.web.backend import (
    ANY_CONVERSATION,
    Allow,
    ConversationChanges,
    ConversationEntry,
    ConversationFilter,
    ConversationPage,
    EntryRole,
    LineState,
    TranscriptLine,
    web_address,
)
from channels.web.requests import NAME, HttpRefusal
from memory.store.console.conversation_list import ListFilter, ListState, choice_tag
from memory.store.console.line_details import LineDetails, LineFile
from memory.store.conversations.titles import shown_title
from memory.store.conversations.transcript import TranscriptRow as Row
from memory.store.errors import StoreError
from memory.store.rows import ConversationRow
from memory.store.schema.tables import MAX_INTEGER
from memory.store.store import Store

WEB_PLACE = ("web", "console")
TERMINAL_PLACE = ("terminal", "local")
TERMINAL_PREFIX = "terminal:"
PICTURE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
READ_OTHER_ACTION, READ_MEMORY_ACTION = "chat.read.other", "memory.read.other"
CONSOLE_ACTOR = "console"
SESSION_SECONDS = 300.0
# By the state of the inbox or outbox row, or how an answer was left.
LINE_STATES: dict[str, LineState] = {
    "new": "queued",
    "aside": "queued",
    "running": "at_work",
    "dead": "given_up",
    "pending": "sending",
    "sending": "sending",
    "failed": "unsent",
    "unknown": "unknown",
    "stopped": "stopped",
    "cut": "cut",
}
MAX_SESSIONS = 1_000

# Adds an act to the audit chain: action, subject, result, actor.
RecordReading = Callable[[str, str, str, str], Awaitable[None]]


class ReadingAudit:
    """Stores one audit row for each reading of another person's private chat or memory; only the
    owner may read it.

    A reading begins when a person presses "open", or with the first call that reads, and lasts
    until that reader has read nothing of the chat for `SESSION_SECONDS`; an open event stream reads
    every 15 s. So a page with its calls and its stream is one row, and a script that polls is one
    row. The row is stored before anything is read; if it cannot be stored, nothing is read.
    """

    def __init__(
        self, note: RecordReading, allow: Allow, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._note = note
        self._allow = allow
        self._clock = clock
        self._sessions: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._lock = asyncio.Lock()

    async def check(self, row: ConversationRow, reader: str, *, pressed: bool = False) -> None:
        """Check and record that this conversation is read. pressed: a person asked for it, which is
        a new reading.

        Raises:
            HttpRefusal: 403 when it may not be read here, 503 when the audit row could not be
                stored.
        """
        if conversation_owner(row) == "other":
            await self.record(READ_OTHER_ACTION, row.id, reader, pressed=pressed)

    def allows(self, action: str) -> bool:
        """Tell whether an action is allowed here."""
        return self._allow(action)

    async def record(
        self, action: str, subject: str, reader: str, *, pressed: bool = False
    ) -> None:
        """Check and record the reading of something that is another person's.

        Raises:
            HttpRefusal: 403 when it may not be read here, 503 when the audit row could not be
                stored.
        """
        if not self._allow(action):
            raise HttpRefusal(403, "denied", Phrase("not allowed"))
        session = (reader, action, subject)
        async with self._lock:
            read = self._sessions.get(session)
            if pressed or read is None or self._clock() - read > SESSION_SECONDS:
                await self._store(action, subject, "opened" if pressed else "read")
            self._sessions[session] = self._clock()
            self._sessions.move_to_end(session)
            if len(self._sessions) > MAX_SESSIONS:
                # safe: should it be read again, that is one more audit row
                self._sessions.popitem(last=False)

    async def _store(self, action: str, subject: str, result: str) -> None:
        try:
            await self._note(action, subject, result, CONSOLE_ACTOR)
        except StoreError as err:
            why = Phrase("the audit log could not be written, so this stays closed; try again")
            raise HttpRefusal(503, "storage", why, {"retry-after": "2"}) from err


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceReading:
    """Whose memory a request means: the owner's, or another's, which is read only and noted in the
    audit list.
    """

    store: Store
    #: Every space, those of linked accounts too.
    spaces: Callable[[], Awaitable[Sequence[str]]]
    audit: ReadingAudit

    async def readable(self, space: str, request: Request, *, pressed: bool = False) -> str:
        """Return the space that is to be read, and record that it is read if it is not the owner's.

        Raises:
            HttpRefusal: as ReadingAudit; 404 for an unknown space.
        """
        if not space:
            return ""
        if not self.audit.allows(READ_MEMORY_ACTION):
            raise HttpRefusal(403, "denied", Phrase("not allowed"))
        if space not in await self.spaces() or await self.store.links.linked_space(space) != space:
            raise HttpRefusal(404, "not_found", Phrase("there is no such memory"))
        await self.audit.record(
            READ_MEMORY_ACTION, space, request.state.visitor.id, pressed=pressed
        )
        return space

    def writable(self, request: Request) -> str:
        """Return the space that a request may change: only the owner's own.

        Raises:
            HttpRefusal: 403 for another's.
        """
        if request.query_params.get("space", ""):
            raise HttpRefusal(403, "denied", Phrase("only that person can change their memory"))
        return ""

    async def others(self) -> dict[str, list[str]]:
        """Return the spaces of other people and of groups, each with those of its accounts: itself,
        and linked ones.
        """
        linked = await self.store.links.linked_spaces()
        members = {name: [name] for name in await self.spaces() if name and name not in linked}
        for own_space, space in linked.items():
            if space in members:
                members[space].append(own_space)
        return members


def conversation_place(name: str) -> Address:
    """Return the address of the conversation that paths name so; the terminal's begin with
    "terminal:".
    """
    if name.startswith(TERMINAL_PREFIX):
        return Address(
            channel=TERMINAL_PLACE[0],
            account=TERMINAL_PLACE[1],
            chat_id=name.removeprefix(TERMINAL_PREFIX),
        )
    return web_address(name)


class TranscriptBackend:
    """The web channel's backend.

    Paths name the page's and the terminal's conversations, others by their row's id.
    """

    def __init__(
        self,
        store: Store,
        stop: Callable[[str], Awaitable[object]],
        allow: Allow,
        page_messages: PageMessages,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._page_messages = page_messages
        self._sessions = store.sessions
        self._stop = stop
        self._reading = ReadingAudit(store.note, allow, clock)

    async def find(self, name: str) -> ConversationRow | None:
        """Return the conversation that paths name so."""
        where = conversation_place(name)
        found = await self._sessions.find(where.channel, where.account, where.chat_id)
        return found or await self._sessions.conversation(name)

    async def address(self, message: InboundMessage) -> InboundMessage:
        name = message.address.chat_id
        row = await self.find(name)
        if row is None:
            return replace(message, address=conversation_place(name))
        return await self._page_messages.address(row, message)

    async def exists(self, conversation: str) -> bool:
        return await self.find(conversation) is not None

    async def readable(self, name: str, reader: str) -> ConversationRow | None:
        """Return the conversation that paths name so, and record that it is read.

        Raises:
            HttpRefusal: it may not be read, or that could not be written to the audit list.
        """
        row = await self.find(name)
        if row is not None:
            await self._reading.check(row, reader)
        return row

    async def conversation(self, conversation: str) -> ConversationEntry | None:
        row = await self.find(conversation)
        return (await self._entries([row]))[0] if row else None

    async def begin_reading(self, conversation: str, reader: str, *, pressed: bool = False) -> None:
        if row := await self.find(conversation):
            await self._reading.check(row, reader, pressed=pressed)

    async def lines(
        self,
        conversation: str,
        *,
        reader: str = "",
        before: int = 0,
        after: int | None = None,
        limit: int = 50,
        details: bool = False,
    ) -> list[TranscriptLine]:
        row = await self.readable(conversation, reader)
        if row is None:
            return []
        # the store takes 0 for "not given"; lines are numbered from 1
        above = -1 if after == 0 else after or 0
        rows = await self._sessions.lines(row.id, before=before, limit=limit, after=above)
        beside: Mapping[str, Any] = await self._details(row.id, rows) if details and rows else {}
        is_group = row.place.kind == "group"
        return [_to_line(found, beside.get(found.id, {}), is_group=is_group) for found in rows]

    async def number(self, conversation: str, id: str, *, reader: str = "") -> int:
        row = await self.readable(conversation, reader)
        return await self._store.line_details.number(row.id, id) if row else 0

    async def search(
        self, conversation: str, words: str, *, reader: str = "", before: int = 0, limit: int = 50
    ) -> list[TranscriptLine]:
        row = await self.readable(conversation, reader)
        if row is None:
            return []
        return [
            _to_line(found)
            for found in await self._store.line_details.search(
                row.id, words, before or MAX_INTEGER, limit
            )
        ]

    async def conversations(
        self, cursor: str = "", limit: int = 200, wanted: ConversationFilter = ANY_CONVERSATION
    ) -> ConversationPage:
        lists = self._store.conversations
        if wanted.by_pin:
            state = cast(ListState, wanted.state)
            asked = ListFilter(
                words=wanted.words, channel=wanted.channel, person=wanted.person, state=state
            )
            rows, following = await lists.pinned_page(cursor, limit, asked)
        else:
            rows, following = await lists.page(cursor, limit, own=wanted.own, words=wanted.words)
        return ConversationPage(conversations=await self._entries(rows), next=following)

    async def _details(self, conversation: str, rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
        """Load what stands beside these lines, as JSON by their ids."""
        numbers = [row.number for row in rows]
        found = await self._store.line_details.details(conversation, min(numbers), max(numbers))
        ids = {place.conversation for one in found.values() for place in one.recalled}
        ids |= {one.branched_from for one in found.values()}
        ids -= {""}
        named = {id: row for id in ids if (row := await self._sessions.conversation(id))}
        return {id: _details_to_json(one, named) for id, one in found.items()}

    async def _entries(self, rows: Sequence[ConversationRow]) -> list[ConversationEntry]:
        """Return the entries of the list; other people's with the names they were let in by."""
        names: Mapping[tuple[str, str], str] = {}
        if any(conversation_owner(row) == "other" for row in rows):
            grants = await self._store.access.load_all_grants()
            names = {(grant.party.channel, grant.party.id): grant.name for grant in grants}
        return [self._to_listed(row, names) for row in rows]

    def _to_listed(
        self, row: ConversationRow, names: Mapping[tuple[str, str], str]
    ) -> ConversationEntry:
        """Return an entry with what stands beside it. names: of people, by channel and id."""
        entry, place = to_entry(row), row.place
        refusal = self._page_messages.refusal(row)
        if entry.whose != "other":
            return replace(entry, no_reply=refusal)
        person = names.get((place.channel, place.chat_id), "") or row.chat_name
        return replace(entry, person=person, no_reply=refusal)

    async def changed(self, since: float, limit: int) -> ConversationChanges | None:
        at = self._store.now()
        try:
            rows = await self._store.conversations.changed(since, limit)
            entries = await self._entries(rows)
            deletions = await self._store.audit.deletions(since)
        except StoreError:
            return None  # the next poll covers this one
        return ConversationChanges(at=at, conversations=entries, deletions=deletions)

    async def context_stamp(self, conversation: str) -> str:
        try:
            row = await self.find(conversation)
        except StoreError:
            return ""  # the next poll covers this one
        return f"{row.epoch} {row.fold_head} {row.policy}" if row else ""

    async def stop(self, conversation: str) -> None:
        row = await self.find(conversation)
        if row is not None:
            await self._stop(row.id)


_NOTHING_BESIDE: Mapping[str, Any] = {}


def _to_line(
    row: Row, details: Mapping[str, Any] = _NOTHING_BESIDE, *, is_group: bool = False
) -> TranscriptLine:
    fields = {
        name: getattr(row, name)
        for name in ("id", "number", "text", "at", "reply_to", "tool", "call_end", "written_on")
    }
    state = LINE_STATES.get(row.state, "")
    return TranscriptLine(
        role=cast(EntryRole, row.role),
        state=state,
        speaker=row.speaker if is_group else "",
        details=details,
        **fields,
    )


def file_to_json(file: LineFile) -> dict[str, Any]:
    """Convert a file beside a line to JSON."""
    return {
        "id": file.sha256,
        "name": file.name,
        "media_type": file.media_type,
        "size": file.size,
        "picture": bool(file.sha256) and file.media_type in PICTURE_TYPES,
    }


def _details_to_json(
    details: LineDetails, conversations: Mapping[str, ConversationRow]
) -> dict[str, Any]:
    """Convert to JSON what is there. conversations: those that were recalled from, by id."""
    recalled = []
    for place in details.recalled:
        row = conversations.get(place.conversation)
        if place.path or row:
            named = (
                {"conversation": conversation_name(row), "title": to_entry(row).title}
                if row
                else {}
            )
            where = {"path": place.path, "line": place.line, "last": place.last, "turn": place.turn}
            recalled.append({**where, "conversation": "", "title": "", **named})
    spent = [
        {
            "model": used.model,
            "input": used.input,
            "output": used.output,
            "cached": used.cache_read,
            "cost": money_for_usage(used),
        }
        for used in details.usage
    ]
    files = [file_to_json(file) for file in details.files]
    found = {
        "files": files,
        "turn": details.turn,
        "approval": {"id": details.approval, "state": details.approval_state}
        if details.approval
        else None,
        "origin": _origin_to_json(details, conversations),
        "steps": details.steps,
        "recalled": recalled,
        "usage": spent,
    }
    return {name: value for name, value in found.items() if value}


def _origin_to_json(
    details: LineDetails, conversations: Mapping[str, ConversationRow]
) -> dict[str, Any] | None:
    """Convert what a branch was made from to JSON; None for no branch, or once that was deleted."""
    row = conversations.get(details.branched_from)
    if row is None:
        return None
    title = to_entry(row).title
    return {"conversation": conversation_name(row), "title": title, "turn": details.branched_turn}


def conversation_name(row: ConversationRow) -> str:
    """Return the conversation's name in paths."""
    home = (row.place.channel, row.place.account)
    name = {WEB_PLACE: "", TERMINAL_PLACE: TERMINAL_PREFIX}.get(home, "?") + row.place.chat_id
    return name if NAME.fullmatch(name) else row.id


def to_entry(row: ConversationRow) -> ConversationEntry:
    """Return an entry of the list.

    Another person's title, their first words, is not shown: that would be a reading.
    """
    owner = conversation_owner(row)
    return ConversationEntry(
        id=conversation_name(row),
        title=row.own_title or (row.place.chat_id if owner == "other" else shown_title(row)),
        channel=row.place.channel,
        updated=row.updated,
        turns=row.turns,
        whose=owner,
        chat_id="" if owner == "own" else row.place.chat_id,
        is_named=bool(row.own_title),
        pinned=bool(row.pinned),
        archived=bool(row.archived),
        unread=max(0, row.next_line - 1 - row.seen_line),
        is_deleting=bool(row.deleting),
        etag=choice_tag(row),
    )
