"""The Feishu emulator judged by a client that is not ours, the vendor's, and held to the platform's
rules.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.by_night import by_night
from tests.emulators.feishu import APP_ID, SECRET, FeishuEmulator
from tests.emulators.feishu_gateway import SERVICE
from tests.emulators.feishu_pb import Frame, Malformed, decode
from tests.emulators.feishu_webhook import call, seal, sign

ACK = (
    "08001000180720012a0d0a047479706512056576656e742a100a0a6d6573736167655f696412026d312a080a0373756d1201312a080a0373"
    "6571120130420c7b22636f6465223a3230307d"
)
SEALED = "AAECAwQFBgcICQoLDA0OD1CLyyWYwZWTPxsgmMZ3IFYsSo1J0DLgm6yhztmIf5nMhhaEIVImcjX0dBZrSCX6h4MnU77pkjPMXpsxA2A/SII="  # noqa: E501
FAST = {"ReconnectCount": -1, "ReconnectInterval": 1, "ReconnectNonce": 0, "PingInterval": 1}


@pytest.fixture
async def emulator() -> AsyncIterator[FeishuEmulator]:
    async with FeishuEmulator() as served:
        yield served


class Client:
    """The least that can speak to it: JSON and frames."""

    def __init__(self, emulator: FeishuEmulator, session: aiohttp.ClientSession) -> None:
        self.emulator, self.session = emulator, session
        self.token = emulator.world.token()[0]

    async def call(self, verb: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}"}
        url = f"{self.emulator.url}/open-apis{path}"
        async with self.session.request(verb, url, json=body, headers=headers, **more) as reply:
            answer: dict[str, Any] = await reply.json()
            return answer

    async def code(self, verb: str, path: str, body: Any = None, **more: Any) -> int:
        return int((await self.call(verb, path, body, **more))["code"])

    async def text(self, text: str, **fields: Any) -> dict[str, Any]:
        body = {
            "receive_id": "oc_p2p_ou_u1",
            "msg_type": "text",
            "content": json.dumps({"text": text}),
            **fields,
        }
        return await self.call("POST", "/im/v1/messages?receive_id_type=chat_id", body)

    async def socket(self) -> aiohttp.ClientWebSocketResponse:
        url = f"{self.emulator.url}/callback/ws/endpoint"
        async with self.session.post(url, json={"AppID": APP_ID, "AppSecret": SECRET}) as reply:
            told = await reply.json()
        return await self.session.ws_connect(told["data"]["URL"])


@pytest.fixture
async def client(emulator: FeishuEmulator) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(emulator, session)


def card(**config: Any) -> dict[str, Any]:
    elements = [{"tag": "markdown", "element_id": "md1", "content": ""}]
    whole = {
        "schema": "2.0",
        "config": {"update_multi": True, **config},
        "body": {"elements": elements},
    }
    return {"type": "card_json", "data": json.dumps(whole)}


@by_night  # it judges a server of the tests, no code of ours, and takes seconds to import
async def test_the_vendors_own_client_hears_answers_streams_and_comes_back(
    emulator: FeishuEmulator,
) -> None:
    emulator.gateway.config = FAST
    program = Path(__file__).with_name("feishu_by_lark.py")
    emulator.inject("before it is there")
    lark = await asyncio.create_subprocess_exec(
        sys.executable, str(program), emulator.url, APP_ID, SECRET, stdout=asyncio.subprocess.PIPE
    )
    try:
        await emulator.until(lambda: len(emulator.acks()) == 1, 60)
        emulator.gateway.cut_into = 5
        emulator.inject("card " * 300 + "🙂")
        await emulator.until(lambda: len(emulator.acks()) == 2, 20)
        emulator.gateway.cut_into = 1
        await emulator.gateway.kick()
        emulator.inject("card")
        await emulator.until(lambda: len(emulator.acks()) == 3, 20)
        emulator.inject("end")
        out, _ = await asyncio.wait_for(lark.communicate(), 20)
    finally:
        if lark.returncode is None:
            lark.kill()
            await lark.wait()
    seen = [
        (one.kind, one.text.split()[1][:4] if one.kind == "text" else one.text)
        for one in emulator.sent()
    ]
    assert seen == [
        ("text", "befo"),
        ("text", "card"),
        ("text", "card"),
        ("interactive", "streamed by lark"),
        ("text", "end"),
    ]
    assert not emulator.sent()[3].streaming
    said = [line for line in out.decode().splitlines() if not line.startswith("[Lark]")]
    assert said[:4] == ["replied 0 True"] * 3 + ["card 0 0 0 0"]
    assert emulator.world.faults_of_client == []
    assert emulator.gateway.opened == 2


def test_the_published_bytes_are_ours() -> None:
    headers = {"type": "event", "message_id": "m1", "sum": "1", "seq": "0"}
    assert (
        Frame(service=7, method=1, headers=headers, payload=b'{"code":200}').encode().hex() == ACK
    )
    assert (
        Frame(service=7, headers={"type": "ping"}).encode().hex()
        == "08001000180720002a0c0a0474797065120470696e67"
    )
    assert decode(bytes.fromhex(ACK)).headers == headers
    for broken in (b"", b"\x08", bytes.fromhex(ACK)[:20], b"\x0f"):
        with pytest.raises(Malformed):
            decode(broken)
    told = '{"type":"url_verification","challenge":"c-1","token":"vt-1"}'
    assert seal(told, "demo-encrypt-key", bytes(range(16))) == SEALED
    body = f'{{"encrypt":"{SEALED}"}}'.encode()
    wanted = "11d7b1d3b46491975f274a4934ea3ec25eed242b7f0cf3c06b966e06e2ccbcd4"
    assert sign("1700000000", "n0nce", "demo-encrypt-key", body) == wanted


async def test_what_is_not_acknowledged_is_pushed_on_the_schedule_and_then_lost(
    emulator: FeishuEmulator, client: Client
) -> None:
    socket = await client.socket()
    event = emulator.inject("again and again")["event_id"]
    pushes = []
    for seconds in (0.0, 15.0, 300.0, 3600.0, 21_600.0):
        emulator.world.advance(seconds)
        frame = decode(await socket.receive_bytes(timeout=10))
        pushes.append(json.loads(frame.payload)["header"]["event_id"])
        frame.payload, frame.headers["biz_rt"] = b'{"code":500}', "3"
        await socket.send_bytes(frame.encode())
        await emulator.until(lambda: not emulator.world.pushes[0].sent_at)
    assert pushes == [event] * 5
    assert emulator.world.lost == [event]
    emulator.world.repeat(event, fresh=True)
    frame = decode(await socket.receive_bytes(timeout=10))
    frame.payload, frame.headers["biz_rt"] = b'{"code":200}', "3"
    await socket.send_bytes(frame.encode())
    await emulator.until(lambda: len(emulator.acks()) == 1)
    assert emulator.acks() != [event]


async def test_an_answer_after_three_seconds_counts_for_nothing(
    emulator: FeishuEmulator, client: Client
) -> None:
    socket = await client.socket()
    emulator.inject("slow")
    await socket.receive_bytes(timeout=10)
    emulator.world.advance(3.1)
    await emulator.until(lambda: not emulator.world.pushes[0].sent_at)
    emulator.world.advance(15)
    assert decode(await socket.receive_bytes(timeout=10)).headers["sum"] == "1"
    assert emulator.acks() == []


async def test_each_event_goes_to_one_of_the_connections(
    emulator: FeishuEmulator, client: Client
) -> None:
    sockets = [await client.socket() for _ in range(2)]
    await emulator.until(lambda: len(emulator.gateway.connections) == 2)
    for number in range(20):
        emulator.inject(f"number {number}")
    await emulator.until(lambda: all(push.sent_at for push in emulator.world.pushes))
    by = {push.by for push in emulator.world.pushes}
    assert by == {1, 2}
    for socket in sockets:
        await socket.close()


async def test_the_gateway_takes_only_what_the_platform_takes(
    emulator: FeishuEmulator, client: Client
) -> None:
    socket = await client.socket()
    await socket.send_bytes(b"no frame")
    await socket.send_bytes(Frame(service=SERVICE + 1, headers={"type": "ping"}).encode())
    await socket.send_bytes(
        Frame(service=SERVICE, method=1, headers={"message_id": "w"}, payload=b"{}").encode()
    )
    pong = decode(await socket.receive_bytes(timeout=10))
    assert pong.headers == {"type": "pong"}
    assert json.loads(pong.payload)["PingInterval"] == 120
    await emulator.until(lambda: len(emulator.world.faults_of_client) == 3)
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await client.session.ws_connect(
            f"{emulator.url}/ws/v2?device_id=1&service_id=2&ticket=guessed"
        )
    assert refused.value.headers is not None
    assert refused.value.headers["Handshake-Status"] == "514"


async def test_tokens_are_the_same_until_thirty_minutes_are_left(
    emulator: FeishuEmulator, client: Client
) -> None:
    told = {"app_id": APP_ID, "app_secret": SECRET}
    path = "/auth/v3/tenant_access_token/internal"
    first = await client.call("POST", path, told)
    assert (await client.call("POST", path, told))["tenant_access_token"] == first[
        "tenant_access_token"
    ]
    emulator.world.advance(5500)
    second = await client.call("POST", path, told)
    assert second["tenant_access_token"] != first["tenant_access_token"]
    assert (await client.text("with the old one"))["code"] == 0
    emulator.world.advance(1800)
    assert (await client.text("too late"))["code"] == 99991677
    assert await client.code("POST", path, {**told, "app_secret": "wrong"}) == 10014


async def test_a_uuid_is_known_for_an_hour(emulator: FeishuEmulator, client: Client) -> None:
    ids = [(await client.text("once", uuid="u1"))["data"]["message_id"] for _ in range(2)]
    emulator.world.advance(3601)
    ids.append((await client.text("once", uuid="u1"))["data"]["message_id"])
    assert (ids[0] == ids[1], ids[1] == ids[2]) == (True, False)
    assert len(emulator.sent()) == 2
    assert (await client.text("x", uuid="u" * 51))["code"] == 99992402


async def test_sizes_and_forms_are_checked(emulator: FeishuEmulator, client: Client) -> None:
    assert (await client.text("x" * 149_000))["code"] == 0
    assert (await client.text("x" * 150_000))["code"] == 230025
    for body in ({}, {"receive_id": 7}, {"receive_id": "oc_x", "msg_type": "text"}):
        assert (
            await client.code("POST", "/im/v1/messages?receive_id_type=chat_id", body) == 99992402
        )
    assert await client.code("POST", "/im/v1/messages?receive_id_type=name", {}) == 99992402
    assert (await client.text("x", msg_type="shout"))["code"] == 230001
    assert (await client.text("x", content="{"))["code"] == 230001
    assert (await client.text("  "))["code"] == 230001
    emulator.world.chat("oc_p2p_ou_u1", state="out")
    assert (await client.text("x"))["code"] == 230002


async def test_cards_are_held_to_their_rules(emulator: FeishuEmulator, client: Client) -> None:
    made = await client.call("POST", "/cardkit/v1/cards", card(streaming_mode=True))
    path = f"/cardkit/v1/cards/{made['data']['card_id']}"
    content = f"{path}/elements/md1/content"
    assert await client.code("PUT", content, {"content": "a", "sequence": 2}) == 0
    assert await client.code("PUT", content, {"content": "a", "sequence": 2}) == 300317
    assert (
        await client.code("PUT", content.replace("md1", "md9"), {"content": "a", "sequence": 3})
        == 300313
    )
    emulator.world.advance(601)
    assert await client.code("PUT", content, {"content": "a", "sequence": 4}) == 300309
    codes = [
        await client.code("PATCH", f"{path}/settings", _closing(number)) for number in range(5, 16)
    ]
    assert codes == [0] * 9 + [99991400] * 2 or codes == [0] * 10 + [99991400]
    assert (
        await client.code("POST", "/cardkit/v1/cards", {"type": "card_json", "data": "{}"})
        == 200621
    )
    tables = json.loads(card()["data"])
    tables["body"]["elements"][0]["content"] = "| a |\n|---|\n| b |\n\n" * 4
    whole = {"receive_id": "oc_x", "msg_type": "interactive", "content": json.dumps(tables)}
    assert await client.code("POST", "/im/v1/messages?receive_id_type=chat_id", whole) == 230099


def _closing(number: int) -> dict[str, Any]:
    return {"settings": '{"config":{"streaming_mode":false}}', "sequence": number}


async def test_a_file_belongs_to_its_message(emulator: FeishuEmulator, client: Client) -> None:
    emulator.world.files["file_k"] = ("name.txt", b"bytes")
    mine = emulator.inject(kind="file", content={"file_key": "file_k", "file_name": "name.txt"})[
        "message_id"
    ]
    other = emulator.inject("words")["message_id"]
    assert await client.code("GET", f"/im/v1/messages/{other}/resources/file_k?type=file") == 234002
    assert (
        await client.code("GET", f"/im/v1/messages/{mine}/resources/file_k?type=film") == 99992402
    )
    url = f"{emulator.url}/open-apis/im/v1/messages/{mine}/resources/file_k?type=file"
    async with client.session.get(
        url, headers={"Authorization": f"Bearer {client.token}"}
    ) as reply:
        assert await reply.read() == b"bytes"
        assert "name.txt" in reply.headers["Content-Disposition"]


async def test_it_can_be_driven_over_http(emulator: FeishuEmulator, client: Client) -> None:
    control = f"{emulator.url}/_ctl"
    async with client.session.post(f"{control}/inject", json={"text": "hi"}) as reply:
        assert (await reply.json())["message_id"].startswith("om_")
    await client.text("hello")
    async with client.session.get(f"{control}/sent") as reply:
        assert [one["text"] for one in await reply.json()] == ["hello"]
    async with client.session.get(f"{control}/wait?sent=1&timeout=1") as reply:
        assert await reply.json() is True
    async with client.session.get(f"{control}/nothing") as reply:
        assert reply.status == 404


def test_a_call_can_be_wrong_in_every_way() -> None:
    event = {"header": {"event_id": "e"}}
    bodies = {
        wrong: call(event, "k", wrong=wrong) for wrong in ("", "plain", "unsigned", "reserialised")
    }  # type: ignore[arg-type]
    assert b"encrypt" in bodies[""][1]
    assert json.loads(bodies["plain"][1]) == event
    assert len(bodies["unsigned"][0]) == 1
