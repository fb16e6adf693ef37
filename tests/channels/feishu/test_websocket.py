"""The long connection: fragments, silence, refusals, and acknowledgement only after storing."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from channels.errors import ChannelError, LoggedOut, ReceiverConflict
from channels.feishu.channel import Feishu
from channels.feishu.frames import ack_frame, frame_headers, ping_frame, read_frame
from channels.feishu.settings import FeishuSettings
from channels.feishu.websocket import FragmentBuffer, LongConnection
from tests.channels.feishu.stage import FeishuStage
from tests.contracts.channel_stage import Inbox, eventually, listening
from tests.emulators.feishu import APP_ID, SECRET, FeishuEmulator
from tests.emulators.feishu_pb import Frame, decode

# Literals, so that the product is not compared with itself.
MOST_PIECES = 64


@pytest.fixture
async def emulator() -> AsyncIterator[FeishuEmulator]:
    async with FeishuEmulator() as served:
        yield served
        assert served.world.faults_of_client == []


@pytest.fixture
async def channel(emulator: FeishuEmulator) -> AsyncIterator[Feishu]:
    made = FeishuStage(emulator).channel
    yield made
    await made.close()


def piece(number: int, count: int, payload: bytes = b"x", id: str = "m1") -> Any:
    told = {"type": "event", "message_id": id, "sum": str(count), "seq": str(number)}
    return read_frame(Frame(service=7, method=1, headers=told, payload=payload).encode())


def test_frames_are_the_published_bytes() -> None:
    assert ping_frame(7).hex() == "08001000180720002a0c0a0474797065120470696e67"
    answer = decode(ack_frame(piece(0, 1), 12))
    assert (answer.payload, answer.headers["biz_rt"], answer.service, answer.method) == (
        b'{"code":200}',
        "12",
        7,
        1,
    )
    for broken in (b"", b"\x08", b"\xff" * 30, ping_frame(7)[:-3]):
        with pytest.raises(ValueError):
            read_frame(broken)


def test_pieces_are_joined_in_any_order_and_old_ones_dropped() -> None:
    pieces = FragmentBuffer()
    assert [
        pieces.add(piece(number, 3, b"abc"[number : number + 1]), 0.0) for number in (2, 0, 1)
    ] == [
        None,
        None,
        b"abc",
    ]
    assert pieces.add(piece(0, 2, b"a"), 1.0) is None
    assert pieces.add(piece(1, 2, b"b"), 12.0) is None, "the first came too long ago"
    assert pieces.add(piece(0, 2, b"a"), 13.0) == b"ab"
    for number, count in ((3, 3), (-1, 3), (0, MOST_PIECES + 1)):
        with pytest.raises(ValueError):
            pieces.add(piece(number, count), 0.0)
    with pytest.raises(ValueError):
        pieces.add(piece(0, 2, id=""), 0.0)


@pytest.mark.parametrize("count", [2, 5, 9])
async def test_an_event_in_pieces_is_one_message(
    emulator: FeishuEmulator, channel: Feishu, count: int
) -> None:
    inbox = Inbox()
    emulator.gateway.cut_into = count
    async with listening(channel, inbox):
        emulator.inject("in pieces 🙂" * 50)
        await emulator.until(lambda: len(emulator.acks()) == 1)
    assert inbox.texts == ["in pieces 🙂" * 50]


async def test_an_event_with_a_missing_piece_is_not_confirmed(
    emulator: FeishuEmulator, channel: Feishu
) -> None:
    inbox = Inbox()
    emulator.gateway.cut_into, emulator.gateway.keep_piece = 3, 1
    async with listening(channel, inbox):
        emulator.inject("not whole")
        await emulator.until(lambda: bool(emulator.world.pushes[0].sent_at))
        emulator.gateway.cut_into, emulator.gateway.keep_piece = 1, -1
        emulator.inject("whole")
        await inbox.until(1)
        assert inbox.texts == ["whole"]
        emulator.world.advance(18.1)
        await inbox.until(2)
    assert inbox.texts == ["whole", "not whole"]


async def test_i07_what_waits_together_is_stored_together_and_confirmed_in_time(
    emulator: FeishuEmulator, channel: Feishu
) -> None:
    inbox = Inbox()
    inbox.gate.clear()
    async with listening(channel, inbox):
        emulator.inject("first")
        await inbox.came.wait()
        for number in range(100):
            emulator.inject(f"number {number}")
        await emulator.until(lambda: all(push.sent_at for push in emulator.world.pushes))
        inbox.gate.set()
        await emulator.until(lambda: len(emulator.acks()) == 101)
    assert inbox.texts == ["first", *(f"number {number}" for number in range(100))]
    assert inbox.tried <= 4
    assert {push.tries for push in emulator.world.pushes} == {1}


async def test_a_platform_that_answers_no_ping_is_left(
    emulator: FeishuEmulator, channel: Feishu
) -> None:
    emulator.gateway.silent_pongs = True
    async with listening(channel, Inbox()):
        await emulator.until(lambda: emulator.gateway.opened == 2)
        emulator.gateway.silent_pongs = False
        await emulator.until(
            lambda: any(one.pings > 3 for one in emulator.gateway.connections.values())
        )
        assert channel.connection_status().trouble == ""


async def test_a_pong_may_change_how_often_we_ping(
    emulator: FeishuEmulator, channel: Feishu
) -> None:
    emulator.gateway.config["PingInterval"] = 0.05
    emulator.gateway.pong_config = {"PingInterval": 120}
    async with listening(channel, Inbox()):
        await emulator.until(
            lambda: any(one.pings > 1 for one in emulator.gateway.connections.values())
        )
        await asyncio.sleep(1)  # at the former pace there would be twenty more
        assert all(one.pings < 12 for one in emulator.gateway.connections.values())


async def test_closed_with_or_without_a_word_it_comes_back(
    emulator: FeishuEmulator, channel: Feishu
) -> None:
    inbox = Inbox()
    async with listening(channel, inbox):
        await emulator.until(lambda: emulator.gateway.opened == 1)
        await emulator.gateway.kick()
        await emulator.until(lambda: emulator.gateway.opened == 2)
        emulator.gateway.drop_all()
        await emulator.until(lambda: emulator.gateway.opened == 3)
        emulator.inject("still here?")
        await inbox.until(1)


async def test_stopped_it_is_gone_at_once_even_from_a_frozen_platform(
    emulator: FeishuEmulator, channel: Feishu
) -> None:
    async with listening(channel, Inbox()) as hearing:
        await emulator.until(lambda: len(emulator.gateway.connections) == 1)
        emulator.gateway.freeze()
        hearing.cancel()
        async with asyncio.timeout(3):
            await asyncio.gather(hearing, return_exceptions=True)


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (403, LoggedOut, "forbidden"),
        (514, LoggedOut, "authentication failed"),
        (1000040344, LoggedOut, "no credential"),
        (1000040350, ReceiverConflict, "other programs"),
        (77, ChannelError, "no address"),
    ],
)
async def test_an_endpoint_that_refuses_says_why(
    emulator: FeishuEmulator, channel: Feishu, code: int, error: type[ChannelError], words: str
) -> None:
    emulator.gateway.endpoint_code = code
    with pytest.raises(error, match=words) as refused:
        async with asyncio.timeout(10):
            await channel.run(Inbox())
    assert SECRET not in str(refused.value)


class Https:
    """A platform that is called over TLS and returns an address without it."""

    root = "https://open.example"

    async def endpoint(self) -> dict[str, Any]:
        return {"code": 0, "data": {"URL": "ws://127.0.0.1:1/ws?device_id=1&service_id=2&ticket=t"}}


async def test_what_is_called_over_tls_is_heard_over_tls() -> None:
    async def hear(payloads: object) -> None:
        raise AssertionError(payloads)

    with pytest.raises(ChannelError, match="without TLS") as refused:
        async with asyncio.timeout(10):
            await LongConnection(Https()).run(hear)  # type: ignore[arg-type]
    assert "ticket" not in str(refused.value)


@pytest.mark.parametrize("code", [1, 1000040343])
async def test_a_busy_endpoint_is_asked_again(
    emulator: FeishuEmulator, channel: Feishu, code: int
) -> None:
    async with listening(channel, Inbox()):
        await emulator.until(lambda: emulator.gateway.opened == 1)
        emulator.gateway.endpoint_code = code
        emulator.gateway.drop_all()
        await emulator.until(lambda: len(emulator.wire_log("/callback/ws/endpoint")) == 3)
        assert "busy" in channel.connection_status().trouble
        emulator.gateway.endpoint_code = 0
        await emulator.until(lambda: emulator.gateway.opened == 2)
        await eventually(lambda: channel.connection_status().trouble == "")


async def test_a_refused_handshake_names_the_limit(
    emulator: FeishuEmulator, channel: Feishu
) -> None:
    emulator.gateway.handshake = {
        "Handshake-Status": "514",
        "Handshake-Msg": "too many",
        "Handshake-Autherrcode": "1000040350",
    }
    with pytest.raises(ReceiverConflict):
        async with asyncio.timeout(10):
            await channel.run(Inbox())


async def test_a_handshake_that_is_refused_for_ever_needs_the_owner(
    emulator: FeishuEmulator, channel: Feishu
) -> None:
    emulator.gateway.handshake = {"Handshake-Status": "403", "Handshake-Msg": "forbidden"}
    with pytest.raises(LoggedOut):
        async with asyncio.timeout(10):
            await channel.run(Inbox())


def test_importing_the_channel_imports_no_library_and_using_it_not_the_sdk() -> None:
    program = (
        "import sys, json, channels.feishu.channel\n"
        "names = ('lark_oapi', 'websockets', 'httpx2', 'cryptography', 'google')\n"
        "first = [n for n in sys.modules if n.split('.')[0] in names]\n"
        "from channels.feishu.frames import ping_frame\n"
        "ping_frame(7)\n"
        "print(json.dumps([first, [n for n in sys.modules if n.startswith('lark_oapi')]]))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [[], []]


def test_settings_without_a_package_or_with_one() -> None:
    channel = Feishu(FeishuSettings(app_id=APP_ID, app_secret="s"))
    assert (channel.name, channel.account, channel.settings_type) == (
        "feishu",
        APP_ID,
        FeishuSettings,
    )
    assert frame_headers(piece(0, 1))["message_id"] == "m1"
