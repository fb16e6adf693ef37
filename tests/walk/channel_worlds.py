"""Platforms with people on them, as the kill suite of the channels sees them: one world for
each.
"""

import random
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, Self

from bot.config.home import HomeFolder
from channels.wechat.state import AccountState, ILinkCredentials
from tests.contracts.channel_stage import Pages
from tests.emulators.feishu import FeishuEmulator
from tests.emulators.ilink import IlinkEmulator
from tests.emulators.model import ModelEmulator
from tests.emulators.mp import AES_KEY, APP_ID, MpEmulator
from tests.emulators.mp import SECRET as MP_SECRET
from tests.emulators.mp import TOKEN as MP_TOKEN
from tests.emulators.telegram import TOKEN, TelegramEmulator
from tests.emulators.wecom import SECRET, WecomEmulator
from tests.walk.harness import Bot, settings
from tests.walk.record import opened

# How often, after a message, the answer to some send is lost, a connection breaks, and a send comes
# too early.
LOST, BROKEN, EARLY = 0.04, 0.03, 0.05
AGAIN, OVERTAKEN = 0.25, 0.1


class World(Protocol):
    """One platform in the test's process; it outlives every process of the bot.

    name: of the channel. keyed: whether a repeated send is seen once. limit: so many ASCII signs
    fit into one message. people: ids of those who write, each in a chat of their own with the bot.
    until_stored: whether the platform brings a message until it is confirmed; else what had been
    brought to a process that died may be lost. rationed: so much may be sent, and more only when
    the person has written again.
    """

    name: str
    keyed: bool
    limit: int
    people: Sequence[str]
    until_stored: bool
    rationed: bool

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    def section(self, port: int) -> dict[str, Any]:
        """What config.json says of the channel. port: of the bot's own server, for platforms that
        call it.
        """

    async def kept(self) -> Mapping[str, str]:
        """What the channel has in its notebook before its first life."""

    def say(self, person: str, text: str) -> None:
        """They write."""

    def disturb(self, chance: random.Random) -> None:
        """Now and then: bring something twice, let one message overtake another, let the next send
        go wrong.
        """

    def seen(self, person: str) -> list[str]:
        """What they see now, in order, after the platform's own dropping of repeats."""

    def unconfirmed(self) -> list[str]:
        """Texts that the platform still has to bring."""

    def abandoned(self) -> list[str]:
        """Texts that the platform has given up to bring: nobody confirmed them, though they may be
        stored.
        """

    def half_written(self, person: str) -> list[str]:
        """What looks to them as if it were still being written."""

    def calm(self) -> None:
        """From now on nothing goes wrong."""


class _World:
    """What most have in common."""

    keyed, until_stored, rationed = False, True, False
    people: Sequence[str] = ()

    def __init__(self, emulator: Any) -> None:
        self.emulator = emulator

    async def __aenter__(self) -> Self:
        await self.emulator.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.emulator.stop()

    async def kept(self) -> Mapping[str, str]:
        return {}

    def allowed(self) -> dict[str, Any]:
        """Who may talk to the bot."""
        return {"owners": [*self.people[:1]], "allow": [*self.people[1:]]}

    def abandoned(self) -> list[str]:
        return []

    def half_written(self, person: str) -> list[str]:
        return []

    def calm(self) -> None:
        self.emulator.faults.clear()


class FeishuWorld(_World):
    """Chats of two; events come by long connection, or are called out to the bot."""

    name, limit, keyed = "feishu", 28_000, True
    people: Sequence[str] = ("ou_ada", "ou_bo", "ou_cy")
    send = r"/im/v1/messages(/[^/]+/reply)?$"

    def __init__(self, mode: Literal["socket", "webhook"] = "socket") -> None:
        super().__init__(FeishuEmulator())
        self.emulator.gateway.config |= {"PingInterval": 5, "ReconnectInterval": 1}
        self.emulator.gateway.soon = 0.5
        self._mode = mode
        self._texts: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        await self.emulator.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.emulator.__aexit__()

    def section(self, port: int) -> dict[str, Any]:
        world, more = self.emulator.world, {}
        if self._mode == "webhook":
            more = {"encrypt_key": "encrypt-key-of-the-lab", "verification_token": "vt-1"}
            self.emulator.call_out(f"http://127.0.0.1:{port}/hooks/feishu", more["encrypt_key"])
        app = {"app_id": world.app_id, "app_secret": world.secret, "domain": self.emulator.url}
        return {**app, "mode": self._mode, **more, **self.allowed()}

    def say(self, person: str, text: str) -> None:
        self._texts[self.emulator.inject(text, user=person)["event_id"]] = text

    def show(self, person: str, picture: bytes, text: str) -> None:
        """They send a picture with words."""
        key = self.emulator.world.id("img")
        self.emulator.world.files[key] = ("", picture)
        line = [{"tag": "img", "image_key": key}, {"tag": "text", "text": text}]
        content = {"title": "", "content": [line]}
        self._texts[self.emulator.inject(user=person, kind="post", content=content)["event_id"]] = (
            text
        )

    def disturb(self, chance: random.Random) -> None:
        if chance.random() < AGAIN:
            self.emulator.world.repeat([*self._texts][-1], fresh=chance.random() < 0.5)
        for action, share in (
            ("accept_then_drop", LOST),
            ("html_502", BROKEN),
            ("close_before_reply", BROKEN),
        ):
            if chance.random() < share:
                self.emulator.fault(action, verb="POST", path=self.send, times=1)
        if chance.random() < EARLY:
            self.emulator.fault(
                "too_many", verb="POST", path=self.send, seconds=1, http=429, times=1
            )

    def seen(self, person: str) -> list[str]:
        return [one.text for one in self._all(person) if not one.streaming]

    def half_written(self, person: str) -> list[str]:
        return [one.text for one in self._all(person) if one.streaming]

    def _all(self, person: str) -> list[Any]:
        return list(self.emulator.sent(f"oc_p2p_{person}"))

    def unconfirmed(self) -> list[str]:
        confirmed = {*self.emulator.acks()}
        return [text for event, text in self._texts.items() if event not in confirmed]


