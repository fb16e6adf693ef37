"""What people have in their hands: the same few acts on every platform's emulator, and what stands
on the screen.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tests.emulators.telegram import TelegramEmulator
from tests.walk.channel_worlds import (
    FeishuWorld,
    TelegramWorld,
    WechatMpWorld,
    WechatWorld,
    WecomWorld,
    World,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One message of the bot as it stands on a screen now. growing: it is still being written.

    file: its name ("" where the platform shows none) and its bytes, None for none.
    """

    id: str
    text: str
    growing: bool = False
    file: tuple[str, bytes] | None = None


class Phone(ABC):
    """A platform with an owner, a friend and a stranger on it. group: one they are in, "" where
    there are none.

    carries: whether files that are no pictures can be sent to people there. grows: whether answers
    are seen while they are written. overheard: whether the platform brings what is said in a group
    to nobody. A chat goes by its person's id, or by the group's.
    """

    group, carries, grows, overheard = "", True, False, False
    stranger = ""

    def __init__(self) -> None:
        self.world = world = self.made()
        self.owner, self.friend = world.people[:2]
        self.emulator: Any = world.emulator  # type: ignore[attr-defined]

    @abstractmethod
    def made(self) -> World:
        """The platform."""

    async def __aenter__(self) -> Self:
        await self.world.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.world.__aexit__()

    def section(self, port: int) -> dict[str, Any]:
        """What config.json says of the channel: the owner, the friend and the group are listed."""
        section = self.world.section(port)
        listed = [self.friend, *filter(None, [self.group])]
        return {**section, "owners": [self.owner], "allow": listed}

    def chats(self) -> list[str]:
        """Everything that can be looked at."""
        return [self.owner, self.friend, self.stranger, *filter(None, [self.group])]

    def say(self, person: str, text: str) -> None:
        """They write to the bot alone."""
        self.world.say(person, text)

    @abstractmethod
    def show(self, person: str, picture: bytes) -> None:
        """They send a picture to the bot alone."""

    def talk(self, person: str, text: str) -> None:
        """They write in the group, to nobody."""
        raise AssertionError("nobody does that here")

    def mention(self, person: str, text: str) -> None:
        """They write to the bot in the group."""
        raise AssertionError("nobody does that here")

    @abstractmethod
    def shown(self, chat: str) -> list[Shown]:
        """What stands there of the bot, in order."""


class TelegramPhone(Phone):
    """The bot hears all that is said in its group."""

    group, stranger, grows, overheard = "-1001", "6666", True, True

    def made(self) -> World:
        world = TelegramWorld()
        world.emulator = TelegramEmulator(privacy=False)
        return world

    def show(self, person: str, picture: bytes) -> None:
        self.emulator.people.picture(picture, user=int(person))

    def talk(self, person: str, text: str) -> None:
        named = {"id": int(person), "is_bot": False, "first_name": "Bo"}
        self.emulator.inject(text, user=int(person), chat=int(self.group), **{"from": named})

    def mention(self, person: str, text: str) -> None:
        self.talk(person, f"@{self.emulator.username} {text}")

    def shown(self, chat: str) -> list[Shown]:
        files = self.emulator.world.files
        found = [
            Shown(id=str(one.message_id), text=one.text, file=_file(files.get(one.file)))
            for one in self.emulator.sent(int(chat))
        ]
        draft = self.emulator.world.draft(int(chat))
        return [*found, Shown(id="draft", text=draft, growing=True)] if draft else found


class FeishuPhone(Phone):
    """The bot hears all that is said in its group, as with the permission for it."""

    group, stranger, grows, overheard = "oc_crew", "ou_eve", True, True

    def made(self) -> World:
        world = FeishuWorld()
        world.emulator.world.names |= {"ou_ada": "Ada", "ou_bo": "Bo"}
        return world

    def show(self, person: str, picture: bytes) -> None:
        key = self.emulator.world.id("img")
        self.emulator.world.files[key] = ("", picture)
        self.emulator.inject(user=person, kind="image", content={"image_key": key})

    def talk(self, person: str, text: str) -> None:
        self.emulator.inject(text, user=person, chat=self.group)

    def mention(self, person: str, text: str) -> None:
        mentions = [self.emulator.world.mention()]
        self.emulator.inject(f"@_user_1 {text}", user=person, chat=self.group, mentions=mentions)

    def shown(self, chat: str) -> list[Shown]:
        place = chat if chat.startswith("oc_") else f"oc_p2p_{chat}"
        return [
            Shown(
                id=one.message_id,
                text=one.text,
                growing=one.streaming,
                file=self.emulator.world.files.get(one.file),
            )
            for one in self.emulator.sent(place)
        ]


class WechatPhone(Phone):
    """One person's account."""

    stranger = "eve@im.wechat"

    def made(self) -> World:
        return WechatWorld()

    def show(self, person: str, picture: bytes) -> None:
        self.emulator.world.attach(picture, "image", person=person)

    def shown(self, chat: str) -> list[Shown]:
        return [
            Shown(id=str(number), text=one.text, file=(one.name, one.data) if one.data else None)
            for number, one in enumerate(self.emulator.world.sent(chat))
        ]


class WechatMpPhone(Phone):
    """A verified account; it sends pictures, and no other files."""

    stranger, carries = "o_eve", False

    def made(self) -> World:
        return WechatMpWorld()

    def show(self, person: str, picture: bytes) -> None:
        self.emulator.inject_file("image", picture, "image/png", person)

    def shown(self, chat: str) -> list[Shown]:
        world = self.emulator.world
        lines = [line for line in world.person(chat).lines if line.who != "person"]
        return [
            Shown(
                id=str(number),
                text=f"[the platform] {line.text}" if line.who == "platform" else line.text,
                file=("", world.files[line.media_id].data) if line.media_id else None,
            )
            for number, line in enumerate(lines)
        ]


class WecomPhone(Phone):
    """Of a group the bot is brought only what mentions it."""

    group, stranger, grows = "crew", "eve", True

    def made(self) -> World:
        return WecomWorld()

    def show(self, person: str, picture: bytes) -> None:
        self.emulator.world.picture(picture, user=person)

    def mention(self, person: str, text: str) -> None:
        self.emulator.world.inject(text, user=person, group=self.group)

    def shown(self, chat: str) -> list[Shown]:
        seen = [one for one in self.emulator.world.seen if one.chat == chat]
        return [
            Shown(
                id=str(number),
                text=one.text or _card(one.card),
                growing=not one.finished,
                file=one.file,
            )
            for number, one in enumerate(seen)
        ]


def _file(stored: Any) -> tuple[str, bytes] | None:
    return (stored.name, stored.data) if stored else None


def _card(card: Mapping[str, Any]) -> str:
    """The words of a card."""
    with contextlib.suppress(KeyError, TypeError):
        return (
            f"{card['main_title']['title']} "
            f"{[button['text'] for button in card.get('button_list', ())]}"
        )
    return ""


PHONES: dict[str, type[Phone]] = {
    "telegram": TelegramPhone,
    "feishu": FeishuPhone,
    "wechat": WechatPhone,
    "wechat_mp": WechatMpPhone,
    "wecom": WecomPhone,
}
