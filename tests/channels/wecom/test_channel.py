"""A WeCom bot on its emulator: replies, live text, stored state, and failing connections."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from channels.errors import (
    Ambiguous,
    ChannelError,
    LoggedOut,
    ReceiverConflict,
    Rejected,
    Retryable,
)
from channels.message import Address, InboundMessage, LiveEvent, OutboundMessage
from channels.wecom import state
from channels.wecom.channel import Wecom
from channels.wecom.connection import WecomTiming, run_until_first
from channels.wecom.settings import WecomSettings
from tests.contracts.channel_stage import Inbox, Pages, eventually, listening
from tests.emulators.wecom import WecomEmulator
from tests.emulators.wecom_world import Seen

# Literals, so that the product is not compared with itself.
LIMIT = 20_480
MARK = "（可能重复 / possibly repeated）\n"

QUICK = WecomTiming(
    connect=5,
    ping=30,
    pong=2,
    reply=2,
    upload=5,
    first_pause=0.02,
    max_pause=0.1,
    rate_limit=60,
    live=0.02,
    live_refresh=60,
)


class Lab:
    """An emulator, a notebook, an inbox, and a channel that can be restarted."""

    def __init__(self, emulator: WecomEmulator, timing: WecomTiming = QUICK) -> None:
        self.emulator, self.world, self.timing = emulator, emulator.world, timing
        self.notebook = Pages()
        self.inbox = Inbox(notebook=self.notebook)
        self.channel = self.new()

    def new(self, **settings: str) -> Wecom:
        given = {
            "bot_id": self.world.bot_id,
            "secret": "secret-of-the-lab",
            "ws_url": self.emulator.ws_url,
        }
        channel = Wecom(WecomSettings(**{**given, **settings}), timing=self.timing)
        channel.bind(self.notebook)
        return channel

    async def restart(self) -> None:
        await self.channel.close()
        self.channel = self.new()

    async def asked(self, text: str = "hello", **who: str) -> InboundMessage:
        """Somebody has written, and it is stored."""
        count = len(self.inbox.stored)
        self.world.inject(text, **who)
        return (await self.inbox.until(count + 1))[-1]

    def answer(
        self, text: str, asked: InboundMessage | None = None, number: int = 0, **more: Any
    ) -> OutboundMessage:
        address = Address(channel="wecom", account=self.world.bot_id, chat_id="ada")
        message = OutboundMessage(
            id="o", address=address, client_key=f"k{number}", text=text, part_no=number
        )
        if asked is not None:
            message = replace(
                message, address=asked.address, reply_to=asked.key, reply_to_key=asked.key
            )
        return replace(message, **more)

    def show(self, asked: InboundMessage, name: str, text: str = "", **facts: Any) -> None:
        event = LiveEvent(
            address=asked.address, name=name, message_id=asked.key, text=text, facts=facts
        )  # type: ignore[arg-type]
        self.channel.show(event)

    def seen(self, chat: str = "ada") -> list[str]:
        return [one.text for one in self.world.sent(chat)]

    async def live(self, holds: Callable[[Seen], bool]) -> None:
        await self.emulator.until(lambda: any(holds(one) for one in self.world.live()))


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    async with WecomEmulator() as emulator:
        made = Lab(emulator)
        yield made
        await made.channel.close()


@asynccontextmanager
async def hearing(lab: Lab) -> AsyncIterator[InboundMessage]:
    """The channel is running, and Ada has said hello."""
    async with listening(lab.channel, lab.inbox):
        yield await lab.asked()


# -- answers
# ----------------------------------------------------------------------------------------


async def test_an_answer_bears_the_request_id_of_what_it_answers(lab: Lab) -> None:
    async with hearing(lab) as asked:
        receipt = await lab.channel.send(lab.answer("hi", asked))
    (frame,) = lab.emulator.wire_log("aibot_respond_msg")
    assert frame["headers"]["req_id"] == lab.world.given[0]["headers"]["req_id"]
    assert frame["body"]["stream"] == {"id": receipt.platform_id, "finish": True, "content": "hi"}


async def test_the_parts_of_an_answer_are_streams_of_their_own(lab: Lab) -> None:
    async with hearing(lab) as asked:
        for number, text in enumerate(("one", "two", "three")):
            await lab.channel.send(lab.answer(text, asked, number, parts=3))
    assert lab.seen() == ["one", "two", "three"]


async def test_a_request_id_is_known_after_a_restart(lab: Lab) -> None:
    async with hearing(lab) as asked:
        pass
    await lab.restart()
    await lab.channel.send(lab.answer("late", asked))
    assert lab.seen() == ["late"]
    assert not lab.emulator.wire_log("aibot_send_msg")


async def test_what_can_be_answered_no_more_gets_a_message_of_its_own(lab: Lab) -> None:
    async with hearing(lab) as asked:
        lab.world.advance(25 * 3600)
        await lab.channel.send(lab.answer("late", asked))
    assert [one.kind for one in lab.world.sent()] == ["markdown"]
    assert lab.seen() == ["late"]


@pytest.mark.parametrize("code", [846605, 846608])
async def test_a_refused_stream_is_sent_as_a_message_at_once(lab: Lab, code: int) -> None:
    async with hearing(lab) as asked:
        lab.emulator.fault("errcode", cmd="aibot_respond", code=code)
        await lab.channel.send(lab.answer("anyway", asked))
    assert [(one.kind, one.text) for one in lab.world.sent()] == [("markdown", "anyway")]


async def test_a_message_that_may_have_arrived_says_so_and_is_sent_twice_at_most(lab: Lab) -> None:
    async with hearing(lab):
        for _ in range(2):
            lab.emulator.fault("accept_then_close", cmd="aibot_send")
            with pytest.raises(Ambiguous):
                await lab.channel.send(lab.answer("perhaps"))
        with pytest.raises(Rejected):
            await lab.channel.send(lab.answer("perhaps"))
    assert lab.seen() == ["perhaps", f"{MARK}perhaps"]


async def test_an_unknown_outcome_is_known_after_a_restart(lab: Lab) -> None:
    async with hearing(lab):
        lab.emulator.fault("accept_then_close", cmd="aibot_send")
        with pytest.raises(Ambiguous):
            await lab.channel.send(lab.answer("perhaps"))
    await lab.restart()
    await lab.channel.send(lab.answer("perhaps"))
    assert lab.seen() == ["perhaps", f"{MARK}perhaps"]


async def test_a_stream_that_may_have_arrived_and_is_closed_is_marked_when_sent_as_a_message(
    lab: Lab,
) -> None:
    async with hearing(lab) as asked:
        lab.emulator.fault("accept_then_close", cmd="aibot_respond")
        with pytest.raises(Ambiguous):
            await lab.channel.send(lab.answer("perhaps", asked))
        lab.world.replace_finished = False
        await lab.channel.send(lab.answer("perhaps", asked))
    assert lab.seen() == ["perhaps", f"{MARK}perhaps"]


async def test_what_surely_did_not_arrive_is_not_marked(lab: Lab) -> None:
    async with hearing(lab):
        lab.emulator.fault("errcode", cmd="aibot_send", code=45009)
        with pytest.raises(Retryable):
            await lab.channel.send(lab.answer("now"))
        await lab.channel.send(lab.answer("now"))
    assert lab.seen() == ["now"]


async def test_a_sent_part_is_not_sent_again_even_after_a_restart(lab: Lab) -> None:
    async with hearing(lab):
        first = await lab.channel.send(lab.answer("once"))
    await lab.restart()
    assert await lab.channel.send(lab.answer("once")) == first
    assert lab.seen() == ["once"]


async def test_an_answer_that_comes_late_is_not_taken_for_the_next() -> None:
    async with WecomEmulator() as emulator:
        lab = Lab(emulator, replace(QUICK, late=10))
        async with hearing(lab) as asked:
            emulator.fault("errcode", cmd="aibot_respond", code=45009, skip=1)
            emulator.half_open = True
            with pytest.raises(Ambiguous):
                await lab.channel.send(lab.answer("slow", asked))
            emulator.half_open = False
            lab.world.notify()
            with pytest.raises(Retryable):
                await lab.channel.send(lab.answer("another", asked, 1))
        assert lab.seen() == ["slow"]
        await lab.channel.close()


async def test_a_connection_that_is_not_subscribed_is_reopened_and_the_send_repeated(
    lab: Lab,
) -> None:
    async with hearing(lab) as asked:
        lab.emulator.fault("errcode", cmd="aibot_respond", code=846609)
        await lab.channel.send(lab.answer("still", asked))
    assert lab.seen() == ["still"]
    assert len(lab.emulator.wire_log("aibot_subscribe")) == 2


async def test_a_person_is_written_to_as_they_are_spelled(lab: Lab) -> None:
    async with listening(lab.channel, lab.inbox):
        asked = await lab.asked(user="Ada.Lovelace")
    await lab.restart()
    await lab.channel.send(lab.answer("hi", replace(asked), reply_to_key=""))
    assert asked.address.chat_id == "ada.lovelace"
    assert lab.seen("Ada.Lovelace") == ["hi"]


async def test_more_than_a_chat_takes_is_waited_out(lab: Lab) -> None:
    async with hearing(lab):
        for number in range(30):
            await lab.channel.send(lab.answer("x", None, number))
        with pytest.raises(Retryable) as refused:
            await lab.channel.send(lab.answer("x", None, 30))
        assert refused.value.retry_after == 60
        lab.world.advance(61)
        await lab.channel.send(lab.answer("x", None, 30))
    assert len(lab.seen()) == 31


# -- live text
# --------------------------------------------------------------------------------------


async def test_live_text_is_always_the_whole_so_far_and_the_answer_ends_it(lab: Lab) -> None:
    async with hearing(lab) as asked:
        lab.show(asked, "started")
        await lab.live(lambda one: one.text == "…")
        for piece in ("Hel", "lo", ", wor"):
            lab.show(asked, "delta", piece)
        await lab.live(lambda one: one.text == "Hello, wor")
        await lab.channel.send(lab.answer("Hello, world.", asked))
    assert [(one.text, one.finished) for one in lab.world.seen] == [("Hello, world.", True)]


async def test_nothing_is_shown_any_more_once_the_answer_is_there() -> None:
    async with WecomEmulator() as emulator:
        lab = Lab(emulator, replace(QUICK, live_refresh=0.01, live=0.01))
        async with hearing(lab) as asked:
            lab.show(asked, "delta", "half")
            await lab.live(lambda one: one.packets > 3)
            await lab.channel.send(lab.answer("whole", asked))
            lab.show(asked, "delta", "too late")
            for number in range(1, 6):
                await lab.channel.send(lab.answer("next", await lab.asked(), number))
        ends = [
            frame["body"]["stream"]["finish"] for frame in emulator.wire_log("aibot_respond_msg")
        ]
        assert ends == sorted(ends)
        assert lab.seen()[0] == "whole"
        await lab.channel.close()


async def test_after_a_tool_and_after_a_restart_of_the_answer_the_text_is_replaced(
    lab: Lab,
) -> None:
    async with hearing(lab) as asked:
        lab.show(asked, "delta", "Let me look.")
        await lab.live(lambda one: one.text == "Let me look.")
        lab.show(asked, "tool_started", tool="clock")
        lab.show(asked, "delta", "It is ni")
        await lab.live(lambda one: one.text == "It is ni")
        lab.show(asked, "delta", "", whole=True)
        lab.show(asked, "delta", "It is ten.")
        await lab.live(lambda one: one.text == "It is ten.")


async def test_a_long_live_text_is_shown_up_to_the_limit(lab: Lab) -> None:
    async with hearing(lab) as asked:
        lab.show(asked, "delta", "字" * LIMIT)
        await lab.live(lambda one: len(one.text.encode()) > LIMIT - 3)


async def test_a_refused_packet_ends_the_showing_and_not_the_answer(lab: Lab) -> None:
    async with hearing(lab) as asked:
        lab.emulator.fault("errcode", cmd="aibot_respond", code=45009)
        lab.show(asked, "started")
        await lab.emulator.until(lambda: len(lab.emulator.wire_log("aibot_respond_msg")) == 1)
        lab.show(asked, "delta", "more")
        await lab.channel.send(lab.answer("all", asked))
    assert lab.seen() == ["all"]


async def test_a_silent_stream_is_renewed_before_it_ends() -> None:
    async with WecomEmulator() as emulator:
        lab = Lab(emulator, replace(QUICK, live_refresh=0.05))
        async with hearing(lab) as asked:
            lab.show(asked, "delta", "thinking")
            await lab.live(lambda one: one.packets > 3)
            await lab.channel.send(lab.answer("done", asked))
        assert lab.seen() == ["done"]
        await lab.channel.close()


async def test_an_answer_after_the_platform_ended_its_stream_is_a_message(lab: Lab) -> None:
    async with hearing(lab) as asked:
        lab.show(asked, "delta", "half")
        await lab.live(lambda one: one.text == "half")
        lab.world.advance(700)
        await lab.channel.send(lab.answer("whole", asked))
    assert lab.seen() == ["whole"]


async def test_events_of_unknown_messages_show_nothing(lab: Lab) -> None:
    async with hearing(lab) as asked:
        lab.show(replace(asked, key="another"), "delta", "x")
        await lab.channel.send(lab.answer("hi", asked))
    assert [one.packets for one in lab.world.seen] == [1]


# -- hearing
# ----------------------------------------------------------------------------------------


async def test_callbacks_received_while_not_running_are_delivered_after_a_restart(lab: Lab) -> None:
    async with hearing(lab):
        pass
    lab.world.inject("while you were away")
    await eventually(lambda: [name for name in lab.notebook.values if name.startswith("unheard:")])
    await lab.restart()
    async with listening(lab.channel, lab.inbox):
        await lab.inbox.until(2)
        await eventually(
            lambda: not [name for name in lab.notebook.values if name.startswith("unheard:")]
        )
    assert lab.inbox.texts == ["hello", "while you were away"]


async def test_what_is_held_is_held_until_it_is_stored(lab: Lab) -> None:
    """Also when the next run ends before they could be stored."""
    await lab.notebook.write({"unheard:1": json.dumps(lab.world.inject("held"))})
    lab.world.pending.clear()
    broken = Inbox([OSError("disk full")] * 1000, lab.notebook)
    async with listening(lab.channel, broken):
        await eventually(lambda: broken.tried)
    async with listening(lab.channel, lab.inbox):
        await lab.inbox.until(1)
    assert lab.inbox.texts == ["held"]
    assert list(lab.notebook.values) == [f"req:{lab.inbox.stored[0].key}"]


async def test_callbacks_not_stored_when_run_ended_are_kept(lab: Lab) -> None:
    stuck = Inbox(notebook=lab.notebook)
    stuck.gate.clear()
    async with listening(lab.channel, stuck):
        lab.world.inject("keep me")
        await asyncio.wait_for(stuck.came.wait(), 10)
    await lab.restart()
    async with listening(lab.channel, lab.inbox):
        await lab.inbox.until(1)
    assert lab.inbox.texts == ["keep me"]


async def test_replies_are_sent_after_run_has_ended(lab: Lab) -> None:
    async with hearing(lab) as asked:
        pass
    await lab.channel.send(lab.answer("goodbye", asked))
    assert lab.seen() == ["goodbye"]
    assert len(lab.emulator.wire_log("aibot_subscribe")) == 1


async def test_pings_and_replies_go_on_while_nothing_can_be_stored() -> None:
    async with WecomEmulator() as emulator:
        lab = Lab(emulator, replace(QUICK, ping=0.05))
        lab.inbox.gate.clear()
        async with listening(lab.channel, lab.inbox):
            lab.world.inject()
            await asyncio.wait_for(lab.inbox.came.wait(), 10)
            before = len(emulator.wire_log("ping"))
            await emulator.until(lambda: len(emulator.wire_log("ping")) > before + 2)
            await lab.channel.send(lab.answer("meanwhile"))
            lab.inbox.gate.set()
            await lab.inbox.until(1)
        assert lab.seen() == ["meanwhile"]
        await lab.channel.close()


async def test_strangers_who_only_look_in_get_no_word(lab: Lab) -> None:
    async with hearing(lab):
        lab.world.event("enter_chat", user="stranger")
        await lab.asked("next")
    assert lab.world.seen == []


async def test_the_notebook_does_not_grow_without_limit(lab: Lab) -> None:
    known = state.WecomState()
    known.bind(lab.notebook)
    old = state.AnswerableCall(key="old", req_id="r", at=1.0)
    lab.notebook.values = {
        "req:old": state._dump_value(old),
        "try:k": state._dump_value(state.SendAttempts(at=1.0)),
    }
    await known.open()
    assert known.call("old") is None
    assert known.update([]) == {"req:old": ""}
    async with known.attempt("new", "r", keyless=True):
        pass
    assert [name for name in lab.notebook.values if name.startswith("try:")] == ["try:new"]


# -- the connection
# ---------------------------------------------------------------------------------


async def test_a_wrong_secret_is_the_owners_matter(lab: Lab) -> None:
    channel = lab.new(secret="wrong")
    with pytest.raises(LoggedOut, match="bot_id and secret"):
        await channel.run(lab.inbox)
    with pytest.raises(LoggedOut):
        await channel.send(lab.answer("x"))
    await channel.close()


async def test_the_program_that_takes_the_bot_keeps_it(lab: Lab) -> None:
    async with listening(lab.channel, lab.inbox) as ear:
        asked = await lab.asked()
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(lab.emulator.ws_url) as rival,
        ):
            body = {"bot_id": lab.world.bot_id, "secret": lab.emulator.secret}
            await rival.send_json(
                {"cmd": "aibot_subscribe", "headers": {"req_id": "1"}, "body": body}
            )
            assert (await rival.receive_json())["errcode"] == 0
            with pytest.raises(ReceiverConflict):
                await ear
            with pytest.raises(ReceiverConflict):
                await lab.channel.run(lab.inbox)
            with pytest.raises(Retryable) as refused:
                await lab.channel.send(lab.answer("x", asked))
            assert refused.value.whole_channel
    assert len(lab.emulator.wire_log("aibot_subscribe")) == 2


@pytest.mark.parametrize("known", [ReceiverConflict("taken"), LoggedOut("refused")])
async def test_of_two_errors_at_once_the_one_for_the_owner_is_raised(known: ChannelError) -> None:
    async def fails(error: Exception) -> None:
        raise error

    for errors in ([known, OSError("hung up")], [OSError("hung up"), known]):
        with pytest.raises(type(known)):
            await run_until_first(*(fails(error) for error in errors))


async def test_ten_connections_in_a_row_that_fail_are_enough(lab: Lab) -> None:
    lab.emulator.refusing = True
    with pytest.raises(ChannelError, match="after 10 tries"):
        await lab.channel.run(lab.inbox)
    assert lab.emulator.refused == 10
    lab.emulator.refusing = False
    async with hearing(lab) as asked:
        assert asked.text == "hello"


async def test_a_connection_that_answers_no_ping_is_thrown_away() -> None:
    async with WecomEmulator() as emulator:
        lab = Lab(emulator, replace(QUICK, ping=0.05, pong=0.1))
        async with hearing(lab):
            emulator.fault("drop", cmd="ping", times=2)
            await emulator.until(lambda: len(emulator.wire_log("aibot_subscribe")) > 1)
            await lab.asked("again")
        assert lab.inbox.texts == ["hello", "again"]
        await lab.channel.close()


async def test_a_refused_ping_makes_a_new_connection() -> None:
    async with WecomEmulator() as emulator:
        lab = Lab(emulator, replace(QUICK, ping=0.05))
        async with hearing(lab):
            emulator.fault("errcode", cmd="ping", code=40058)
            await emulator.until(lambda: len(emulator.wire_log("aibot_subscribe")) > 1)
            await lab.asked("again")
        await lab.channel.close()


async def test_one_missed_ping_is_forgiven() -> None:
    async with WecomEmulator() as emulator:
        lab = Lab(emulator, replace(QUICK, ping=0.05, pong=2))
        async with hearing(lab):
            emulator.fault("drop", cmd="ping", times=1)
            seen = len(emulator.wire_log("ping"))
            await emulator.until(lambda: len(emulator.wire_log("ping")) > seen + 3)
        assert len(emulator.wire_log("aibot_subscribe")) == 1
        await lab.channel.close()


def test_a_dead_connection_is_detected_and_reopened_within_90_seconds() -> None:
    usual = WecomTiming()
    assert usual.ping + 2 * usual.pong + usual.first_pause + usual.connect < 90


async def test_a_bot_that_is_busy_subscribing_is_tried_again(lab: Lab) -> None:
    lab.emulator.fault("errcode", cmd="aibot_subscribe", code=846601)
    async with hearing(lab) as asked:
        assert asked.text == "hello"


async def test_vitals_tell_of_trouble_and_of_its_end(lab: Lab) -> None:
    async with hearing(lab):
        assert lab.channel.connection_status().trouble == ""
        assert lab.channel.connection_status().last_contact > 0
        lab.emulator.refusing = True
        lab.emulator.cut()
        await eventually(lambda: lab.channel.connection_status().trouble)
        lab.emulator.refusing = False
        await eventually(lambda: not lab.channel.connection_status().trouble)


async def test_a_probe_evicts_no_other_connection(lab: Lab) -> None:
    async with hearing(lab):
        assert "can be reached" in await lab.new().probe()
        assert "connected" in await lab.channel.probe()
        await lab.asked("still here")
    await lab.emulator.stop()
    with pytest.raises(ChannelError, match="cannot be reached"):
        await lab.new().probe()
