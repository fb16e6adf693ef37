"""What people are told of folds: live events always, notices in the chat where that is wanted."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.commands.context import ASKED_FOR, folded_text
from bot.config import Config
from bot.gateway import Gateway
from bot.reply import address_of, outgoing
from bot.texts import say
from channels.message import LiveEvent
from memory.store.doors import Store
from memory.store.records import FoldRow


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldNews:
    """Tells of folds as they move. language: of a conversation; wake_out: when there is something to send."""

    store: Store
    gateway: Gateway
    config: Callable[[], Config]
    language: Callable[[str], Awaitable[str]]
    wake_out: Callable[[str], None]

    async def tell(self, row: FoldRow, state: str) -> None:
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
            await self._notice(row, state, conversation.place.channel)

    async def _notice(self, row: FoldRow, state: str, name: str) -> None:
        lang = await self.language(row.conversation)
        turns = row.to_turn - row.from_turn + 1
        before = f"{row.tokens_before:,}"
        begun = "fold_started_one" if turns == 1 else "fold_started"
        text = folded_text(row, lang) if state == "folded" else say(lang, begun, turns=turns, before=before)
        channel = self.gateway.channels.get(name)
        if channel is not None:
            notice = outgoing(text, "notice", channel.capabilities)
            await self.store.delivery.notify(row.conversation, f"fold:{row.id}:{state}", notice)
            self.wake_out(row.conversation)