class WechatMpWorld(_World):
    """An account that may write by the API for customer service; the platform tries three times and
    gives up.
    """

    name, limit, until_stored, rationed = "wechat_mp", 2_048, False, True
    people = ("o_ada", "o_bo", "o_cy")

    def __init__(self) -> None:
        super().__init__(MpEmulator())
        self.emulator.pusher.pause = 3.0

    async def __aexit__(self, *_: object) -> None:
        await self.emulator.__aexit__()

    def section(self, port: int) -> dict[str, Any]:
        self.emulator.pusher.callback = f"http://127.0.0.1:{port}/hooks/wechat_mp"
        keys = {
            "app_id": APP_ID,
            "app_secret": MP_SECRET,
            "token": MP_TOKEN,
            "encoding_aes_key": AES_KEY,
        }
        return {**keys, "base_url": self.emulator.url, **self.allowed()}

    def say(self, person: str, text: str) -> None:
        self.emulator.inject(text, person)

    def disturb(self, chance: random.Random) -> None:
        if chance.random() < AGAIN:
            self.emulator.pusher.bring(self.emulator.world.pushes[-1])
        for action, share in (
            ("accept_then_drop", LOST),
            ("html_502", BROKEN),
            ("close_before_reply", BROKEN),
        ):
            if chance.random() < share:
                self.emulator.fault(action, method="message/custom/send", times=1)

    def seen(self, person: str) -> list[str]:
        return list(self.emulator.world.sent(person))

    def unconfirmed(self) -> list[str]:
        return self._texts("sending")

    def abandoned(self) -> list[str]:
        return self._texts("failed")

    def _texts(self, state: str) -> list[str]:
        return [
            push.fields["Content"] for push in self.emulator.world.pushes if push.state == state
        ]


class TelegramWorld(_World):
    """Private chats, over long polling or by webhook."""

    name, limit = "telegram", 4_096
    people: Sequence[str] = ("5005", "5006", "5007")

    def __init__(self, mode: Literal["polling", "webhook"] = "polling") -> None:
        super().__init__(TelegramEmulator())
        self._mode = mode
        self._texts: dict[int, str] = {}

    def section(self, port: int) -> dict[str, Any]:
        bot = {"token": TOKEN, "base_url": self.emulator.url, "mode": self._mode, **self.allowed()}
        if self._mode == "polling":
            return bot
        secret = "Secret-of-more-than-32-signs_0123456789"
        return {
            **bot,
            "webhook_secret": secret,
            "webhook_url": f"http://127.0.0.1:{port}/hooks/telegram",
        }

    def say(self, person: str, text: str) -> None:
        self._texts[self.emulator.inject(text, user=int(person))["update_id"]] = text

    def show(self, person: str, picture: bytes, text: str) -> None:
        """They send a picture with words."""
        self._texts[self.emulator.people.picture(picture, text, user=int(person))["update_id"]] = (
            text
        )

    def disturb(self, chance: random.Random) -> None:
        newest = max(self._texts)
        if chance.random() < AGAIN:
            self.emulator.world.repeat(newest, fresh=chance.random() < 0.5)
        if chance.random() < OVERTAKEN:
            self.emulator.world.shuffle()
        for action, share in (
            ("accept_then_drop", LOST),
            ("html_502", BROKEN),
            ("close_before_reply", BROKEN),
        ):
            if chance.random() < share:
                self.emulator.fault(action, method="sendMessage", times=1)
        if chance.random() < EARLY:
            self.emulator.fault("retry_after", method="sendMessage", seconds=1, times=1)

    def seen(self, person: str) -> list[str]:
        return [message.text for message in self.emulator.sent(int(person))]

    def unconfirmed(self) -> list[str]:
        confirmed = {*self.emulator.acks()}
        return [text for update, text in self._texts.items() if update not in confirmed]


