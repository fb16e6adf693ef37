"""Notices: messages that reply to nothing, sent through the outbox like replies."""

import asyncio
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import structlog

from bot.access.permissions import LOCAL_CHANNELS
from bot.config.schema import Config
from bot.gateway.channel_status import ChannelStatus
from bot.gateway.gateway import Gateway
from bot.messages import is_language_evidence, split_reply, to_address
from bot.models.health import ModelStatus, is_owner_needed, remedy_kind
from bot.telemetry.log import redact
from bot.texts import resolve_language
from channels.base import Channel
from channels.message import LiveEvent
from channels.phrases import AnyPhrase, Phrase, PhraseList, join_phrases, join_sentences
from memory.context.system_prompt import LOG, MEMORY, PromptBudgets
from memory.conversation import SystemPart
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError
from memory.store.rows import ConversationRow, FoldRow
from memory.store.store import Store


def cut_notice(part: SystemPart, budgets: PromptBudgets) -> Phrase:
    """Say which file was cut, its budget, and what did not fit."""
    budget = {MEMORY: budgets.memory, LOG: budgets.log}.get(part.name, budgets.awareness)
    return Phrase(
        "{file} is longer than its {budget:,} tokens in the prompt. Left out, older parts first: "
        "{sections}. The file itself is unchanged.",
        file=part.name,
        budget=budget,
        sections=join_phrases(map(left_out_phrase, part.left_out), Phrase("; ")),
    )


# What a cut leaves out, as `SystemPart.left_out` is stored.
_LEFT_OUT = re.compile(
    r"(?:(?P<sections>\d{1,9}) more sections?: |(?P<title>.*): )?(?P<count>\d{1,9}) "
    r"(?P<unit>paragraph|heading|line)s?"
)
_UNITS = {
    "paragraph": Phrase("1 paragraph", "{count} paragraphs"),
    "heading": Phrase("1 heading", "{count} headings"),
    "line": Phrase("1 line", "{count} lines", context="left out"),
}


def left_out_phrase(stored: str) -> Phrase:
    """Return what was left out of a file, as SystemPart names it, for people."""
    found = _LEFT_OUT.fullmatch(stored)
    if found is None:
        return Phrase("{words}", words=stored)
    amount = _UNITS[found["unit"]].fill(count=int(found["count"]))
    if found["sections"]:
        more = Phrase("1 more section", "{count} more sections", count=int(found["sections"]))
        return Phrase("{where}: {amount}", where=more, amount=amount)
    if found["title"] is None:
        return amount
    where = Phrase("top") if found["title"] == "top" else found["title"]
    return Phrase("{where}: {amount}", where=where, amount=amount)


