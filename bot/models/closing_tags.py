"""Remembers between restarts which models end their thinking with a closing tag alone."""

from collections.abc import Callable, Coroutine
from typing import Any

from bot.models.service import ModelService
from memory.store.conversations.inbox import ChannelNotes

NOTES = "closing tags"  # under which the notes are stored, by endpoint and model


class ClosingTags:
    """Stores what the clients learn of it, and gives it to those of the next start.

    Args:
        spawn: runs a write in the background.
    """

    def __init__(
        self,
        notes: ChannelNotes,
        models: ModelService,
        spawn: Callable[[Coroutine[Any, Any, object]], None],
    ) -> None:
        self._notes, self._models, self._spawn = notes, models, spawn
        models.on_closing_tag = self._note

    async def load(self) -> None:
        """Let the configured models hold their text if they are known to need it."""
        known = await self._notes.load(NOTES)
        for endpoint, model in self._models.endpoints():
            if _key(endpoint, model) in known:
                self._models.hold_text(endpoint, model)

    def _note(self, endpoint: str, model: str) -> None:
        self._spawn(self._notes.put(NOTES, {_key(endpoint, model): "alone"}))


def _key(endpoint: str, model: str) -> str:
    return f"{endpoint} {model}"