class WechatWorld(_World):
    """Direct chats over iLink; somebody has logged in before.

    The platform has one stream, which is never reordered.
    """

    name, limit, rationed = "wechat", 1_800, True
    people = ("ada@im.wechat", "bo@im.wechat", "cy@im.wechat")

    def __init__(self) -> None:
        super().__init__(IlinkEmulator())
        self.emulator.knobs.burst = 0

    def section(self, port: int) -> dict[str, Any]:
        places = {"base_url": self.emulator.url, "cdn_url": self.emulator.cdn_url}
        return {"enabled": True, **places, **self.allowed()}

    async def kept(self) -> Mapping[str, str]:
        told, notebook = self.emulator.world.grant(), Pages()
        state = AccountState()
        state.bind(notebook)
        await state.open()
        token, bot, person = (told[name] for name in ("bot_token", "ilink_bot_id", "ilink_user_id"))
        await state.store_login(
            ILinkCredentials(token=token, bot=bot, base=self.emulator.url, person=person)
        )
        return notebook.values

    def say(self, person: str, text: str) -> None:
        self.emulator.world.say(text, person)

    def disturb(self, chance: random.Random) -> None:
        if chance.random() < AGAIN:
            self.emulator.world.repeat()
        for action, share in (
            ("accept_then_drop", LOST),
            ("html_502", BROKEN),
            ("close_before_reply", BROKEN),
        ):
            if chance.random() < share:
                self.emulator.fault(action, method="sendmessage", times=1)
        if chance.random() < EARLY:
            answers = {"ret": -2, "errmsg": "rate limited"}
            self.emulator.fault("status", method="sendmessage", answers=answers, times=1)

    def seen(self, person: str) -> list[str]:
        return [message.text for message in self.emulator.world.sent(person)]

    def unconfirmed(self) -> list[str]:
        waiting = self.emulator.world.stream()[self.emulator.world.acks() :]
        return [item["text_item"]["text"] for message in waiting for item in message["item_list"]]


class WecomWorld(_World):
    """Single chats over the smart bot's socket, which asks for no sign that a message was
    stored.
    """

    name, limit, keyed, until_stored = "wecom", 20_480, True, False
    people = ("ada", "bo", "cy")

    def __init__(self) -> None:
        super().__init__(WecomEmulator())
        self._last: dict[str, Any] = {}

    def section(self, port: int) -> dict[str, Any]:
        emulator = self.emulator
        return {
            "bot_id": emulator.world.bot_id,
            "secret": SECRET,
            "ws_url": emulator.ws_url,
            **self.allowed(),
        }

    def say(self, person: str, text: str) -> None:
        self._last = self.emulator.world.inject(text, user=person)

    def disturb(self, chance: random.Random) -> None:
        if chance.random() < AGAIN:
            self.emulator.world.repeat(self._last)
        if chance.random() < OVERTAKEN:
            chance.shuffle(self.emulator.world.pending)
        for action, share in (
            ("accept_then_drop", LOST),
            ("accept_then_close", LOST),
            ("close", BROKEN),
        ):
            if chance.random() < share:
                self.emulator.fault(action, cmd="aibot_respond", times=1)
        if chance.random() < EARLY:
            self.emulator.fault("errcode", cmd="aibot_respond", code=45009, times=1)

    def seen(self, person: str) -> list[str]:
        return [one.text for one in self.emulator.world.sent(person)]

    def half_written(self, person: str) -> list[str]:
        return [one.text for one in self.emulator.world.live(person)]

    def unconfirmed(self) -> list[str]:
        return [frame["body"]["text"]["content"] for frame in self.emulator.world.pending]


WORLDS: dict[str, Callable[[], World]] = {
    "telegram": TelegramWorld,
    "telegram-webhook": lambda: TelegramWorld("webhook"),
    "feishu": FeishuWorld,
    "feishu-webhook": lambda: FeishuWorld("webhook"),
    "wechat": WechatWorld,
    "wechat_mp": WechatMpWorld,
    "wecom": WecomWorld,
}


def configured(world: World, model: ModelEmulator) -> dict[str, Any]:
    """A config.json for that world, on a port that is the same in every life."""
    port = free_port()
    config = settings(model.url, provider="openai", agent_max_context_turns=6)
    return {**config, "channels": {"web": {"port": port}, world.name: world.section(port)}}


async def remember(bot: Bot, world: World) -> None:
    """Put into the record what the channel has in its notebook before its first life."""
    kept = await world.kept()
    if kept:
        HomeFolder(root=bot.home).ensure()
        store = await opened(bot.db)
        await store.notes.put(world.name, kept)
        await store.close()


def free_port() -> int:
    """One that nobody uses at the moment."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])
