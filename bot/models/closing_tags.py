"""Remembers between restarts which models end their thinking with a closing tag alone."""

from collections.abc import Callable, Coroutine
from typing import Any

from bot.models.service import ModelService
from memory.store.conversations.sessions import Sessions


class ClosingTags:
    """Stores what the clients learn of it, and tells it to those of the next start.

    Args:
        spawn: runs a write in the background.
    """

    def __init__(
        self, sessions: Sessions, models: ModelService, spawn: Callable[[Coroutine[Any, Any, object]], None]
    ) -> None:
        self._sessions, self._models, self._spawn = sessions, models, spawn
        models.on_closing_tag = self._note

    async def load(self) -> None:
        """Let the configured models hold their text if they are known to need it."""
        for endpoint, model in self._models.endpoints():
            _, known, _ = await self._sessions.factor(_row(endpoint, model))
            if known:
                self._models.hold_text(endpoint, model)

    def _note(self, endpoint: str, model: str) -> None:
        self._spawn(self._sessions.set_factors({_row(endpoint, model): (1.0, 1, 0.0)}))


def _row(endpoint: str, model: str) -> str:
    """Return the key among what is learnt of models, as "MODEL window" is one."""
    return f"{model} closing tag {endpoint}"
