"""Telegram passes the channel contract."""

import json
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, ClassVar

import aiohttp
import pytest

from channels.message import Address
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from tests.contracts.channel_stage import Cut, Fault
from tests.contracts.channel_suite import ChannelSuite
from tests.emulators.telegram import TelegramEmulator

PERSON, OTHER = 5005, 6006
GROUP, SUPERGROUP = -7007, -1002000000777
SPOILT: dict[str, dict[str, Any]] = {
    "html_502": {"action": "html_502"},
    "status_500": {
        "action": "status",
        "code": 500,
        "body": {"error_code": 500, "description": "Internal Server Error"},
    },
    "error_in_200": {
        "action": "status",
        "code": 200,
        "body": {"error_code": 400, "description": "Bad Request: no"},
    },
    "empty_body": {"action": "status", "code": 200},
    "cut_body": {"action": "truncate", "size": 9},
    "reset": {"action": "close_before_reply"},
    "no_answer": {"action": "half_open"},
    "bad_format": {
        "action": "status",
        "code": 400,
        "body": {
            "error_code": 400,
            "description": "Bad Request: can't parse entities: Unclosed start tag",
        },
    },
}


class TelegramStage:
    person, other_person = str(PERSON), str(OTHER)
    redeliveries = (1, 60, 3600, 80_000)

    def __init__(self, emulator: TelegramEmulator) -> None:
        self.emulator = emulator
        self.channel = self._made(emulator.url)
        self.address = self._at(PERSON)
        self.group = self._at(GROUP)
        self.last = {"update_id": 0, "message_id": 0}
        emulator.chat(PERSON)
        emulator.chat(OTHER)
        emulator.chat(GROUP, type="group")

    def _made(self, url: str) -> Telegram:
        settings = TelegramSettings(token=self.emulator.token, base_url=url)
        return Telegram(settings, poll_seconds=2, answer_seconds=3, pauses=(0.02, 0.02))

    def _at(self, chat: int) -> Address:
        return Address(channel="telegram", account=str(self.emulator.bot_id), chat_id=str(chat))

    def say(self, text: str) -> None:
        self.last = self.emulator.inject(text)

    def say_again(self) -> None:
        self.emulator.world.repeat(self.last["update_id"], fresh=True)

    def seen(self) -> list[str]:
        return [message.text for message in self.emulator.sent(PERSON) if message.text]

    def confirmed(self) -> int:
        return len(self.emulator.acks())

    def refuse_next(self, seconds: float) -> None:
        self.emulator.fault("retry_after", method="sendMessage", seconds=seconds, times=1)

    def lose_next(self) -> None:
        self.emulator.fault("accept_then_drop", method="sendMessage", times=1)

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.emulator.until(holds)

    async def restart(self) -> None:
        await self.channel.close()
        self.channel = self._made(self.emulator.url)

    def later(self, seconds: float) -> None:
        self.emulator.world.advance(seconds)

    def say_shuffled(self, texts: Sequence[str]) -> None:
        for text in texts:
            self.say(text)
        self.emulator.world.shuffle()

    def say_in_group(self, text: str, to_us: bool) -> None:
        self.emulator.inject(f"@{self.emulator.username} {text}" if to_us else text, chat=GROUP)

    def edit(self, text: str) -> None:
        self.emulator.people.edit(self.last["message_id"], text)

    def quote(self, text: str, quoted: str) -> None:
        before = {
            "message_id": 1,
            "date": 1,
            "chat": self.emulator.chat(PERSON).shown(),
            "text": quoted,
        }
        self.emulator.inject(text, reply_to_message=before)

    def press(self, data: str) -> None:
        self.emulator.people.press(data)

    def send_album(self, pictures: Sequence[bytes]) -> None:
        self.emulator.people.album(list(pictures), spread=0.05)

    def send_picture(self, data: bytes) -> None:
        self.emulator.people.picture(data)

    def send_file(self, name: str, data: bytes) -> None:
        self.emulator.people.file(name, data)

    def forget_files(self) -> None:
        self.emulator.people.forget_files()

    def move(self) -> str:
        self.emulator.people.migrate(GROUP, SUPERGROUP)
        return str(SUPERGROUP)

    def take_us_in(self) -> None:
        self.emulator.people.member(GROUP, "member")

    def odd(self) -> int:
        put_in, chat = self.emulator.world.put_in, self.emulator.chat(PERSON).shown()
        put_in({"poll": {"id": "1", "question": "?"}})
        put_in({"from_the_future": {"chat": chat}})
        put_in({"message": {"text": "no chat"}})
        put_in(
            {
                "message": {
                    "message_id": 9,
                    "date": "soon",
                    "chat": chat,
                    "from": {"id": PERSON},
                    "text": "no date",
                }
            }
        )
        put_in({"edited_message": []})
        put_in({"callback_query": {"id": 1}})
        put_in({"my_chat_member": {"chat": {"type": "group"}}})
        return 7

    def another_says(self, text: str) -> None:
        self.emulator.inject(text, user=OTHER)

    def another_sees(self) -> list[str]:
        return [message.text for message in self.emulator.sent(OTHER)]

    def files_seen(self) -> list[tuple[str, bytes]]:
        files = [
            self.emulator.world.files[seen.file] for seen in self.emulator.sent(PERSON) if seen.file
        ]
        return [(file.name, file.data) for file in files]

    def live(self) -> str:
        return self.emulator.world.draft(PERSON)

    def spoil(self, fault: Fault) -> None:
        if fault == "chat_gone":
            self.emulator.chat(PERSON, state="blocked")
        elif fault == "unreachable":
            with socket.socket() as unused:
                unused.bind(("127.0.0.1", 0))
                self.channel = self._made(f"http://127.0.0.1:{unused.getsockname()[1]}")
        else:
            rule = dict(SPOILT[fault])
            body = json.dumps({"ok": False, **rule.pop("body")}) if "body" in rule else ""
            self.emulator.fault(**rule, body=body, method="sendMessage", times=1)

    def flood(self, seconds: float) -> None:
        self.emulator.world.flood(seconds, chat=PERSON)

    async def cut(self, how: Cut) -> None:
        if how == "refused":
            await self.emulator.stop()
        else:
            self.emulator.fault("half_open" if how == "silent" else "html_502")
            self.emulator.cut()

    async def mend(self) -> None:
        self.emulator.clear_faults()
        if not self.emulator.serving:
            await self.emulator.start()

    def revoke(self) -> None:
        self.emulator.token = f"{self.emulator.bot_id}:another"

    async def rival(self) -> None:
        url = f"{self.emulator.url}/bot{self.emulator.token}/getUpdates"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            assert answer.status == 200

    def config(self) -> dict[str, Any]:
        return {"token": self.emulator.token, "base_url": self.emulator.url}


class TestTelegram(ChannelSuite):
    not_here: ClassVar = {
        "withdraw": "Telegram tells a bot of no deleted message",
        "keyed": "a send has no idempotency key",
        "expired_token": "a bot's token does not run out",
    }

    @pytest.fixture
    async def stage(self) -> AsyncIterator[TelegramStage]:
        async with TelegramEmulator(privacy=False) as emulator:
            stage = TelegramStage(emulator)
            yield stage
            await stage.channel.close()
