"""The iLink emulator refuses what the platform refuses, and its knobs do what they say."""

import asyncio
import base64
import hashlib
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tests.emulators.ilink import IlinkEmulator
from tests.emulators.ilink_world import PERSON, crypt

POST = {
    "AuthorizationType": "ilink_bot_token",
    "X-WECHAT-UIN": "MzA1NDE5ODk2",
    "iLink-App-Id": "bot",
    "iLink-App-ClientVersion": "132099",
}
BASE = {"base_info": {"channel_version": "2.4.3"}}


class Client:
    """A bot of the barest kind."""

    def __init__(self, emulator: IlinkEmulator, http: httpx2.AsyncClient) -> None:
        self.emulator, self.http = emulator, http
        self.token = emulator.world.grant()["bot_token"]
        self.count = 0

    async def post(self, path: str, body: Any, **headers: str | None) -> dict[str, Any]:
        self.count += 1
        given = {
            **POST,
            "Authorization": f"Bearer {self.token}",
            "X-WECHAT-UIN": base64.b64encode(str(self.count).encode()).decode(),
        }
        given |= {
            name.replace("_", "-"): value for name, value in headers.items() if value is not None
        }
        for name in [name.replace("_", "-") for name, value in headers.items() if value is None]:
            given.pop(name, None)
        url = f"{self.emulator.url}/ilink/bot/{path}"
        content = json.dumps({**body, **BASE} if isinstance(body, dict) else body)
        given.setdefault("Content-Type", "application/json")
        answer = await self.http.post(url, content=content, headers=given)
        found: dict[str, Any] = answer.json()
        return found

    async def poll(self, cursor: str = "") -> dict[str, Any]:
        return await self.post("getupdates", {"get_updates_buf": cursor})

    async def say(self, words: str = "hi", **fields: Any) -> dict[str, Any]:
        usual = {
            "from_user_id": "",
            "to_user_id": PERSON,
            "client_id": f"c{self.count}",
            "message_type": 2,
            "message_state": 2,
            "context_token": self.emulator.world.person().token,
            "item_list": [{"type": 1, "text_item": {"text": words}}],
        }
        return await self.post("sendmessage", {"msg": usual | fields})

    async def status(self, **query: str) -> dict[str, Any]:
        url = f"{self.emulator.url}/ilink/bot/get_qrcode_status"
        headers = {name: text for name, text in POST.items() if name.startswith("iLink")}
        found: dict[str, Any] = (await self.http.get(url, params=query, headers=headers)).json()
        return found


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with IlinkEmulator() as emulator, httpx2.AsyncClient(timeout=20, trust_env=False) as http:
        emulator.knobs.hold, emulator.knobs.burst = 0.05, 0
        yield Client(emulator, http)


@pytest.mark.parametrize(
    ("header", "value", "code"),
    [
        ("iLink_App_Id", None, -14),
        ("iLink_App_ClientVersion", None, -14),
        ("iLink_App_ClientVersion", "2.4.3", -14),
        ("AuthorizationType", None, -3),
        ("X_WECHAT_UIN", None, -3),
        ("X_WECHAT_UIN", "305419896", -3),
        ("X_WECHAT_UIN", base64.b64encode(b"4294967296").decode(), -3),
        ("Content_Type", "text/plain", -3),
        ("Authorization", None, -14),
        ("Authorization", "Bearer nobody", -14),
    ],
)
async def test_every_header_is_looked_at(
    client: Client, header: str, value: str | None, code: int
) -> None:
    assert (await client.post("getupdates", {"get_updates_buf": ""}, **{header: value}))[
        "ret"
    ] == code


