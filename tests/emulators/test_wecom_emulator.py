"""The WeCom emulator is as strict as the platform: what it refuses, what it forgets, and by what it
judges.
"""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.emulators.wecom import SECRET, WRONG_SECRET, WecomEmulator


class Client:
    """A bare client: sends what it is told, and keeps callbacks and answers apart."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.callbacks: list[dict[str, Any]] = []

    async def ask(self, cmd: str, body: Any = None, req_id: str = "1") -> dict[str, Any]:
        await self.socket.send_json({"cmd": cmd, "headers": {"req_id": req_id}, "body": body})
        while "cmd" in (frame := await self.socket.receive_json(timeout=5)):
            self.callbacks.append(frame)
        assert frame["headers"]["req_id"] == req_id
        return frame

    async def subscribe(self, secret: str = SECRET) -> int:
        code: int = (await self.ask("aibot_subscribe", {"bot_id": "aib-lab", "secret": secret}))[
            "errcode"
        ]
        return code

    async def callback(self) -> dict[str, Any]:
        if not self.callbacks:
            self.callbacks.append(await self.socket.receive_json(timeout=5))
        return self.callbacks.pop(0)

    async def stream(self, req_id: str, id: str, text: Any, finish: Any = False) -> int:
        body = {"msgtype": "stream", "stream": {"id": id, "finish": finish, "content": text}}
        code: int = (await self.ask("aibot_respond_msg", body, req_id))["errcode"]
        return code

    async def say(self, chatid: str, text: str) -> int:
        body = {"chatid": chatid, "msgtype": "markdown", "markdown": {"content": text}}
        code: int = (await self.ask("aibot_send_msg", body))["errcode"]
        return code


@pytest.fixture
async def emulator() -> AsyncIterator[WecomEmulator]:
    async with WecomEmulator() as emulator:
        yield emulator


@pytest.fixture
async def client(emulator: WecomEmulator) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session, session.ws_connect(emulator.ws_url) as socket:
        yield Client(socket)


async def test_only_the_right_secret_subscribes(client: Client) -> None:
    assert await client.subscribe("wrong") == WRONG_SECRET
    assert (await client.socket.receive(timeout=5)).type is aiohttp.WSMsgType.CLOSE


async def test_nothing_works_before_subscribing_but_a_ping(client: Client) -> None:
    assert await client.say("ada", "x") == 846609
    assert (await client.ask("ping"))["errcode"] == 0


async def test_messages_come_to_whoever_has_subscribed_also_those_of_before(
    emulator: WecomEmulator, client: Client
) -> None:
    emulator.world.inject("early")
    assert await client.subscribe() == 0
    frame = await client.callback()
    assert frame["cmd"] == "aibot_msg_callback"
    assert frame["body"]["text"] == {"content": "early"}
    assert "chatid" not in frame["body"]
    emulator.world.inject("hi", user="bo", group="wr-1")
    body = (await client.callback())["body"]
    assert (body["chatid"], body["text"]["content"]) == ("wr-1", "@Bot hi")


async def test_what_nobody_answered_may_come_again(emulator: WecomEmulator, client: Client) -> None:
    emulator.world.redeliver = True
    await client.subscribe()
    answered, unanswered = emulator.world.inject("one"), emulator.world.inject("two")
    await client.stream(answered["headers"]["req_id"], "s", "x", True)
    async with aiohttp.ClientSession() as session, session.ws_connect(emulator.ws_url) as socket:
        other = Client(socket)
        await other.subscribe()
        assert await other.callback() == unanswered


async def test_a_second_subscription_ends_the_first(
    emulator: WecomEmulator, client: Client
) -> None:
    await client.subscribe()
    async with aiohttp.ClientSession() as session, session.ws_connect(emulator.ws_url) as socket:
        assert await Client(socket).subscribe() == 0
        assert (await client.callback())["body"]["event"]["eventtype"] == "disconnected_event"
        assert (await client.socket.receive(timeout=5)).type is aiohttp.WSMsgType.CLOSE


async def test_a_stream_is_one_message_that_the_last_packet_replaces(
    emulator: WecomEmulator, client: Client
) -> None:
    await client.subscribe()
    req_id = emulator.world.inject()["headers"]["req_id"]
    for text in ("Hel", "Hello", "Hello."):
        assert await client.stream(req_id, "s", text) == 0
    assert [one.text for one in emulator.world.live()] == ["Hello."]
    assert await client.stream(req_id, "s", "Hello.", True) == 0
    assert await client.stream(req_id, "t", "another", True) == 0
    assert [one.text for one in emulator.world.sent()] == ["Hello.", "another"]


@pytest.mark.parametrize(
    ("id", "text", "finish"), [("", "x", True), ("s", 1, True), ("s", "x", 1), (1, "x", True)]
)
async def test_a_malformed_stream_is_refused(
    emulator: WecomEmulator, client: Client, id: Any, text: Any, finish: Any
) -> None:
    await client.subscribe()
    assert (
        await client.stream(emulator.world.inject()["headers"]["req_id"], id, text, finish) == 40058
    )


async def test_limits_are_in_bytes(emulator: WecomEmulator, client: Client) -> None:
    await client.subscribe()
    req_id = emulator.world.inject()["headers"]["req_id"]
    assert await client.stream(req_id, "s", "字" * 6826) == 0
    assert await client.stream(req_id, "s", "字" * 6827) == 40058
    assert await client.say("ada", "") == 40058


@pytest.mark.parametrize(("quiet", "code"), [(359, 0), (361, 846608)])
async def test_a_stream_left_alone_ends(
    emulator: WecomEmulator, client: Client, quiet: int, code: int
) -> None:
    await client.subscribe()
    req_id = emulator.world.inject()["headers"]["req_id"]
    await client.stream(req_id, "s", "x")
    emulator.world.advance(quiet)
    assert await client.stream(req_id, "s", "y", True) == code


async def test_a_stream_ends_after_ten_minutes_whatever_comes(
    emulator: WecomEmulator, client: Client
) -> None:
    await client.subscribe()
    req_id = emulator.world.inject()["headers"]["req_id"]
    codes = []
    for _ in range(4):
        codes.append(await client.stream(req_id, "s", "x"))
        emulator.world.advance(250)
    assert codes == [0, 0, 0, 846608]


async def test_request_ids_are_those_of_messages_and_last_a_day(
    emulator: WecomEmulator, client: Client
) -> None:
    await client.subscribe()
    assert await client.stream("never", "s", "x") == 846605
    event = emulator.world.event("enter_chat")["headers"]["req_id"]
    assert await client.stream(event, "s", "x") == 846605
    req_id = emulator.world.inject()["headers"]["req_id"]
    emulator.world.advance(25 * 3600)
    assert await client.stream(req_id, "s", "x") == 846605


async def test_only_chats_that_are_known_are_written_to(
    emulator: WecomEmulator, client: Client
) -> None:
    await client.subscribe()
    assert await client.say("ada", "x") == 93006
    emulator.world.inject()
    assert await client.say("ada", "x") == 0
    emulator.world.gone.add("ada")
    assert await client.say("ada", "x") == 93006


async def test_thirty_a_minute_and_a_thousand_an_hour(
    emulator: WecomEmulator, client: Client
) -> None:
    await client.subscribe()
    emulator.world.inject()
    for minute in range(34):
        codes = [await client.say("ada", "x") for _ in range(31)]
        assert codes[-1] == 45009
        assert codes[0] == (45009 if minute == 34 else 0)
        emulator.world.advance(61)
    assert len(emulator.world.sent()) == 1000


async def test_an_upload_is_checked_piece_by_piece_and_as_a_whole(
    emulator: WecomEmulator, client: Client
) -> None:
    await client.subscribe()
    emulator.world.inject()
    data = b"tide" * 200_000
    pieces = [data[:524_288], data[524_288:]]
    begin = {"type": "file", "filename": "t.bin", "total_size": len(data), "total_chunks": 2}

    async def uploaded(md5: str, numbers: tuple[int, ...]) -> dict[str, Any]:
        begun = await client.ask("aibot_upload_media_init", {**begin, "md5": md5})
        for number in numbers:
            piece = base64.b64encode(pieces[number]).decode()
            told = {
                "upload_id": begun["body"]["upload_id"],
                "chunk_index": number,
                "base64_data": piece,
            }
            assert (await client.ask("aibot_upload_media_chunk", told))["errcode"] == 0
        return await client.ask(
            "aibot_upload_media_finish", {"upload_id": begun["body"]["upload_id"]}
        )

    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    assert (await uploaded(md5, (0,)))["errcode"] == 40058
    assert (await uploaded("0" * 32, (0, 1)))["errcode"] == 40058
    media_id = (await uploaded(md5, (1, 0)))["body"]["media_id"]
    body = {"chatid": "ada", "msgtype": "file", "file": {"media_id": media_id}}
    assert (await client.ask("aibot_send_msg", body))["errcode"] == 0
    assert emulator.world.sent()[-1].file == ("t.bin", data)
    as_picture = {"chatid": "ada", "msgtype": "image", "image": {"media_id": media_id}}
    assert (await client.ask("aibot_send_msg", as_picture))["errcode"] == 40058


async def test_a_card_is_checked_and_pressed(emulator: WecomEmulator, client: Client) -> None:
    await client.subscribe()
    emulator.world.inject()
    await client.callback()
    card = {"card_type": "button_interaction", "main_title": {"title": "?"}, "task_id": "t1"}
    body = {"chatid": "ada", "msgtype": "template_card", "template_card": card}
    assert (await client.ask("aibot_send_msg", body))["errcode"] == 40058
    card["button_list"] = [{"text": "Yes", "key": "allow"}]
    assert (await client.ask("aibot_send_msg", body))["errcode"] == 0
    emulator.world.press("allow")
    event = (await client.callback())["body"]["event"]
    assert event["template_card_event"]["event_key"] == "allow"
    assert event["template_card_event"]["task_id"] == "t1"


async def test_faults_come_as_asked_for(emulator: WecomEmulator, client: Client) -> None:
    await client.subscribe()
    emulator.world.inject()
    await client.callback()
    emulator.fault("errcode", cmd="aibot_send", code=846601)
    assert await client.say("ada", "1") == 846601
    emulator.fault("accept_then_drop", cmd="aibot_send")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.say("ada", "2"), 0.2)
    assert [one.text for one in emulator.world.sent()] == ["2"]


async def test_it_is_ruled_over_http_too(emulator: WecomEmulator, client: Client) -> None:
    await client.subscribe()
    control = f"http://127.0.0.1:{emulator.port}/_ctl"
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{control}/inject", json={"text": "over http"}) as reply:
            assert (await reply.json())["body"]["text"] == {"content": "over http"}
        assert await client.say("ada", "seen") == 0
        async with session.get(f"{control}/sent") as reply:
            assert [one["text"] for one in json.loads(await reply.text())] == ["seen"]
        async with session.get(f"{control}/nothing") as reply:
            assert reply.status == 404
