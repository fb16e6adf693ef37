"""Feishu as a stage of the contract, by long connection and by webhook."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from channels.feishu.channel import Feishu
from channels.feishu.settings import FeishuSettings
from channels.message import Address
from tests.contracts.channel_stage import Cut, Fault, Pages
from tests.emulators.feishu import APP_ID, FeishuEmulator
from tests.emulators.feishu_world import SCHEDULE

SEND = r"/im/v1/messages(/[^/]+/reply)?$"
KEY, TOKEN = "encrypt-key-of-the-lab", "vt-1"
ANSWER_SECONDS = 2.0


class FeishuStage:
    person, other_person = "ou_u1", "ou_u2"
    redeliveries: Sequence[float] = SCHEDULE

    def __init__(
        self, emulator: FeishuEmulator, mode: Literal["socket", "webhook"] = "socket"
    ) -> None:
        self.emulator, self.world, self.mode = emulator, emulator.world, mode
        self.world.chat("oc_group")
        self.channel = self._open()
        self.notebook = Pages()
        self.address = self._place("oc_p2p_ou_u1")
        self.group = self._place("oc_group")
        self.last: dict[str, str] = {}
        emulator.gateway.soon = 0.1  # nobody waits here for what would be pushed again in 15 s
        emulator.gateway.config |= {"PingInterval": 0.3, "ReconnectInterval": 0.1}

    def _open(self) -> Feishu:
        return Feishu(FeishuSettings(**self.config()), answer_seconds=ANSWER_SECONDS)

    def _place(self, chat: str) -> Address:
        return Address(channel="feishu", account=APP_ID, chat_id=chat)

    def config(self) -> dict[str, Any]:
        keys = {"encrypt_key": KEY, "verification_token": TOKEN} if self.mode == "webhook" else {}
        app = {"app_id": APP_ID, "app_secret": self.world.secret, "domain": self.emulator.url}
        return {**app, "mode": self.mode, **keys}

    def say(self, text: str) -> None:
        self.last = self.world.inject(text)

    def say_again(self) -> None:
        self.world.repeat(self.last["event_id"], fresh=True)

    def seen(self) -> list[str]:
        return self._seen(self.address.chat_id)

    def _seen(self, chat: str) -> list[str]:
        return [one.text for one in self.world.sent(chat) if not one.streaming and not one.file]

    def confirmed(self) -> int:
        return len(self.world.acks())

    def refuse_next(self, seconds: float) -> None:
        self.emulator.fault("too_many", verb="POST", path=SEND, seconds=seconds, http=429, times=1)

    def lose_next(self) -> None:
        self.emulator.fault("accept_then_drop", verb="POST", path=SEND, times=1)

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.emulator.until(holds, 20)

    # -- lives and time ---------------------------------------------------------------------------

    async def restart(self) -> None:
        await self.channel.close()
        self.channel = self._open()

    def later(self, seconds: float) -> None:
        self.world.advance(seconds)

    def say_shuffled(self, texts: Sequence[str]) -> None:
        for text in texts:
            self.world.inject(text, push=False)
        self.world.release(shuffled=True)

    # -- other things people do -------------------------------------------------------------------

    def say_in_group(self, text: str, to_us: bool) -> None:
        words, mentions = (f"@_user_1 {text}", [self.world.mention()]) if to_us else (text, None)
        self.last = self.world.inject(words, chat=self.group.chat_id, mentions=mentions)

    def withdraw(self) -> None:
        self.world.recall(self.last["message_id"])

    def press(self, data: str) -> None:
        message = [one for one in self.world.sent() if one.buttons][-1]
        values = [button["behaviors"][0]["value"] for button in message.buttons]
        self.world.press(
            message.message_id, next(value for value in values if value["data"] == data)
        )

    def _upload(self, kind: str, name: str, data: bytes) -> str:
        key = self.world.id(kind)
        self.world.files[key] = (name, data)
        return key

    def send_album(self, pictures: Sequence[bytes]) -> None:
        row = [{"tag": "img", "image_key": self._upload("img", "", data)} for data in pictures]
        self.last = self.world.inject(kind="post", content={"title": "", "content": [row]})

    def send_picture(self, data: bytes) -> None:
        self.last = self.world.inject(
            kind="image", content={"image_key": self._upload("img", "", data)}
        )

    def send_file(self, name: str, data: bytes) -> None:
        content = {"file_key": self._upload("file", name, data), "file_name": name}
        self.last = self.world.inject(kind="file", content=content)

    def forget_files(self) -> None:
        self.world.forget_files()

    def take_us_in(self) -> None:
        self.world.added(self.group.chat_id)

    def odd(self) -> int:
        message = {
            "message_id": "om_odd",
            "chat_id": "oc_odd",
            "chat_type": "p2p",
            "create_time": "soon",
        }
        events: list[tuple[str, Any]] = [
            ("im.message.message_read_v1", {"reader": {}, "message_id_list": []}),
            ("im.chat.updated_v1", {}),
            ("not.yet.invented_v9", {"new": [1, 2, {"deep": None}]}),
            ("im.message.receive_v1", {}),
            ("im.message.receive_v1", {"sender": self.world.person("ou_u1"), "message": message}),
            (
                "im.message.receive_v1",
                {"sender": None, "message": {**message, "content": "[]", "mentions": 7}},
            ),
            ("im.message.recalled_v1", {"message_id": 7}),
            ("card.action.trigger", {"action": "press"}),
            ("card.action.trigger", {"action": {"value": "not ours"}}),
            ("im.chat.member.bot.added_v1", {"name": "x"}),
        ]
        for kind, event in events:
            self.world.tell(kind, event)
        return len(events)

    def another_says(self, text: str) -> None:
        self.world.inject(text, user=self.other_person)

    # -- what people see --------------------------------------------------------------------------

    def another_sees(self) -> list[str]:
        return self._seen(f"oc_p2p_{self.other_person}")

    def files_seen(self) -> list[tuple[str, bytes]]:
        return [
            self.world.files[one.file] for one in self.world.sent(self.address.chat_id) if one.file
        ]

    def live(self) -> str:
        return "\n".join(one.text for one in self.world.sent(self.address.chat_id) if one.streaming)

    # -- what goes wrong --------------------------------------------------------------------------

    def spoil(self, fault: Fault) -> None:
        match fault:
            case "unreachable":
                self.emulator.refuse_connections()
            case "expired_token":
                self.world.expire_tokens()
            case "chat_gone":
                self.world.chat(self.address.chat_id, state="out")
            case "status_500":
                self.emulator.fault("refuse", path=SEND, code=2200, http=500, times=1)
            case "error_in_200":
                self.emulator.fault("refuse", path=SEND, code=230006, http=200, times=1)
            case "bad_format":
                self.emulator.fault("refuse", path=SEND, code=230099, http=400, times=1)
            case "empty_body":
                self.emulator.fault("status", path=SEND, http=200, times=1)
            case "cut_body":
                self.emulator.fault("truncate", path=SEND, size=30, times=1)
            case "reset":
                self.emulator.fault("close_before_reply", path=SEND, times=1)
            case "no_answer":
                self.emulator.fault("half_open", path=SEND, times=1)
            case "html_502":
                self.emulator.fault("html_502", path=SEND, times=1)

    def flood(self, seconds: float) -> None:
        self.world.chat(self.address.chat_id, flooded_until=self.world.now() + seconds)

    async def cut(self, how: Cut) -> None:
        await self.emulator.cut(how)

    async def mend(self) -> None:
        await self.emulator.mend()

    def revoke(self) -> None:
        self.world.secret = "another-one"
        self.world.expire_tokens()
