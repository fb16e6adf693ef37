"""Bounded memory of channels: at the limit and one entry more, with all entries in use."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from channels.errors import Retryable
from channels.feishu.streaming import LiveCards as FeishuLive
from channels.message import Address, EventName, InboundMessage, LiveEvent, OutboundFile, Sender
from channels.wecom.channel import LiveStreams as WecomLive
from channels.wecom.connection import WecomTiming
from channels.wecom.messages import WecomMessage
from channels.wecom.state import AnswerableCall, WecomState
from tests.channels.wechat_mp.stage import mp_stage
from tests.contracts.channel_receiving import PNG

AT_ONCE = 10  # sends; all hundred would wait for a connection longer than an answer may take
DM = Address(channel="any", account="a", chat_id="c")


def event(name: EventName, number: int, text: str = "") -> LiveEvent:
    return LiveEvent(address=DM, name=name, message_id=f"m{number}", text=text)


async def within(seconds: float, moved: asyncio.Event, holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await moved.wait()
            moved.clear()


async def test_wecom_goes_on_to_show_an_answer_while_two_thousand_others_wait() -> None:
    put, moved = list[tuple[str, str]](), asyncio.Event()

    async def take(call: AnswerableCall, text: str) -> None:
        put.append((call.key, text))
        moved.set()

    live = WecomLive(take, WecomTiming(live=0.001, live_refresh=60.0))
    live.register("m0", AnswerableCall(key="k0", req_id="r0", at=0.0))
    live.handle(event("started", 0))
    for number in range(1, 2_002):
        live.register(f"m{number}", AnswerableCall(key=f"k{number}", req_id=f"r{number}", at=0.0))
    live.handle(event("delta", 0, "Hello"))
    await within(10, moved, lambda: ("k0", "Hello") in put)
    live.handle(event("started", 2_001))
    await within(10, moved, lambda: put[-1][0] == "k2001")
    await live.close()


async def test_wecom_settles_who_ends_a_stream_though_five_thousand_messages_came_meanwhile() -> (
    None
):
    state = WecomState()
    state.update([WecomMessage(message=message(0), req_id="r0", to="c")])
    call = state.call("k0")
    assert call is not None
    assert await state.claim(call, "first")
    claimed = state.call("k0")
    assert claimed is not None
    state.update(
        [
            WecomMessage(message=message(number), req_id=f"r{number}", to="c")
            for number in range(1, 5_001)
        ]
    )
    state.update([WecomMessage(message=message(5_001), req_id="r5001", to="c")])
    assert state.call("k0") is None
    assert [await state.claim(claimed, name) for name in ("first", "second")] == [True, False]
    assert all(state.call(f"k{number}") for number in range(2, 5_002))


def message(number: int) -> InboundMessage:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    return InboundMessage(
        address=DM, kind="dm", key=f"k{number}", sender=Sender(id="c"), text="x", sent_at=now
    )


async def test_feishu_goes_on_to_show_an_answer_while_a_thousand_others_are_written() -> None:
    shown, moved = list[str](), asyncio.Event()

    class Wire:
        async def call(
            self, method: str, path: str, json: Any = None, **more: Any
        ) -> dict[str, Any]:
            if path.endswith("/content"):
                shown.append(json["content"])
                moved.set()
            return {"code": 0, "data": {"card_id": "card"}}

    async def post(address: Address, source: str, body: dict[str, Any]) -> str:
        return "message"

    live = FeishuLive(Wire(), post)  # type: ignore[arg-type]
    live.show(event("delta", 0, "Hello"), "", True)
    await within(10, moved, lambda: shown == ["Hello"])
    for number in range(1, 1_001):
        live.show(event("started", number), "", True)
    live.show(event("delta", 0, " there"), "", True)
    await within(10, moved, lambda: len(shown) > 1)
    assert shown == ["Hello", "Hello there"]
    await live.close()


async def test_words_beside_pictures_are_said_once_though_a_hundred_and_one_pictures_need_another_attempt() -> (  # noqa: E501
    None
):
    async with mp_stage() as stage:
        world, picture = (
            stage.emulator.world,
            OutboundFile(name="x.png", media_type="image/png", data=PNG, picture=True),
        )
        people = [f"o_{number}" for number in range(101)]
        for person in people:
            world.person(person).written = [world.now() + 48 * 3600, world.allowed]
            busy = '{"errcode":-1,"errmsg":"busy"}'
            stage.emulator.fault(
                "status", method="message/custom/send", chat=person, nth=2, code=200, body=busy
            )
        parts = [
            replace(
                stage.part("look", file=picture),
                address=replace(DM, chat_id=person),
                client_key=person,
            )
            for person in people
        ]
        few = [parts[at : at + AT_ONCE] for at in range(0, len(parts), AT_ONCE)]
        for some in few:
            first = await asyncio.gather(*map(stage.channel.send, some), return_exceptions=True)
            assert {type(one) for one in first} == {Retryable}
        for some in few:
            await asyncio.gather(*map(stage.channel.send, some))
        assert {person: world.sent(person) for person in people} == {
            person: ["look"] for person in people
        }
        assert {person: world.pictures(person) for person in people} == {
            person: [PNG] for person in people
        }
