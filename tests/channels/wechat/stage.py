"""A WeChat channel before an emulator of its platform, logged in, as the contract and other tests
see it.
"""

import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from channels.message import Address, OutboundMessage
from channels.wechat.channel import Wechat
from channels.wechat.client import PollTiming
from channels.wechat.settings import WechatSettings
from channels.wechat.state import AccountState, ILinkCredentials
from tests.contracts.channel_stage import Cut, Fault, Pages
from tests.emulators.ilink import IlinkEmulator
from tests.emulators.ilink_world import PERSON, Json

OTHER = "def2@im.wechat"
QUICK = PollTiming(
    poll=2.0, grace=1.0, reply=3.0, pauses=(0.05, 0.05, 0.1), spacing=0.0, check=0.02
)
PLENTY = 1000  # messages for each one of a person's, where a test is not about their number


class WechatStage:
    """See channel_stage.Stage. The person has written once before, so that they can be answered."""

    redeliveries: Sequence[float] = (60, 86_400, 600_000)
    person, other_person = PERSON, OTHER

    def __init__(self, emulator: IlinkEmulator, notebook: Pages, allowance: int = PLENTY) -> None:
        self.emulator = emulator
        self.world = emulator.world
        self.notebook = notebook
        self.allowance = allowance
        self.channel = self._open()
        self.address = Address(channel="wechat", account=emulator.knobs.bot_id, chat_id=PERSON)

    def _open(self) -> Wechat:
        return open_channel(self.emulator, self.notebook, allowance=self.allowance)

    def say(self, text: str) -> None:
        self.world.say(text)

    def say_again(self) -> None:
        self.world.repeat()

    def say_shuffled(self, texts: Sequence[str]) -> None:
        stream = self.world.stream()
        start = len(stream)
        for text in texts:
            self.world.say(text)
        stream[start:] = random.Random(3).sample(stream[start:], len(texts))

    def another_says(self, text: str) -> None:
        self.world.say(text, OTHER)

    def quote(self, text: str, quoted: str) -> None:
        earlier = {"title": "earlier", "message_item": {"type": 1, "text_item": {"text": quoted}}}
        self.world.post(PERSON, [{"type": 1, "text_item": {"text": text}, "ref_msg": earlier}])

    def send_picture(self, data: bytes) -> None:
        self.world.attach(data, "image", "hex")

    def send_file(self, name: str, data: bytes) -> None:
        self.world.attach(data, file_name=name)

    def forget_files(self) -> None:
        self.world.files.clear()

    def odd(self) -> int:
        text: Json = {"type": 1, "text_item": {"text": "not for you"}}
        odd: list[tuple[list[Any], Json]] = [
            ([text], {"message_type": 2}),
            ([text], {"group_id": "g1"}),
            ([text], {"from_user_id": None}),
            ([text], {"seq": "soon"}),
            ([text], {"create_time_ms": 10**30}),
            ([{"type": 11, "tool_call_start_item": {"tool_name": "clock"}}], {}),
            ([{"type": 12}, {"type": 99}, {}], {}),
            ([{"type": 1, "text_item": 5}], {}),
            ([{"type": 1}], {}),
            (["words"], {}),
            ([], {"item_list": None}),
        ]
        for items, fields in odd:
            self.world.post(PERSON, items, **fields)
        return len(odd)

    def seen(self) -> list[str]:
        return [message.text for message in self.world.sent() if message.kind == "text"]

    def another_sees(self) -> list[str]:
        return [message.text for message in self.world.sent(OTHER)]

    def files_seen(self) -> list[tuple[str, bytes]]:
        return [
            (message.name, message.data) for message in self.world.sent() if message.kind != "text"
        ]

    def confirmed(self) -> int:
        return self.world.acks() - 1

    def refuse_next(self, seconds: float) -> None:
        headers = {"Retry-After": str(int(seconds))}
        self.emulator.fault("status", method="sendmessage", code=429, headers=headers, times=1)

    def lose_next(self) -> None:
        self.emulator.fault("accept_then_drop", method="sendmessage", times=1)

    def spoil(self, fault: Fault) -> None:
        rules: dict[str, tuple[Any, Json]] = {
            "html_502": ("html_502", {}),
            "status_500": ("status", {"code": 500, "body": "{}"}),
            "error_in_200": ("status", {"answers": {"ret": -1, "errmsg": "system error"}}),
            "empty_body": ("status", {"code": 200, "body": ""}),
            "cut_body": ("truncate", {"size": 1}),
            "reset": ("close_before_reply", {}),
            "no_answer": ("half_open", {}),
        }
        if fault == "unreachable":
            self.emulator.hang_up()
        else:
            action, rule = rules[fault]
            self.emulator.fault(action, method="sendmessage", times=1, **rule)

    def flood(self, seconds: float) -> None:
        self.world.person().blocked_until = self.world.now() + seconds

    async def cut(self, how: Cut) -> None:
        if how == "refused":
            self.emulator.hang_up()
        else:
            self.emulator.fault("half_open" if how == "silent" else "html_502")

    async def mend(self) -> None:
        self.emulator.clear_faults()
        await self.emulator.stop()
        await self.emulator.start()

    def revoke(self) -> None:
        self.world.expire_session()

    async def restart(self) -> None:
        await self.channel.close()
        self.channel = self._open()

    def later(self, seconds: float) -> None:
        self.world.advance(seconds)

    def config(self) -> Json:
        return {"enabled": True, "base_url": self.emulator.url, "cdn_url": self.emulator.cdn_url}

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.emulator.until(holds)


