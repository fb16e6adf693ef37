"""The world behind the Telegram emulator: people, chats, what waits for the bot, and what people see."""

import asyncio
import random
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from aiogram import types

from tests.emulators.telegram_html import units

State = Literal["open", "blocked", "deactivated", "kicked", "not_member", "deleted", "read_only", "not_started"]
UPDATE_LIFE = 24 * 3600.0
DEFAULT_KINDS = frozenset({"message", "edited_message", "channel_post", "callback_query", "my_chat_member"})
_MENTION = re.compile(r"(?<!\w)@\w{3,}")
_COMMAND = re.compile(r"(?:^|(?<=\s))/\w+(?:@\w+)?")


@dataclass(slots=True, kw_only=True)
class Chat:
    """One chat. state: what stands between the bot and it; migrated_to: its id as a supergroup, 0 for none."""

    id: int
    type: str = "private"
    title: str = ""
    state: State = "open"
    migrated_to: int = 0
    is_forum: bool = False
    topics: set[int] = field(default_factory=set)
    messages: dict[int, dict[str, Any]] = field(default_factory=dict)
    next_id: int = 1

    def shown(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"id": self.id, "type": self.type}
        if self.type == "private":
            return fields | {"first_name": self.title or "Somebody"}
        return fields | {"title": self.title or "Lab"} | ({"is_forum": True} if self.is_forum else {})


@dataclass(slots=True, kw_only=True)
class Seen:
    """One message as people see it now. thread 0: no topic; reply_to 0: answers nothing."""

    chat: int
    message_id: int
    text: str
    entities: list[dict[str, Any]]
    thread: int = 0
    reply_to: int = 0
    edits: int = 0


