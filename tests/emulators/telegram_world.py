"""The world behind the Telegram emulator: people, chats, what waits for the bot, and what people
see.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from tests.emulators.kit import PlatformWorld
from tests.emulators.telegram_html import units

State = Literal[
    "open", "blocked", "deactivated", "kicked", "not_member", "deleted", "read_only", "not_started"
]
UPDATE_LIFE = 24 * 3600.0
DRAFT_LIFE = 30.0
DEFAULT_KINDS = frozenset(
    {"message", "edited_message", "channel_post", "callback_query", "my_chat_member"}
)
_MENTION = re.compile(r"(?<!\w)@\w{3,}")
_COMMAND = re.compile(r"(?:^|(?<=\s))/[A-Za-z0-9_]+(?:@\w+)?(?!\w)")


@dataclass(slots=True, kw_only=True)
class Chat:
    """One chat. state: what stands between the bot and it; migrated_to: its id as a supergroup, 0
    for none.
    """

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
        return (
            fields | {"title": self.title or "Lab"} | ({"is_forum": True} if self.is_forum else {})
        )


@dataclass(slots=True, kw_only=True)
class Seen:
    """One message as people see it now. thread 0: no topic; reply_to 0: answers nothing.

    file: id of what it shows or offers ("" for none; see World.files), text is its caption then.
    buttons: the data of each in order; preview: its links are fetched for one.
    """

    chat: int
    message_id: int
    text: str
    entities: list[dict[str, Any]]
    thread: int = 0
    reply_to: int = 0
    edits: int = 0
    file: str = ""
    picture: bool = False
    keyboard: list[tuple[str, str]] = field(default_factory=list)
    preview: bool = True

    @property
    def buttons(self) -> list[str]:
        return [data for _, data in self.keyboard]


@dataclass(slots=True, kw_only=True)
class Stored:
    """A file on the platform. size: as the platform counts it; path, until: where and how long it
    can be fetched.
    """

    id: str
    name: str
    media_type: str
    data: bytes
    size: int
    path: str = ""
    until: float = 0.0


class World(PlatformWorld):
    """State only; the server and the bot's methods work on it."""

    def __init__(self, *, bot_id: int, username: str, privacy: bool, seed: int) -> None:
        from aiogram import types

        super().__init__(seed)
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
        self.reactions: dict[tuple[int, int], str] = {}
        self.commands: dict[str, list[dict[str, str]]] = {}
        self.queries: dict[str, float] = {}
        self.answered: list[str] = []
        self.files: dict[str, Stored] = {}
        self.left_drafts: dict[int, int] = {}
        self.held: list[tuple[float, dict[str, Any]]] = []
        self.floods: dict[str, tuple[float, bool]] = {}

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
        self,
        text: str = "",
        *,
        user: int = 5005,
        chat: int = 0,
        thread: int = 0,
        reply_to: int = 0,
        delay: float = 0.0,
        **fields: Any,
    ) -> dict[str, int]:
        """A person writes; chat 0: to the bot in private.

        delay: seconds until it comes to the bot. fields: put over the message's own; with
        message_id and edit_date it is an edit.

        Returns:
            update_id (0: the bot is not shown it, or not yet) and message_id.
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
        elif thread and place.is_forum:
            message["reply_to_message"] = self._opener(place, thread)
        message |= fields
        place.next_id = max(place.next_id, message["message_id"] + 1)
        place.messages[message["message_id"]] = {
            k: v for k, v in message.items() if k != "reply_to_message"
        }
        kind = "edited_message" if "edit_date" in message else "message"
        heard = kind in self.kinds and (
            place.type == "private" or not self.privacy or self._concerns_bot(message)
        )
        number = self.queue({kind: message}, delay) if heard else 0
        return {"update_id": number, "message_id": message["message_id"]}

    def _opener(self, place: Chat, thread: int) -> dict[str, Any]:
        """What a message in a topic that answers nothing is shown to answer."""
        return {
            "message_id": thread,
            "date": 1_700_000_000,
            "chat": place.shown(),
            "from": {"id": 5005, "is_bot": False, "first_name": "Ада"},
            "message_thread_id": thread,
            "is_topic_message": True,
            "forum_topic_created": {"name": "Topic", "icon_color": 7322096},
        }

    def repeat(self, update_id: int, fresh: bool = False) -> int:
        """The same update once more, even if it was confirmed; fresh: under a new id, as after a
        quiet week.
        """
        update = self.issued[update_id]
        if fresh:
            return self.queue({key: value for key, value in update.items() if key != "update_id"})
        self.pending.append(update)
        self.notify()
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

    def queue(self, update: dict[str, Any], delay: float = 0.0) -> int:
        """Let the bot know of something; the update's id, 0 where it is to come so many seconds
        later.
        """
        if delay > 0:
            self.held.append((self.now() + delay, update))
            self.notify()
            return 0
        from aiogram import types

        number, self.next_update = self.next_update, self.next_update + 1
        whole = types.Update.model_validate({"update_id": number, **update})
        dumped = whole.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.issued[number], self.born[number] = dumped, self.now()
        self.pending.append(dumped)
        self.notify()
        return number

    def ripen(self) -> float:
        """Bring in what was held back long enough; seconds until the next, 60 for nothing."""
        ripe = [update for due, update in self.held if due <= self.now()]
        self.held = [(due, update) for due, update in self.held if due > self.now()]
        for update in ripe:
            self.queue(update)
        return min((due - self.now() for due, _ in self.held), default=60.0)

    def put_in(self, raw: dict[str, Any]) -> int:
        """An update of any form, as it stands but for its id."""
        number, self.next_update = self.next_update, self.next_update + 1
        self.pending.append({"update_id": number, **raw})
        self.issued[number], self.born[number] = self.pending[-1], self.now()
        self.notify()
        return number

    def _concerns_bot(self, message: dict[str, Any]) -> bool:
        mine = f"@{self.me.username}".lower()
        answered = message.get("reply_to_message", {}).get("from", {}).get("id")
        text = message.get("text") or message.get("caption") or ""
        commands = [
            word
            for word in _COMMAND.findall(text)
            if "@" not in word or word.lower().endswith(mine)
        ]
        named = any(word.lower() == mine for word in _MENTION.findall(text))
        pointed = any(
            entity.get("type") == "text_mention" and entity["user"]["id"] == self.me.id
            for entity in message.get("entities", ())
        )
        return answered == self.me.id or bool(commands) or named or pointed or not text

    # -- polling ----------------------------------------------------------------------------------

    def confirm(self, offset: int) -> None:
        """What a poll with this offset says: everything below it has arrived."""
        self.ripen()
        self.pending = [
            u for u in self.pending if self.now() - self.born[u["update_id"]] < UPDATE_LIFE
        ]
        if offset < 0:
            self.forget(self.pending[:offset])
        elif 0 < offset <= self.next_update:
            self.forget([update for update in self.pending if update["update_id"] < offset])

    def forget(self, updates: list[dict[str, Any]]) -> None:
        """These have arrived."""
        gone = [update["update_id"] for update in updates]
        self.confirmed += gone
        self.pending = [update for update in self.pending if update["update_id"] not in gone]
        if gone:
            self.notify()

    # -- what people see --------------------------------------------------------------------------

    def sent(self, chat: int = 0) -> list[Seen]:
        """Messages of the bot that can be seen now, in order; chat 0: in all chats."""
        return [seen for seen in self.visible if chat in (0, seen.chat)]

    def draft(self, chat: int) -> str:
        """The text being written there, "" for none: it fades after 30 s, and a message ends it."""
        shown = [
            draft for draft in self.drafts[self.left_drafts.get(chat, 0) :] if draft["chat"] == chat
        ]
        return shown[-1]["text"] if shown and self.now() - shown[-1]["at"] < DRAFT_LIFE else ""

    def end_drafts(self, chat: int) -> None:
        """A message of the bot stands there now."""
        self.left_drafts[chat] = len(self.drafts)

    def keep(self, name: str, media_type: str, data: bytes, size: int = 0) -> Stored:
        """A file, under an id of its own; size: larger than its bytes, to stand for a large one."""
        id = f"file{len(self.files) + 1}-{self.random.randrange(2**32):08x}"
        self.files[id] = Stored(
            id=id, name=name, media_type=media_type, data=data, size=size or len(data)
        )
        return self.files[id]

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
        {"type": kind, "offset": units(text[: match.start()]), "length": units(match[0])}
        for kind, match in found
    ]
    return sorted(entities, key=lambda entity: entity["offset"])