def open_channel(
    emulator: IlinkEmulator, notebook: Pages, timing: PollTiming = QUICK, allowance: int = PLENTY
) -> Wechat:
    """A channel of the emulator's, with its notebook."""
    settings = WechatSettings(base_url=emulator.url, cdn_url=emulator.cdn_url)
    channel = Wechat(settings, timing=timing, allowance=allowance)
    channel.bind(notebook)
    return channel


async def open_state(notebook: Pages) -> AccountState:
    """What a channel would read in the notebook."""
    state = AccountState()
    state.bind(notebook)
    await state.open()
    return state


async def log_in(emulator: IlinkEmulator, notebook: Pages) -> None:
    """Log in as an earlier process would have."""
    told = emulator.world.grant()
    token, bot, person = (told[name] for name in ("bot_token", "ilink_bot_id", "ilink_user_id"))
    state = await open_state(notebook)
    await state.store_login(
        ILinkCredentials(token=token, bot=bot, base=emulator.url, person=person)
    )


async def greet(emulator: IlinkEmulator, notebook: Pages) -> None:
    """Let the person have written to an earlier process, which stored message and cursor."""
    message = emulator.world.say("hello from before")
    answer = emulator.methods.updates(emulator.knobs.bot_id, "")
    assert answer is not None
    state = await open_state(notebook)
    await notebook.write(state.update([message], answer["get_updates_buf"], emulator.world.now()))
    emulator.methods.updates(emulator.knobs.bot_id, answer["get_updates_buf"])


@asynccontextmanager
async def staged(allowance: int = PLENTY) -> AsyncIterator[WechatStage]:
    """A stage of its own; at its end, the emulator must have refused nothing for its form."""
    async with IlinkEmulator() as emulator:
        emulator.knobs.burst, emulator.knobs.quota, emulator.knobs.hold = 0, allowance, 2.0
        notebook = Pages()
        await log_in(emulator, notebook)
        await greet(emulator, notebook)
        stage = WechatStage(emulator, notebook, allowance)
        yield stage
        await stage.channel.close()
        assert emulator.refusals() == []


def part(text: str = "hi", number: int = 0, **fields: Any) -> OutboundMessage:
    """One part of an answer to the person. fields: others of the message's."""
    address = Address(channel="wechat", account="bot9@im.bot", chat_id=PERSON)
    usual = {
        "id": f"o{number}",
        "address": address,
        "client_key": f"k{number}",
        "text": text,
        "part_no": number,
    }
    return OutboundMessage(**{**usual, **fields})