class World:
    """State only; the server and the bot's methods work on it."""

    def __init__(self, *, bot_id: int, username: str, privacy: bool, seed: int) -> None:
        self.me = types.User(
            id=bot_id,
            is_bot=True,
            first_name="Lab bot",
            username=username,
            can_join_groups=True,
            can_read_all_group_messages=not privacy,
            supports_inline_queries=False,
        )
        self.privacy = privacy
        self.random = random.Random(seed)
        self.chats: dict[int, Chat] = {}
        self.pending: list[dict[str, Any]] = []
        self.born: dict[int, float] = {}
        self.issued: dict[int, dict[str, Any]] = {}
        self.confirmed: list[int] = []
        self.next_update = 700_100
        self.kinds: frozenset[str] = DEFAULT_KINDS
        self.visible: list[Seen] = []
        self.drafts: list[dict[str, Any]] = []
        self.shown_actions: list[dict[str, Any]] = []
        self.floods: dict[str, tuple[float, bool]] = {}
        self.skew = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        return time.time() + self.skew

    def advance(self, seconds: float) -> None:
        """Let the clock jump."""
        self.skew += seconds
        self.stir()

    def stir(self) -> None:
        """Something changed: wake whoever waits."""
        self._moved.set()
        self._moved = asyncio.Event()

    async def change(self, seconds: float) -> None:
        """Until something changes, or so long."""
        moved = self._moved
        try:
            async with asyncio.timeout(seconds):
                await moved.wait()
        except TimeoutError:
            return

    # -- people and chats -------------------------------------------------------------------------

    def chat(self, id: int, **changes: Any) -> Chat:
        """The chat, made on first use (a negative id: a supergroup), with fields set as named."""
        chat = self.chats.get(id)
        if chat is None:
            chat = self.chats[id] = Chat(id=id, type="private" if id > 0 else "supergroup")
        for name, value in changes.items():
            setattr(chat, name, set(value) if name == "topics" else value)
        return chat

    def inject(
        self, text: str = "", *, user: int = 5005, chat: int = 0, thread: int = 0, reply_to: int = 0, **fields: Any
    ) -> dict[str, int]:
        """A person writes; chat 0: to the bot in private.

        fields: put over the message's own; with message_id and edit_date it is an edit.

        Returns:
            update_id (0: the bot is not shown it) and message_id.
        """
        place = self.chat(chat or user)
        message: dict[str, Any] = {
            "message_id": place.next_id,
            "date": int(self.now()),
            "chat": place.shown(),
            "from": {"id": user, "is_bot": False, "first_name": "Ада", "language_code": "ru"},
        }
        if text:
            message["text"] = text
            if found := entities_of(text):
                message["entities"] = found
        if thread:
            message |= {"message_thread_id": thread, "is_topic_message": True}
        if reply_to:
            message["reply_to_message"] = place.messages[reply_to]
        message |= fields
        place.next_id = max(place.next_id, message["message_id"] + 1)
        place.messages[message["message_id"]] = {k: v for k, v in message.items() if k != "reply_to_message"}
        kind = "edited_message" if "edit_date" in message else "message"
        heard = kind in self.kinds and (place.type == "private" or not self.privacy or self._concerns_bot(message))
        return {"update_id": self._queue({kind: message}) if heard else 0, "message_id": message["message_id"]}

    def repeat(self, update_id: int, fresh: bool = False) -> int:
        """The same update once more, even if it was confirmed; fresh: under a new id, as after a quiet week."""
        update = self.issued[update_id]
        if fresh:
            return self._queue({key: value for key, value in update.items() if key != "update_id"})
        self.pending.append(update)
        self.stir()
        return update_id

    def shuffle(self) -> None:
        """What waits comes in another order."""
        self.random.shuffle(self.pending)

    def restart_ids(self) -> None:
        """The next update's id is chosen anew."""
        self.next_update = self.random.randrange(1, 2**31)

    def flood(self, seconds: float, chat: int = 0, parameters: bool = True) -> None:
        """From now on, for so long by the clock, sends are refused; chat 0: to all chats."""
        self.floods[str(chat or "")] = (self.now() + seconds, parameters)

    def _queue(self, update: dict[str, Any]) -> int:
        number, self.next_update = self.next_update, self.next_update + 1
        whole = types.Update.model_validate({"update_id": number, **update})
        dumped = whole.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.pending.append(dumped)
        self.issued[number], self.born[number] = dumped, self.now()
        self.stir()
        return number

    def _concerns_bot(self, message: dict[str, Any]) -> bool:
        mine = f"@{self.me.username}".lower()
        answered = message.get("reply_to_message", {}).get("from", {}).get("id")
        text = message.get("text") or message.get("caption") or ""
        commands = [word for word in _COMMAND.findall(text) if "@" not in word or word.lower().endswith(mine)]
        named = any(word.lower() == mine for word in _MENTION.findall(text))
        pointed = any(
            entity.get("type") == "text_mention" and entity["user"]["id"] == self.me.id
            for entity in message.get("entities", ())
        )
        return answered == self.me.id or bool(commands) or named or pointed or not text

    # -- polling ----------------------------------------------------------------------------------

    def confirm(self, offset: int) -> None:
        """What a poll with this offset says: everything below it has arrived."""
        self.pending = [u for u in self.pending if self.now() - self.born[u["update_id"]] < UPDATE_LIFE]
        if offset < 0:
            self._forget(self.pending[:offset])
        elif 0 < offset <= self.next_update:
            self._forget([update for update in self.pending if update["update_id"] < offset])

    def _forget(self, updates: list[dict[str, Any]]) -> None:
        gone = [update["update_id"] for update in updates]
        self.confirmed += gone
        self.pending = [update for update in self.pending if update["update_id"] not in gone]
        if gone:
            self.stir()

    # -- what people see --------------------------------------------------------------------------

    def sent(self, chat: int = 0) -> list[Seen]:
        """Messages of the bot that can be seen now, in order; chat 0: in all chats."""
        return [seen for seen in self.visible if chat in (0, seen.chat)]

    def acks(self) -> list[int]:
        """Ids of updates that the bot confirmed, in order."""
        return list(self.confirmed)

    def date(self) -> datetime:
        return datetime.fromtimestamp(int(self.now()), UTC)


def entities_of(text: str) -> list[dict[str, Any]]:
    """Mentions and commands, as the server finds them."""
    found = [("mention", match) for match in _MENTION.finditer(text)]
    found += [("bot_command", match) for match in _COMMAND.finditer(text)]
    entities = [
        {"type": kind, "offset": units(text[: match.start()]), "length": units(match[0])} for kind, match in found
    ]
    return sorted(entities, key=lambda entity: entity["offset"])
