"""The official account's emulator is as strict as the platform: signatures, tries, answers, tokens,
allowances.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.emulators.mp import AES_KEY, APP_ID, PERSON, SECRET, TOKEN, MpEmulator
from tests.emulators.mp_push import Crypt, xml_of
from tests.emulators.mp_world import FAILURE

SEALED = (
    "4j/AuRx71kQlxVlzbpsMWFYu1Rf1A4+zRDlr3AYNkoVILF0575++Gwtna+xqm/fY0UhQn6WBG04AX0sBD6S+X8SB2tPDdvX0XAu8Bfldib76h9y9"
    "IDdAYCEfo92Mz/HI"
)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Account:
    """An account's server that does as it is told. came: queries and bodies of the calls."""

    def __init__(self) -> None:
        self.answer: Callable[[], Awaitable[web.Response]] = self._success
        self.came: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    async def _success(self) -> web.Response:
        return web.Response(text="success")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.came.append((dict(request.query), await request.read()))
        return await self.answer()

    def says(self, body: bytes | str, status: int = 200) -> None:
        async def answer() -> web.Response:
            return web.Response(
                body=body if isinstance(body, bytes) else body.encode(), status=status
            )

        self.answer = answer

    def hangs(self) -> None:
        async def answer() -> web.Response:
            await asyncio.Event().wait()
            return web.Response()

        self.answer = answer