async def test_a_random_header_is_random(client: Client) -> None:
    assert (await client.post("getupdates", {"get_updates_buf": ""}, X_WECHAT_UIN="MTIz"))[
        "ret"
    ] == 0
    assert (await client.post("getupdates", {"get_updates_buf": ""}, X_WECHAT_UIN="MTIz"))[
        "ret"
    ] == -3
    assert client.emulator.refusals() == ["getupdates: X-WECHAT-UIN was used before"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("getupdates", {}),
        ("getupdates", {"get_updates_buf": 5}),
        ("getupdates", {"get_updates_buf": "no cursor"}),
        ("getupdates", {"get_updates_buf": base64.b64encode(b"bot1@im.bot|0").decode()}),
        ("getupdates", [1]),
        ("sendmessage", {"msg": "hi"}),
        ("getconfig", {"ilink_user_id": PERSON}),
        ("sendtyping", {"ilink_user_id": PERSON, "typing_ticket": "old", "status": 1}),
        ("getuploadurl", {"filekey": "ab"}),
    ],
)
async def test_bodies_of_a_wrong_form_are_refused(client: Client, path: str, body: Any) -> None:
    assert (await client.post(path, body))["ret"] == -3


@pytest.mark.parametrize(
    "fields",
    [
        {"to_user_id": "nobody"},
        {"client_id": ""},
        {"message_type": 1},
        {"message_state": True},
        {"item_list": []},
        {"item_list": [{"type": 1, "text_item": {"text": "a"}}] * 2},
        {"item_list": [{"type": 1, "text_item": {"text": ""}}]},
        {"item_list": [{"type": 1, "text_item": {"text": "x" * 4001}}]},
        {"item_list": [{"type": 4, "file_item": {"media": {"encrypt_query_param": "none"}}}]},
        {"context_token": None},
    ],
)
async def test_messages_of_a_wrong_form_are_refused(client: Client, fields: dict[str, Any]) -> None:
    client.emulator.world.say("hello")
    assert (await client.say(**fields))["ret"] == -3
    assert client.emulator.world.sent() == []


async def test_the_old_cursor_yields_the_same_again_and_the_new_one_confirms(
    client: Client,
) -> None:
    world = client.emulator.world
    world.say("one")
    first, again = await client.poll(), await client.poll()
    assert first["msgs"] == again["msgs"]
    assert world.acks() == 0
    assert (await client.poll(first["get_updates_buf"]))["msgs"] == []
    assert world.acks() == 1


async def test_each_message_brings_a_token_and_only_the_newest_holds(client: Client) -> None:
    world = client.emulator.world
    old = world.say("one")["context_token"]
    world.say("two")
    assert await client.say(context_token=old) == {"ret": -2, "errmsg": ""}
    assert await client.say() == {}
    client.emulator.knobs.check_token, client.emulator.knobs.success = False, "ret"
    assert await client.say(context_token=old) == {"ret": 0}


async def test_the_quota_is_for_each_message_of_a_person_and_ends_after_a_day(
    client: Client,
) -> None:
    world = client.emulator.world
    world.say("one")
    answers = [await client.say(f"part {number}") for number in range(11)]
    assert answers == [{}] * 10 + [{"ret": -2, "errmsg": ""}]
    world.say("two")
    assert await client.say() == {}
    world.advance(86_401)
    assert await client.say() == {"ret": -2, "errmsg": "prepare failed"}


async def test_a_burst_is_blocked_for_a_while(client: Client) -> None:
    world = client.emulator.world
    client.emulator.knobs.burst = 3
    world.say("one")
    world.person().sends = [world.now() + 5] * 3
    assert await client.say() == {"ret": -2, "errmsg": "rate limited"}
    world.advance(16)
    assert await client.say() == {}


async def test_a_client_id_is_known_again_only_where_that_is_switched_on(client: Client) -> None:
    world = client.emulator.world
    world.say("one")
    for dedup in (False, True):
        client.emulator.knobs.dedup = dedup
        await client.say(client_id="same")
    assert len(world.sent()) == 1
    client.emulator.knobs.dedup = False
    await client.say(client_id="same")
    assert len(world.sent()) == 2


async def test_a_session_ends_in_either_field_and_by_another_login(client: Client) -> None:
    client.emulator.world.grant()
    assert (await client.poll())["ret"] == -14
    client.emulator.knobs.expired_in = "errcode"
    assert (await client.poll())["errcode"] == -14
    client.token = client.emulator.world.grant()["bot_token"]
    client.emulator.knobs.evict = False
    client.emulator.world.grant()
    assert (await client.poll())["ret"] == 0


async def test_a_session_that_ends_wakes_the_poll_that_is_held(client: Client) -> None:
    client.emulator.knobs.hold = 30
    held = asyncio.create_task(client.poll())
    await client.emulator.until(lambda: client.emulator.wire_log("getupdates"))
    client.emulator.world.expire_session()
    assert (await asyncio.wait_for(held, 10))["ret"] == -14


