"""Reading another person's private chat in the console: allowed to the owner only, and written to the audit list."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from channels.web.backend import Allow, ConversationOwner
from channels.web.requests import HttpRefusal
from memory.store.errors import StoreError
from memory.store.rows import ConversationRow

READ_OTHER_ACTION = "chat.read.other"
CONSOLE_ACTOR = "console"
SESSION_SECONDS = 300.0
MAX_SESSIONS = 1_000

# Adds an act to the audit's chain: action, subject, result, actor.
RecordReading = Callable[[str, str, str, str], Awaitable[None]]


def conversation_owner(row: ConversationRow) -> ConversationOwner:
    """Whose conversation it is.

    A group is nobody's private chat. An account that is linked to the owner's shares their memory and is not the owner.
    """
    if row.place.kind == "group":
        return "group"
    return "other" if row.own_space else "own"


class ReadingAudit:
    """One audit row for each reading of another person's private chat.

    A reading begins when a person presses "open", or with the first call that reads, and lasts until that reader has
    read nothing of the chat for `SESSION_SECONDS`; an open event stream reads every 15 s. So a page with its calls and
    its stream is one row, and a script that polls is one row. The row is stored before anything is read; where it
    cannot be, nothing is.
    """

    def __init__(self, note: RecordReading, allow: Allow, clock: Callable[[], float] = time.monotonic) -> None:
        self._note = note
        self._allow = allow
        self._clock = clock
        self._sessions: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._lock = asyncio.Lock()

    async def check(self, row: ConversationRow, reader: str, *, pressed: bool = False) -> None:
        """Called before anything of this conversation is read. pressed: a person has asked for it: a new reading.

        Raises:
            HttpRefusal: 403 when it may not be read here, 503 when the audit row could not be stored.
        """
        if conversation_owner(row) != "other":
            return
        if not self._allow(READ_OTHER_ACTION):
            raise HttpRefusal(403, "denied", "not allowed")
        async with self._lock:
            read = self._sessions.get((reader, row.id))
            if pressed or read is None or self._clock() - read > SESSION_SECONDS:
                await self._store(row.id, "opened" if pressed else "read")
            self._sessions[reader, row.id] = self._clock()
            self._sessions.move_to_end((reader, row.id))
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)  # safe: should it be read again, that is one more audit row

    async def _store(self, conversation: str, result: str) -> None:
        try:
            await self._note(READ_OTHER_ACTION, conversation, result, CONSOLE_ACTOR)
        except StoreError as err:
            why = "the audit list could not be written, so the chat stays closed; try again"
            raise HttpRefusal(503, "storage", why, {"retry-after": "2"}) from err
