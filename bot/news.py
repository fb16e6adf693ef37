"""What the owner is told of channels that need them: each trouble once, and once that it is over."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import structlog

from bot.vitals import State
from memory.store.doors import Sessions
from memory.store.errors import StoreError
from memory.store.records import ConversationRow

log = structlog.get_logger(__name__)
LOOK_EVERY = 5.0
CALM_SECONDS = 120.0
"""A trouble is over once the channel has worked for so long: two that take turns are told of once."""
HERE = ("terminal", "web")
"""Where the owner has to look by themselves; elsewhere the telephone rings."""

MOST_CONVERSATIONS, EVERY = 1_000, 1_000_000

Need = Literal["login", "token", "contended"]
TellOwner = Callable[[str, str, str], Awaitable[None]]
"""Tells the owner something, not through the channel that it is about: (that channel, in Chinese, in English)."""

TEXTS: Mapping[Need, tuple[str, str]] = {
    "login": (
        "渠道 {name} 需要登录：在网页的“渠道”里扫码，或在终端运行 mnema channels login {name}。",
        "Channel {name} needs its login: scan the code under Channels in the page, or run mnema channels login {name}.",
    ),
    "token": (
        "渠道 {name} 的凭据失效了（{why}）。请更新 channels.{name} 里的设置；在那之前它收发不了消息。",
        "Channel {name} is logged out ({why}). Set its credentials in channels.{name} anew; until then it neither "
        "hears nor speaks.",
    ),
    "contended": (
        "另一个程序正在用渠道 {name} 的账号接收消息（{why}）。这里在旁等候，不会争抢；请停掉其中一个。",
        "Another program receives with the account of channel {name} ({why}). This one stands by and does not fight "
        "for it; stop one of the two.",
    ),
}
OVER = ("渠道 {name} 恢复正常了。", "Channel {name} works again.")


@dataclass(slots=True)
class ChannelNews:
    """Looks at the states of all channels again and again."""

    states: Callable[[], Mapping[str, State]]
    tell_owner: TellOwner
    _told: dict[str, Need] = field(default_factory=dict)

    async def watch(self) -> None:
        """Look for ever."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await self.look(time.time())
            except StoreError as err:
                log.warning("owner not told", error=type(err).__name__)

    async def look(self, now: float) -> None:
        """Tell what is new. now: unix seconds.

        Raises:
            StoreError: it could not be told; the next look tells it.
        """
        states = self.states()
        for name in set(self._told) - set(states):
            del self._told[name]
        for name, state in states.items():
            need = need_of(state)
            if need is not None and self._told.get(name) != need:
                await self._say(state, TEXTS[need])
                self._told[name] = need
            elif name in self._told and state.mood == "up" and now - state.since >= CALM_SECONDS:
                await self._say(state, OVER)
                del self._told[name]

    async def _say(self, state: State, texts: tuple[str, str]) -> None:
        zh, en = (text.format(name=state.name, why=state.why) for text in texts)
        log.warning(en)
        await self.tell_owner(state.name, zh, en)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersChat:
    """Tells the owner in the conversation where they will see it soonest; nobody where there is none.

    once: a name for this very notice, "" where it may be told again.
    """

    sessions: Sessions
    states: Callable[[], Mapping[str, State]]
    tell: Callable[[str, str, str, str], Awaitable[None]]

    async def __call__(self, troubled: str, zh: str, en: str, once: str = "") -> None:
        well = [name for name, state in self.states().items() if state.ready and name != troubled]
        for most in (MOST_CONVERSATIONS, EVERY):  # many others may have written since the owner did
            rows = await self.sessions.conversations(limit=most)
            if chat := owners_chat(rows, well):
                await self.tell(chat, zh, en, once)
            if chat or len(rows) < most:
                break


def need_of(state: State) -> Need | None:
    """What this channel needs of its owner, None for nothing: most troubles pass by themselves."""
    if state.mood in ("asking", "logged_out"):
        return "login" if state.asks else "token"
    return "contended" if state.mood == "contended" else None


def owners_chat(rows: Sequence[ConversationRow], well: Sequence[str]) -> str:
    """The id of the conversation to tell the owner in, "" for none: their own, private, on a channel that works.

    Args:
        rows: conversations, the newest first. well: the channels that work.
    """
    fit = [
        row
        for row in rows
        if not row.place.space and not row.own_space and row.place.kind != "group" and row.place.channel in well
    ]
    away = [row for row in fit if row.place.channel not in HERE]
    return next((row.id for row in away or fit), "")