async def test_a_code_goes_through_its_states(client: Client) -> None:
    world, knobs = client.emulator.world, client.emulator.knobs
    made = await client.post(
        "get_bot_qrcode?bot_type=3", {"local_token_list": []}, Authorization=None
    )
    code = made["qrcode"]
    assert await client.status(qrcode=code) == {"status": "wait"}
    knobs.digits, knobs.tries = "12", 2
    world.scan()
    assert await client.status(qrcode=code) == {"status": "need_verifycode"}
    assert await client.status(qrcode=code, verify_code="1") == {"status": "need_verifycode"}
    assert await client.status(qrcode=code, verify_code="12") == {"status": "scaned"}
    world.confirm()
    confirmed = await client.status(qrcode=code)
    assert confirmed["status"] == "confirmed"
    assert confirmed["baseurl"] == client.emulator.url
    client.token = confirmed["bot_token"]
    assert (await client.poll())["ret"] == 0
    world.expire()
    assert await client.status(qrcode=code) == {"status": "expired"}
    assert (await client.status(qrcode="another"))["ret"] == -3
    assert (await client.post("get_bot_qrcode?bot_type=3", {"local_token_list": ["t"] * 11}))[
        "ret"
    ] == -3
    assert (await client.post("get_bot_qrcode?bot_type=1", {"local_token_list": []}))["ret"] == -3


@pytest.mark.parametrize("whole", [False, True])
async def test_a_file_goes_up_and_is_opened_with_the_key_beside_it(
    client: Client, whole: bool
) -> None:
    world, key, data = client.emulator.world, bytes(range(16)), b"hello"
    client.emulator.knobs.full_urls = whole
    world.say("a file, please")
    asked = {
        "filekey": "0" * 32,
        "media_type": 3,
        "to_user_id": PERSON,
        "rawsize": 5,
        "rawfilemd5": hashlib.md5(data).hexdigest(),
        "filesize": 16,
        "aeskey": key.hex(),
        "no_need_thumb": True,
    }
    assert (await client.post("getuploadurl", asked | {"filesize": 5}))["ret"] == -3
    place = await client.post("getuploadurl", asked)
    query = {} if whole else {"encrypted_query_param": place["upload_param"], "filekey": "0" * 32}
    url = place.get("upload_full_url", f"{client.emulator.cdn_url}/upload")
    refused = await client.http.post(url, params=query or None, content=b"short")
    assert (refused.status_code, "x-error-message" in refused.headers) == (400, True)
    taken = await client.http.put(url, params=query or None, content=crypt(data, key))
    param = taken.headers["x-encrypted-param"]
    media = {
        "encrypt_query_param": param,
        "aes_key": base64.b64encode(key.hex().encode()).decode(),
        "encrypt_type": 1,
    }
    item = {"type": 4, "file_item": {"media": media, "file_name": "a.txt", "len": "5"}}
    assert await client.say(item_list=[item]) == {}
    raw = {**media, "aes_key": base64.b64encode(key).decode()}
    item["file_item"] = {"media": raw, "file_name": "a.txt", "len": "5"}
    assert (await client.say(item_list=[item]))["ret"] == -3
    (seen,) = world.sent()
    assert (seen.kind, seen.name, seen.data) == ("file", "a.txt", data)


async def test_it_runs_as_a_program_that_is_driven_over_http() -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.emulators.ilink", "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    assert program.stdout is not None
    try:
        url, cdn = (await asyncio.wait_for(program.stdout.readline(), 30)).decode().split()
        async with httpx2.AsyncClient(trust_env=False) as http:
            said = (await http.post(f"{url}/_ctl/say", json={"text": "from outside"})).json()
            assert said["item_list"] == [{"type": 1, "text_item": {"text": "from outside"}}]
            assert (await http.get(f"{url}/_ctl/wait?acks=1&timeout=0")).json() is False
            assert (await http.get(f"{url}/_ctl/nothing")).status_code == 404
            assert (await http.get(f"{cdn}/download")).status_code == 404
    finally:
        program.terminate()
        await program.wait()