@pytest.fixture
async def account() -> AsyncIterator[Account]:
    account = Account()
    app = web.Application()
    app.router.add_route("*", "/hook", account.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    account.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield account
    await runner.cleanup()


@pytest.fixture
async def emulator(account: Account) -> AsyncIterator[MpEmulator]:
    async with MpEmulator(account.url, mode="plain") as it:
        it.pusher.scale = 0.1
        yield it


def reply(text: str = "hello", **others: str) -> bytes:
    fields = {
        "ToUserName": PERSON,
        "FromUserName": "gh_lab",
        "CreateTime": "",
        "MsgType": "text",
        "Content": text,
    }
    return xml_of(fields | others)


async def call(emulator: MpEmulator, path: str, body: Any = None, **query: str) -> dict[str, Any]:
    async with aiohttp.ClientSession() as session:
        data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        async with session.post(
            f"{emulator.url}/cgi-bin/{path}", data=data, params=query
        ) as answer:
            assert answer.status == 200
            found: dict[str, Any] = json.loads(await answer.read())
            return found


async def token(emulator: MpEmulator, **others: Any) -> str:
    body = {"grant_type": "client_credential", "appid": APP_ID, "secret": SECRET, **others}
    return str((await call(emulator, "stable_token", body))["access_token"])


def test_it_signs_and_seals_as_the_platform_does() -> None:
    crypt = Crypt(TOKEN, APP_ID, AES_KEY)
    assert crypt.proof("1700000000", "n0nce") == "561ddfd61a6772abcf92355a889b5a370343ec8b"
    assert crypt.proof("1700000000", "n0nce", SEALED) == "72fa98cdecd7d4d56637cc10bde408a98f5c25d0"
    assert crypt.open(SEALED) == b"<xml><Content>hi</Content></xml>"
    assert crypt.open(crypt.seal("字".encode())) == "字".encode()


@pytest.mark.parametrize("mode", ["plain", "compatible", "secure"])
async def test_each_mode_brings_what_it_should(account: Account, mode: Any) -> None:
    async with MpEmulator(account.url, mode=mode) as emulator:
        push = emulator.inject("hi")
        await emulator.until(lambda: push.state == "confirmed")
    ((query, body),) = account.came
    assert query["signature"] == emulator.crypt.proof(query["timestamp"], query["nonce"])
    assert query["openid"] == PERSON
    assert (b"<Content><![CDATA[hi]]>" in body, b"<Encrypt>" in body) == (
        mode != "secure",
        mode != "plain",
    )
    assert query.get("encrypt_type", "") == ("" if mode == "plain" else "aes")


async def test_silence_brings_three_tries_and_then_the_platforms_own_words(
    account: Account, emulator: MpEmulator
) -> None:
    account.hangs()
    push = emulator.inject("hi")
    await emulator.until(lambda: push.state == "failed")
    assert len({query["nonce"] for query, _ in account.came}) == 3
    assert len({body for _, body in account.came}) == 1
    assert (emulator.world.notices(PERSON), emulator.acks()) == ([FAILURE], [])


@pytest.mark.parametrize("body", ["", "success", " success\n"])
async def test_an_empty_answer_ends_the_tries(
    account: Account, emulator: MpEmulator, body: str
) -> None:
    account.says(body)
    push = emulator.inject("hi")
    await emulator.until(lambda: push.state == "confirmed")
    assert (len(account.came), emulator.sent(), emulator.world.notices(PERSON)) == (1, [], [])


@pytest.mark.parametrize(
    "body",
    [
        b'{"errcode":0}',
        b"<xml><ToUserName>",
        reply(FromUserName="gh_another"),
        reply(ToUserName="oUser2"),
        reply(CreateTime="soon"),
        reply(""),
        reply("字" * 683),
        reply(MsgType="hologram"),
    ],
)
async def test_a_wrong_answer_is_shown_as_a_failure_at_once(
    account: Account, emulator: MpEmulator, body: bytes
) -> None:
    now = str(int(emulator.world.now())).encode()
    account.says(
        body.replace(b"<CreateTime></CreateTime>", b"<CreateTime>" + now + b"</CreateTime>")
    )
    push = emulator.inject("hi")
    await emulator.until(lambda: push.state == "failed")
    assert (len(account.came), emulator.sent(), emulator.world.notices(PERSON)) == (
        1,
        [],
        [FAILURE],
    )


async def test_a_reply_is_shown_once_however_often_it_is_given(
    account: Account, emulator: MpEmulator
) -> None:
    account.says(reply("字" * 682, CreateTime=str(int(emulator.world.now()))))
    push = emulator.inject("hi")
    await emulator.until(lambda: push.state == "confirmed")
    again = emulator.repeat(push)
    await emulator.until(lambda: again.state == "confirmed")
    assert emulator.sent() == ["字" * 682]
    assert emulator.acks() == [push.key, push.key]


async def test_errors_of_ours_are_tries_or_wrong_answers_as_the_knob_says(
    account: Account, emulator: MpEmulator
) -> None:
    account.says("", 503)
    first = emulator.inject("hi")
    await emulator.until(lambda: first.state == "failed")
    emulator.pusher.retries_errors = False
    second = emulator.inject("hi")
    await emulator.until(lambda: second.state == "failed")
    assert [len(push.tries) for push in (first, second)] == [3, 1]


async def test_events_have_no_number_and_end_without_a_word(
    account: Account, emulator: MpEmulator
) -> None:
    account.hangs()
    push = emulator.event("CLICK", EventKey="k")
    await emulator.until(lambda: push.state == "failed")
    assert b"MsgId" not in account.came[0][1]
    assert emulator.world.notices(PERSON) == []


async def test_a_person_who_wrote_may_get_five_and_within_two_days(emulator: MpEmulator) -> None:
    access = await token(emulator)
    body = {"touser": PERSON, "msgtype": "text", "text": {"content": "字"}}

    async def send() -> int:
        return int(
            (await call(emulator, "message/custom/send", body, access_token=access))["errcode"]
        )

    assert await send() == 40003
    emulator.event("subscribe")
    assert [await send() for _ in range(4)] == [0, 0, 0, 45047]
    emulator.world.advance(61)
    assert await send() == 45015
    emulator.inject("hi")
    assert [await send() for _ in range(6)] == [0, 0, 0, 0, 0, 45047]
    emulator.inject("hi")
    emulator.event("unsubscribe")
    assert await send() == 45015
    emulator.event("subscribe")
    emulator.inject("hi")
    access = await token(emulator, force_refresh=True)
    emulator.world.advance(48 * 3600 - 60)
    access = await token(emulator)
    assert await send() == 0
    emulator.world.advance(61)
    access = await token(emulator)
    assert await send() == 45015


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"no json", 47001),
        ({"touser": "oNobody", "msgtype": "text", "text": {"content": "x"}}, 40003),
        ({"touser": PERSON, "msgtype": "hologram", "hologram": {}}, 40008),
        ({"touser": PERSON, "msgtype": "text", "text": {"content": ""}}, 44004),
        ({"touser": PERSON, "msgtype": "text", "text": {"content": "字" * 683}}, 45002),
        ({"touser": PERSON, "msgtype": "image", "image": {"media_id": "none"}}, 40007),
    ],
)
async def test_messages_that_are_none_are_refused(
    emulator: MpEmulator, body: Any, code: int
) -> None:
    emulator.inject("hi")
    answer = await call(emulator, "message/custom/send", body, access_token=await token(emulator))
    assert answer["errcode"] == code
    assert "rid: " in answer["errmsg"]
    assert emulator.sent() == []


