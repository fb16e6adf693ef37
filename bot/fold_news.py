"""What people are told of folds: live events always, notices in the chat where that is wanted."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.commands.context import ASKED_FOR, folded_text
from bot.config import Config
from bot.gateway import Gateway
from bot.reply import address_of
from bot.texts import say
from channels.message import LiveEvent
from memory.store.doors import Store
from memory.store.records import FoldRow

Tell = Callable[[str, str, str, str], Awaitable[None]]
"""Tells a conversation something, once: (its id, in Chinese, in English, the notice's own name)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldNews:
    """Tells of folds as they move."""

    store: Store
    gateway: Gateway
    config: Callable[[], Config]
    tell: Tell

    async def moved(self, row: FoldRow, state: str) -> None:
        """state: as `Folder.notify` names it."""
        conversation = await self.store.sessions.conversation(row.conversation)
        if conversation is None:
            return
        facts: dict[str, str | int | float | bool] = {
            "id": row.id,
            "state": state,
            "from_turn": row.from_turn,
            "to_turn": row.to_turn,
            "tokens_before": row.tokens_before,
            "tokens_after": row.tokens_after,
        }
        self.gateway.show(LiveEvent(address=address_of(conversation.place), name="fold", facts=facts))
        told = row.log_only or row.reason == ASKED_FOR  # the command answers for itself
        if self.config().notify_folds and not told and state in ("planned", "folded"):
            zh, en = (_notice(row, state, lang) for lang in ("zh", "en"))
            await self.tell(row.conversation, zh, en, f"fold:{row.id}:{state}")


def _notice(row: FoldRow, state: str, lang: str) -> str:
    if state == "folded":
        return folded_text(row, lang)
    turns = row.to_turn - row.from_turn + 1
    begun = "fold_started_one" if turns == 1 else "fold_started"
    return say(lang, begun, turns=turns, before=f"{row.tokens_before:,}")