class ConversationLanguage:
    """Detects the language of a conversation: that of its newest message that is no command."""

    def __init__(self, sessions: Sessions, config: Callable[[], Config]) -> None:
        self._sessions = sessions
        self._config = config

    async def __call__(self, conversation: str) -> str:
        lines = await self._sessions.lines(conversation, limit=60)
        words = [
            line.text for line in lines if line.role == "user" and is_language_evidence(line.text)
        ]
        return resolve_language(words[-1] if words else "", self._config().language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """Sends notices to conversations in their language."""

    store: Store
    #: The running channels by name.
    channels: Mapping[str, Channel]
    language: ConversationLanguage

    async def notify_cut(
        self, conversation: str, part: SystemPart, budgets: PromptBudgets, month: str
    ) -> None:
        """Notify, once a month, of what a file's budget leaves out."""
        row = await self.store.sessions.conversation(conversation)
        await self.notify(
            conversation,
            cut_notice(part, budgets),
            once=f"cut:{row.place.space if row else ''}:{month}",
        )

    async def notify(self, conversation: str, phrase: AnyPhrase, once: str = "") -> None:
        """Send a notice in the conversation's language; nothing if the conversation or its channel
        is gone.

        Args:
            once: a key of this notice: a second one with the same key is dropped. "" for a notice
                that may repeat.
        """
        row = await self.store.sessions.conversation(conversation)
        channel = self.channels.get(row.place.channel) if row else None
        if channel is None:
            return
        text = phrase.text(await self.language(conversation))
        notice = split_reply(text, "notice", channel.capabilities)
        await self.store.delivery.notify(conversation, once or f"told:{uuid.uuid4().hex}", notice)


COMMAND_FOLD_REASON = "/context fold"


def format_finished_fold(row: FoldRow) -> Phrase:
    """Describe a finished fold in one line."""
    is_single = row.from_turn == row.to_turn
    if is_single:
        phrase = Phrase("Folded turn {turns} into {file}: {before} → {after} tokens ({percent}%).")
    else:
        phrase = Phrase("Folded turns {turns} into {file}: {before} → {after} tokens ({percent}%).")
    return phrase.fill(
        turns=row.from_turn if is_single else f"{row.from_turn}–{row.to_turn}",
        file=row.log_ref,
        before=f"{row.tokens_before:,}",
        after=f"{row.tokens_after:,}",
        percent=round(100 * row.tokens_after / row.tokens_before) if row.tokens_before else 0,
    )


# Sends a notice: conversation, notice, key. See `Notifier.notify`.
NotifyConversation = Callable[[str, AnyPhrase, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldNotifications:
    """Reports folds: live events always, notices in the chat if `notify_folds` is on."""

    store: Store
    gateway: Gateway
    config: Callable[[], Config]
    notify: NotifyConversation

    async def moved(self, row: FoldRow, state: str) -> None:
        """Report a fold that entered `state`."""
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
        self.gateway.show(
            LiveEvent(address=to_address(conversation.place), name="fold", facts=facts)
        )
        silent = row.log_only or row.reason == COMMAND_FOLD_REASON  # the command replies itself
        if self.config().notify_folds and not silent and state in ("planned", "folded"):
            await self.notify(row.conversation, _fold_notice(row, state), f"fold:{row.id}:{state}")


def _fold_notice(row: FoldRow, state: str) -> Phrase:
    if state == "folded":
        return format_finished_fold(row)
    turns = row.to_turn - row.from_turn + 1
    return Phrase(
        "Folding the oldest turn: {before} tokens now…",
        "Folding the oldest {count} turns: {before} tokens now…",
        count=turns,
        before=f"{row.tokens_before:,}",
    )


# Channels and models that need the owner: each problem is reported once, and once that it is over.

log = structlog.get_logger(__name__)
POLL_SECONDS = 5.0
# A problem is over once the channel has worked for this long: an alternating one is reported once.
CHANNEL_CALM_SECONDS = 120.0
MAX_CONVERSATIONS, ALL_CONVERSATIONS = 1_000, 1_000_000
MAX_REMEMBERED = 1_000  # keys of notices that are not to be repeated

OwnerNeed = Literal["login", "token", "contended"]
# Notifies the owner through a channel other than the one it is about: that channel, the notice.
NotifyOwner = Callable[[str, AnyPhrase], Awaitable[object]]
# The same with a key: what was sent under it is not sent again.
NotifyOwnerOnce = Callable[[str, AnyPhrase, str], Awaitable[object]]

CHANNEL_TEXTS: Mapping[OwnerNeed, Phrase] = {
    "login": Phrase(
        "Channel {name} needs a login: scan the code under Channels on the page, or run mnema "
        "channels login {name}."
    ),
    "token": Phrase(
        "Channel {name} is logged out ({why}). Update the credentials under channels.{name}. "
        "Until then it cannot receive or send messages."
    ),
    "contended": Phrase(
        "Another program is receiving with the account of channel {name} ({why}). This one is on "
        "standby and does not compete; stop one of the two."
    ),
}
CHANNEL_RECOVERED = Phrase("Channel {name} works again.")


async def _look_forever(look: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(POLL_SECONDS)
        try:
            await look()
        except StoreError as err:
            log.warning("owner not notified", error=type(err).__name__)


@dataclass(slots=True)
class ChannelNotifications:
    """Watches the status of all channels."""

    states: Callable[[], Mapping[str, ChannelStatus]]
    notify_owner: NotifyOwner
    _notified: dict[str, OwnerNeed] = field(default_factory=dict)

    async def watch(self) -> None:
        """Look until cancelled."""
        await _look_forever(lambda: self.look(time.time()))

    async def look(self, now: float) -> None:
        """Report changes since the last look. now: unix seconds.

        Raises:
            StoreError: a notice could not be stored; the next look reports it.
        """
        states = self.states()
        for name in set(self._notified) - set(states):
            del self._notified[name]
        for name, state in states.items():
            need = owner_need(state)
            if need is not None and self._notified.get(name) != need:
                await self._say(state, CHANNEL_TEXTS[need])
                self._notified[name] = need
            elif (
                name in self._notified
                and state.phase == "up"
                and now - state.since >= CHANNEL_CALM_SECONDS
            ):
                await self._say(state, CHANNEL_RECOVERED)
                del self._notified[name]

    async def _say(self, state: ChannelStatus, phrase: Phrase) -> None:
        notice = phrase.fill(name=state.name, why=state.why)
        log.warning(str(notice))
        await self.notify_owner(state.name, notice)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerNotifier:
    """Notifies the owner in the conversation where they will see it soonest; returns False if there
    is none.
    """

    sessions: Sessions
    states: Callable[[], Mapping[str, ChannelStatus]]
    notify: NotifyConversation
    #: Values of `once` that were notified: a limit that is reached is reported after each turn.
    _notified: set[str] = field(default_factory=set)

    async def __call__(self, troubled: str, phrase: AnyPhrase, once: str = "") -> bool:
        if once in self._notified:
            return True
        working = [
            name for name, state in self.states().items() if state.ready and name != troubled
        ]
        # many others may have written since the owner did
        for limit in (MAX_CONVERSATIONS, ALL_CONVERSATIONS):
            rows = await self.sessions.conversations(limit=limit)
            if conversation := find_owner_conversation(rows, working):
                await self.notify(conversation, phrase, once)
                if once:
                    self._remember(once)
                return True
            if len(rows) < limit:
                break
        return False

    def _remember(self, once: str) -> None:
        if len(self._notified) >= MAX_REMEMBERED:
            self._notified.clear()  # the store still knows
        self._notified.add(once)


def owner_need(state: ChannelStatus) -> OwnerNeed | None:
    """Return what a channel needs from its owner; None if nothing: most errors pass without
    help.
    """
    if state.phase in ("asking", "logged_out"):
        return "login" if state.has_login else "token"
    return "contended" if state.phase == "contended" else None


def find_owner_conversation(rows: Sequence[ConversationRow], working: Sequence[str]) -> str:
    """Return the owner's newest private conversation on a working channel; "" if there is none.

    One on a platform comes first: it notifies the owner's phone, the page and the terminal do not.

    Args:
        rows: conversations, the newest first.
        working: channels that work.
    """
    private = [
        row
        for row in rows
        if not row.place.space
        and not row.own_space
        and row.place.kind != "group"
        and row.place.channel in working
    ]
    remote = [row for row in private if row.place.channel not in LOCAL_CHANNELS]
    return next((row.id for row in remote or private), "")


# a model is back once it has worked for this long: an alternating one is reported once
MODEL_CALM_SECONDS = 60.0
MODEL_TEXTS = {
    "key": Phrase(
        "Model {name} cannot be used: its key is invalid, unpaid or not authorised ({why}). Check "
        "the key and the account."
    ),
    "name": Phrase(
        "There is no model {name} ({why}). Check the model's name under llm in the settings."
    ),
    "quota": Phrase(
        "Model {name} has reached its spending or plan limit ({why}). Check the account."
    ),
    "wait": Phrase("Model {name} does not answer ({why})."),
}
NO_TOOLS_TEXT = Phrase(
    "The server of model {name} does not accept tools ({why}). Answers come without them: no "
    "search, no reminders, no files. Choose a model that supports tools, or enable them on the "
    "server, then press “Try now” under Health on the page."
)
# What happens to messages meanwhile.
FALLBACK_TEXT = Phrase("Until then {spare} answers; this one is tried again from time to time.")
ALONE_TEXT = Phrase("The next message tries again.")
MODEL_RECOVERED = Phrase("Model {name} answers again.")


@dataclass(slots=True)
class ModelNotifications:
    """Watches the status of all models."""

    states: Callable[[], Sequence[ModelStatus]]
    notify_owner: NotifyOwner
    #: Tells what a model's server refuses, once for all processes; None to tell it nobody.
    notify_once: NotifyOwnerOnce | None = None
    _notified: set[str] = field(default_factory=set)

    async def watch(self) -> None:
        """Look until cancelled."""
        await _look_forever(self.look)

    async def look(self) -> None:
        """Report changes since the last look.

        Raises:
            StoreError: a notice could not be stored; the next look reports it.
        """
        states = self.states()
        self._notified &= {state.name for state in states}
        for state in states:
            if state.name not in self._notified and is_owner_needed(state):
                await self._say(_format_model_failure(state, states))
                self._notified.add(state.name)
            elif (
                state.name in self._notified
                and state.phase == "up"
                and state.seconds >= MODEL_CALM_SECONDS
            ):
                await self._say(MODEL_RECOVERED.fill(name=state.name))
                self._notified.discard(state.name)
            if state.tools_refused and self.notify_once is not None:
                notice = NO_TOOLS_TEXT.fill(name=state.name, why=state.tools_refused)
                await self.notify_once("", notice, f"tools refused: {state.name}")

    async def _say(self, notice: AnyPhrase) -> None:
        log.warning(str(notice))
        await self.notify_owner("", notice)


def _format_model_failure(state: ModelStatus, states: Sequence[ModelStatus]) -> PhraseList:
    """Say what failed, what happens next, and which model answers until then."""
    why = redact(state.why)[:200]
    failure = MODEL_TEXTS[remedy_kind(state.error)].fill(name=state.name, why=why)
    spare = next((other.name for other in states if other.use == "spare" and other.ready), "")
    if spare and state.use == "chosen":
        return join_sentences([failure, FALLBACK_TEXT.fill(spare=spare)])
    return join_sentences([failure, ALONE_TEXT])
