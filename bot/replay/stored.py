"""A conversation of this home's own record as a recording: read beside a running bot, nothing is written."""

import asyncio
from dataclasses import replace

from bot.agent.prompt import RULES
from bot.config import Config
from bot.home import Home
from bot.replay.reading import BEGUN
from bot.replay.recording import Recording, Unreadable
from bot.replay.turning import Turning
from bot.tools.registry import default_specs
from memory.store.doors import Store
from memory.store.records import ConversationRow
from memory.workspace import Workspace

PAGE = 500


async def stored(store: Store, row: ConversationRow, home: Home, config: Config, *, newest: bool = False) -> Recording:
    """All turns of a conversation, with the system parts and the tools it has now.

    Args:
        newest: only what came after the newest clear.

    Raises:
        Unreadable: it has no turns.
    """
    turning = Turning(BEGUN)
    seq = row.view_from if newest else 1
    while page := await store.sessions.messages(row.id, from_seq=seq, limit=PAGE):
        for message in page:
            turning.keep(message)
        seq = page[-1].seq + 1
    workspace = Workspace(home.workspace)
    turning.system += await _system(store, row, workspace)
    tools = tuple(spec for spec in default_specs() if spec.name not in config.tools.off)
    recording = turning.recording(row.title or row.place.chat_id, tools, ())
    if not recording.turns:
        raise Unreadable(f"The conversation {row.place.chat_id} has no turns yet.")
    return replace(recording, name=row.place.chat_id)


async def _system(store: Store, row: ConversationRow, workspace: Workspace) -> list[str]:
    """SOUL.md and the rules, and what else its newest request showed."""
    try:
        soul = (await asyncio.to_thread(workspace.space("").read, "SOUL.md")).text.strip()
    except FileNotFoundError:
        soul = ""
    snapshot = await store.sessions.snapshot(row.id)
    parts = [part.text for part in snapshot.parts] if snapshot else []
    return [text for text in (soul, RULES, *parts) if text]