async def test_escapes_are_shown_as_they_stand(emulator: MpEmulator) -> None:
    emulator.inject("hi")
    body = {"touser": PERSON, "msgtype": "text", "text": {"content": "字\n\\u5b57"}}
    access = await token(emulator)
    await call(emulator, "message/custom/send", json.dumps(body).encode(), access_token=access)
    await call(emulator, "message/custom/send", body, access_token=access)
    assert emulator.sent() == ["\\u5b57\n\\u5b57", "字\n\\u5b57"]


async def test_tokens_end_overlap_and_are_of_one_account(emulator: MpEmulator) -> None:
    first = await token(emulator)
    assert await token(emulator) == first
    assert len(first) > 100
    emulator.world.advance(7200 - 200)
    second = await token(emulator)
    assert second != first

    async def code(access: str) -> int:
        return int((await call(emulator, "clear_quota", {}, access_token=access))["errcode"])

    assert [await code(first), await code(second), await code("made up"), await code("")] == [
        0,
        0,
        40001,
        41001,
    ]
    emulator.world.advance(250)
    assert [await code(first), await code(second)] == [42001, 0]
    third = await token(emulator, force_refresh=True)
    assert [await code(second), await code(third)] == [42001, 0]
    forced = {
        "grant_type": "client_credential",
        "appid": APP_ID,
        "secret": SECRET,
        "force_refresh": True,
    }
    assert (await call(emulator, "stable_token", forced))["errcode"] == 45011
    for wrong, code_ in (
        ({"appid": "x"}, 40013),
        ({"secret": "x"}, 40125),
        ({"grant_type": "x"}, 40002),
    ):
        assert (await call(emulator, "stable_token", forced | wrong))["errcode"] == code_
    emulator.world.whitelisted = False
    assert (await call(emulator, "stable_token", forced))["errcode"] == 40164


async def test_an_account_that_is_not_verified_has_no_api(emulator: MpEmulator) -> None:
    emulator.world.verified = False
    access = await token(emulator)
    for path in ("message/custom/send", "message/custom/typing", "media/upload", "media/get"):
        assert (await call(emulator, path, {}, access_token=access))["errcode"] == 48001


async def test_it_takes_orders_over_http(account: Account, emulator: MpEmulator) -> None:
    async with aiohttp.ClientSession() as session:

        async def order(name: str) -> Any:
            async with session.get(f"{emulator.url}/_ctl/{name}") as answer:
                return await answer.json()

        assert (await order("inject?text=hi"))["state"] == "sending"
        await emulator.until(lambda: len(emulator.acks()) == 1)
        assert await order("transcript") == [{"who": "person", "text": "hi", "by": ""}]
        assert await order("sent") == []
        assert (await order("nothing"))["error"]
