"""The world behind the Feishu emulator: people, chats, cards, what waits for the bot, and what
people see.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.emulators.kit import PlatformWorld

State = Literal["open", "out", "unavailable"]
# after so many seconds an event that was not acknowledged is pushed again
SCHEDULE = (15.0, 300.0, 3600.0, 21_600.0)
DEADLINE = 3.0
TOKEN_LIFE, TOKEN_FRESH = 7200.0, 1800.0
BOT = "ou_bot_of_the_lab"


@dataclass(slots=True, kw_only=True)
class Chat:
    """One chat. mode: "group" or "topic", where every message opens a topic."""

    id: str
    type: Literal["p2p", "group"] = "group"
    mode: Literal["group", "topic"] = "group"
    state: State = "open"
    flooded_until: float = 0.0


@dataclass(slots=True, kw_only=True)
class Message:
    """One message, of a person or of the bot (sender "")."""

    id: str
    chat: str
    sender: str
    msg_type: str
    content: dict[str, Any]
    thread: str = ""
    parent: str = ""
    root: str = ""
    gone: Literal["", "recalled", "deleted"] = ""
    keys: frozenset[str] = frozenset()
    reactions: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Card:
    """One card entity."""

    id: str
    card: dict[str, Any]
    sequence: int = 0
    streaming_since: float = 0.0
    operations: list[float] = field(default_factory=list)
    uuids: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class Push:
    """One event on its way. due: when it is pushed next; sent_at: of the try under way, 0 for
    none.
    """

    event: dict[str, Any]
    wire_id: str
    due: float
    tries: int = 0
    sent_at: float = 0.0
    by: int = 0
    acked: bool = False


@dataclass(slots=True, kw_only=True)
class Seen:
    """One message of the bot as people see it now."""

    chat: str
    message_id: str
    kind: str
    text: str
    reply_to: str = ""
    thread: str = ""
    streaming: bool = False
    buttons: list[dict[str, Any]] = field(default_factory=list)
    file: str = ""


class World(PlatformWorld):
    """State only; the server, the API and the gateway work on it."""

    def __init__(self, *, app_id: str, secret: str, seed: int = 0) -> None:
        super().__init__(seed)
        self.app_id, self.secret = app_id, secret
        self.chats: dict[str, Chat] = {}
        self.messages: dict[str, Message] = {}
        self.order: list[str] = []
        self.cards: dict[str, Card] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        self.tokens: list[tuple[str, float]] = []
        self.uuids: dict[str, tuple[str, float]] = {}
        self.pushes: list[Push] = []
        self.acked: list[str] = []
        self.lost: list[str] = []
        self.faults_of_client: list[str] = []
        self.scopes_missing: set[str] = set()
        self.names = {"ou_u1": "Ада Lovelace", "ou_u2": "王芳"}
        self.table_limit = 3
        self.last_time = 0
        self.count = 0

    def id(self, start: str) -> str:
        self.count += 1
        return f"{start}_{self.random.getrandbits(48):012x}{self.count:04d}"

    def milliseconds(self) -> str:
        """Now, and later than every time before."""
        self.last_time = max(self.last_time + 1, int(self.now() * 1000))
        return str(self.last_time)

    # -- people and chats -------------------------------------------------------------------------

    def chat(self, id: str, **changes: Any) -> Chat:
        """The chat, made on first use, with fields set as named."""
        chat = self.chats.setdefault(
            id, Chat(id=id, type="p2p" if id.startswith("oc_p2p_") else "group")
        )
        for name, value in changes.items():
            setattr(chat, name, value)
        return chat

    def inject(
        self,
        text: str = "",
        *,
        user: str = "ou_u1",
        chat: str = "",
        kind: str = "text",
        content: dict[str, Any] | None = None,
        thread: str = "",
        parent: str = "",
        mentions: list[dict[str, Any]] | None = None,
        push: bool = True,
    ) -> dict[str, str]:
        """A person writes; chat "": to the bot in private. content: for kinds other than text.

        Returns:
            message_id and event_id.
        """
        place = self.chat(chat or f"oc_p2p_{user}")
        if place.mode == "topic" and not thread:
            thread = self.id("omt")
        content = {"text": text} if content is None else content
        keys = frozenset(_keys(content))
        message = Message(
            id=self.id("om"),
            chat=place.id,
            sender=user,
            msg_type=kind,
            content=content,
            thread=thread,
            keys=keys,
        )
        if parent:
            message.parent, message.root = parent, self.messages[parent].root or parent
        self._add(message)
        at = self.milliseconds()
        told: dict[str, Any] = {
            "message_id": message.id,
            "create_time": at,
            "update_time": at,
            "chat_id": place.id,
            "chat_type": place.type,
            "message_type": kind,
            "content": json.dumps(content),
        }
        told |= {"parent_id": message.parent, "root_id": message.root} if parent else {}
        told |= {"thread_id": thread} if thread else {}
        told |= {"mentions": mentions} if mentions else {}
        event = {"sender": self.person(user), "message": told}
        return {
            "message_id": message.id,
            "event_id": self.tell("im.message.receive_v1", event, push=push),
        }

    def person(self, user: str) -> dict[str, Any]:
        ids = {"open_id": user, "user_id": user[3:], "union_id": f"on_{user[3:]}"}
        return {"sender_id": ids, "sender_type": "user", "tenant_key": "tk1"}

    def mention(self, number: int = 1, open_id: str = BOT, name: str = "Lab bot") -> dict[str, Any]:
        """A mention as the list beside a text has it; its key is `@_user_` and the number."""
        ids = {"open_id": open_id, "user_id": None, "union_id": f"on_{open_id[3:]}"}
        return {"key": f"@_user_{number}", "id": ids, "name": name, "tenant_key": "tk1"}

    def recall(self, message_id: str, state: Literal["recalled", "deleted"] = "recalled") -> str:
        """A person takes a message back; returns the event's id."""
        message = self.messages[message_id]
        message.gone = state
        told = {
            "message_id": message_id,
            "chat_id": message.chat,
            "recall_time": self.milliseconds(),
        }
        return self.tell("im.message.recalled_v1", {**told, "recall_type": "message_owner"})

    def press(self, message_id: str, value: dict[str, Any], user: str = "ou_u1") -> str:
        """A person presses a button; returns the event's id."""
        message = self.messages[message_id]
        event = {
            "operator": {"tenant_key": "tk1", "open_id": user},
            "token": self.id("c"),
            "action": {"tag": "button", "value": value},
            "context": {"open_message_id": message_id, "open_chat_id": message.chat},
        }
        return self.tell("card.action.trigger", event)

    def added(self, chat: str, user: str = "ou_u1") -> str:
        """The bot is taken into a group; returns the event's id."""
        self.chat(chat)
        told = {"chat_id": chat, "operator_id": {"open_id": user}, "external": False, "name": "Lab"}
        return self.tell("im.chat.member.bot.added_v1", told)

    def tell(self, kind: str, event: dict[str, Any], *, push: bool = True) -> str:
        """An event of any kind; returns its id."""
        id = self.id("ev")
        header = {
            "event_id": id,
            "event_type": kind,
            "create_time": self.milliseconds(),
            "token": "vt-1",
        }
        whole = {
            "schema": "2.0",
            "header": {**header, "app_id": self.app_id, "tenant_key": "tk1"},
            "event": event,
        }
        self.queue(whole, push=push)
        return id

    def queue(self, whole: dict[str, Any], *, push: bool = True) -> None:
        """An event as it is, for the next push; push: at once, otherwise kept back until
        `release`.
        """
        due = self.now() if push else float("inf")
        self.pushes.append(Push(event=whole, wire_id=self.id("w"), due=due))
        self.notify()

    def release(self, *, shuffled: bool = False) -> None:
        """What was kept back is pushed."""
        held = [push for push in self.pushes if push.due == float("inf")]
        if shuffled:
            self.random.shuffle(held)
            self.pushes = [push for push in self.pushes if push not in held] + held
        for push in held:
            push.due = self.now()
        self.notify()

    def repeat(self, event_id: str, fresh: bool = False) -> None:
        """The same event once more, though it was acknowledged; fresh: under a new event id."""
        whole = next(
            push.event
            for push in self.pushes
            if push.event.get("header", {}).get("event_id") == event_id
        )
        if fresh:
            whole = {**whole, "header": {**whole["header"], "event_id": self.id("ev")}}
        self.queue(whole)

    def hurry(self) -> None:
        """What is due some time later is due now, and no try is used up by that."""
        waiting = [
            one for one in self.pushes if not one.acked and not one.sent_at and self.now() < one.due
        ]
        for push in [one for one in waiting if one.due != float("inf")]:
            push.due, push.tries = self.now(), min(push.tries, 1)
            self.notify()

    def forget_files(self) -> None:
        """Files that people sent are gone."""
        for message in self.messages.values():
            message.keys = frozenset()

    def _add(self, message: Message) -> None:
        self.messages[message.id] = message
        self.order.append(message.id)
        self.notify()

    def say(self, message: Message) -> None:
        """The bot has written."""
        self._add(message)

    # -- tokens -----------------------------------------------------------------------------------

    def token(self) -> tuple[str, int]:
        """The tenant token and its seconds: the same until 30 minutes are left."""
        if not self.tokens or self.tokens[-1][1] - self.now() < TOKEN_FRESH:
            self.tokens.append((f"t-{self.random.getrandbits(64):016x}", self.now() + TOKEN_LIFE))
        token, until = self.tokens[-1]
        return token, int(until - self.now())

    def expire_tokens(self) -> None:
        """No token given out so far holds any longer."""
        self.tokens = [(token, 0.0) for token, _ in self.tokens]

    # -- what people see --------------------------------------------------------------------------

    def sent(self, chat: str = "") -> list[Seen]:
        """Messages of the bot that can be seen now, in order; chat "": in all chats."""
        ours = [self.messages[id] for id in self.order if not self.messages[id].sender]
        return [self._seen(one) for one in ours if not one.gone and chat in ("", one.chat)]

    def _seen(self, message: Message) -> Seen:
        seen = Seen(
            chat=message.chat,
            message_id=message.id,
            kind=message.msg_type,
            text="",
            thread=message.thread,
        )
        seen.reply_to = message.parent
        content = message.content
        if message.msg_type == "interactive":
            entity = self.cards.get(str(content.get("data", {}).get("card_id")))
            card = entity.card if entity else content
            seen.text, seen.buttons = card_text(card), card_buttons(card)
            seen.streaming = entity is not None and self.streams(entity)
        elif message.msg_type == "text":
            seen.text = content["text"]
        else:
            seen.file = content.get("image_key") or content.get("file_key") or ""
        return seen

    def streams(self, card: Card) -> bool:
        """Whether its streaming is on; ten minutes after it was switched on it ends by itself."""
        return (
            bool(card.card["config"].get("streaming_mode"))
            and self.now() - card.streaming_since < 600
        )

    def acks(self) -> list[str]:
        """Event ids that the bot acknowledged, in order."""
        return list(self.acked)


def card_text(card: dict[str, Any]) -> str:
    """The words of a card."""
    found = []
    for element in card["body"]["elements"]:
        found.append(element.get("content") or (element.get("text") or {}).get("content", ""))
    buttons = {button["text"]["content"] for button in card_buttons(card)}
    return "\n".join(text for text in found if text and text not in buttons)


def card_buttons(card: dict[str, Any]) -> list[dict[str, Any]]:
    return [element for element in card["body"]["elements"] if element["tag"] == "button"]


def _keys(content: Any) -> list[str]:
    """Every key of a file in a message's content."""
    if isinstance(content, list):
        return [key for item in content for key in _keys(item)]
    if not isinstance(content, dict):
        return []
    own = [
        value
        for name, value in content.items()
        if name in ("image_key", "file_key") and isinstance(value, str)
    ]
    return own + [key for value in content.values() for key in _keys(value)]
