"""Tells a conversation something that answers no message of it, through the outbox like everything else."""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.agent.prompt import cut_notice
from bot.commands.names import shows_language
from bot.config import Config
from bot.gateway import Gateway
from bot.reply import outgoing
from bot.texts import language
from memory.context.system import Budgets, SystemPart
from memory.store.doors import Sessions, Store


class Spoken:
    """The language of a conversation: that of its newest message that is no command."""

    def __init__(self, sessions: Sessions, config: Callable[[], Config]) -> None:
        self._sessions = sessions
        self._config = config

    async def __call__(self, conversation: str) -> str:
        lines = await self._sessions.lines(conversation, limit=60)
        words = [line.text for line in lines if line.role == "user" and shows_language(line.text)]
        return language(words[-1] if words else "", self._config().language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Teller:
    """language: of a conversation."""

    store: Store
    gateway: Gateway
    language: Callable[[str], Awaitable[str]]

    async def tell_cut(self, conversation: str, part: SystemPart, budgets: Budgets, month: str) -> None:
        """Once a month: what of MEMORY.md its budget leaves out."""
        row = await self.store.sessions.conversation(conversation)
        zh, en = (cut_notice(part, budgets, lang) for lang in ("zh", "en"))
        await self.tell(conversation, zh, en, once=f"cut:{row.place.space if row else ''}:{month}")

    async def tell(self, conversation: str, zh: str, en: str, once: str = "") -> None:
        """Say it in the language that is spoken there; nothing where the conversation or its channel is gone.

        Args:
            once: a name for this very notice: told with it a second time, nobody sees it again.
        """
        row = await self.store.sessions.conversation(conversation)
        channel = self.gateway.channels.get(row.place.channel) if row else None
        if channel is None:
            return
        text = zh if await self.language(conversation) == "zh" else en
        notice = outgoing(text, "notice", channel.capabilities)
        await self.store.delivery.notify(conversation, once or f"told:{uuid.uuid4().hex}", notice)
