"""Audit rows for reading other people's private chats from the command line."""

import asyncio
from collections.abc import Sequence

from bot.config.home import HomeFolder
from bot.console.transcripts import READ_OTHER_ACTION, conversation_owner
from bot.errors import MnemaError
from bot.runtime.store_access import note_beside
from memory.store.audit import Act
from memory.store.errors import StoreError
from memory.store.rows import ConversationRow

COMMAND_LINE_ACTOR = "command line"


class NotNoted(MnemaError):
    """The audit row could not be stored, so the chat must not be read."""


def note_reading(home: HomeFolder, rows: Sequence[ConversationRow], result: str) -> None:
    """Store one audit row for each conversation of another person, before anything of it is read.

    Args:
        result: what is done with it, such as "shown".

    Raises:
        NotNoted: a row could not be stored.
    """
    acts = [
        Act(action=READ_OTHER_ACTION, subject=row.id, result=result, actor=COMMAND_LINE_ACTOR)
        for row in rows
        if conversation_owner(row) == "other"
    ]
    if not acts:
        return
    try:
        asyncio.run(note_beside(home, acts))
    except (StoreError, OSError) as err:
        raise NotNoted(
            f"This is another person's chat, and the audit list could not be written ({err}), so nothing is shown."
        ) from err
