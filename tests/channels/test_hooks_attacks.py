"""Forged, stale, broken and hostile webhook calls; each test is named after its attack."""

import asyncio
import base64
import json
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from channels.feishu.channel import Feishu
from channels.feishu.settings import FeishuSettings
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from channels.wechat_mp.settings import WechatMpSettings
from tests.cases import every_case
from tests.channels.hook_addresses import (
    FEISHU_KEY,
    FEISHU_WORD,
    Door,
    MpShots,
    Shot,
    feishu_door,
    feishu_event,
    feishu_sealed,
    mp_door,
    talk,
    telegram_door,
    telegram_shot,
)
from tests.channels.web.server import ScriptedBot, running
from tests.emulators.feishu_webhook import sign
from tests.emulators.mp import PERSON
from tests.emulators.mp_push import xml_of

OPEN: dict[str, Any] = {
    "telegram": telegram_door,
    "feishu": feishu_door,
    "wechat_mp": mp_door,
    "wechat_mp plain": lambda: mp_door("plain"),
}
SIGNED = ["feishu", "wechat_mp"]
REFUSED = (401, b"")
LAST_BYTES = 48  # of a cipher: its last three blocks, with the padding
# After so many the same bytes are changed in the same way again.
ALTERATIONS = math.lcm(LAST_BYTES, 255)


def opened(name: str) -> AbstractAsyncContextManager[Door]:
    door: AbstractAsyncContextManager[Door] = OPEN[name]()
    return door


@pytest.fixture(params=[*OPEN])
async def door(request: pytest.FixtureRequest) -> AsyncIterator[Door]:
    async with opened(request.param) as it:
        yield it


def shots(door: Door) -> MpShots:
    """Return the calls of the official account's platform."""
    maker = door.genuine.__self__  # type: ignore[attr-defined]
    assert isinstance(maker, MpShots)
    return maker


def words(door: Door) -> list[str]:
    return door.inbox.texts


async def test_a_genuine_call_is_heard(door: Door) -> None:
    status, _ = await door.shoot(door.genuine("hello"))
    assert (status, words(door)) == (200, ["hello"])


# -- who is at the door ---------------------------------------------------------------------------


async def test_S14_without_a_key_there_is_no_address() -> None:
    async with running(ScriptedBot()) as site:
        for name in ("telegram", "feishu", "wechat_mp", "web", "..", ""):
            request = (
                f"POST /hooks/{name} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: "
                "close\r\n\r\n"
            )
            status, _ = await talk(site.port, [request.encode()])
            assert status == 404, name


@pytest.mark.parametrize("secret", ["", "short"])
def test_S14_a_webhook_without_its_key_is_not_opened(secret: str) -> None:
    with pytest.raises(ValueError, match="webhook"):
        Telegram(
            TelegramSettings(
                token="1:a", mode="webhook", webhook_secret=secret, webhook_url="https://a.example"
            )
        )
    with pytest.raises(ValueError, match="encrypt_key"):
        Feishu(FeishuSettings(app_id="a", app_secret="b", mode="webhook", verification_token="t"))
    assert not WechatMpSettings(app_id="wx1", app_secret="s", token="").on


def _proofs(shot: Shot) -> Iterator[tuple[str, Shot]]:
    """Yield invalid signatures of every kind."""
    right = shot.value
    yield "missing", shot.proved()
    yield "doubled", shot.proved(right, right)
    yield "a wrong one beside it", shot.proved("x", right)
    yield "empty", shot.proved("")
    yield "non-ASCII", shot.proved("é" * len(right))
    yield "Chinese, in bytes", shot.proved("签名".encode().decode("latin-1"))
    yield "wrong case", shot.proved(right.swapcase())
    yield "one sign short", shot.proved(right[:-1])
    yield "one sign more", shot.proved(right + "0")
    yield "with a blank inside", shot.proved(f"{right[:5]} {right[5:]}")


async def test_S15_a_signature_that_is_not_the_right_one_is_refused_however_it_is_wrong(
    door: Door,
) -> None:
    for why, forged in _proofs(door.genuine("forged")):
        assert await door.shoot(forged) == REFUSED, why
    assert words(door) == []


@pytest.mark.parametrize("name", SIGNED)
async def test_S15_a_signature_of_another_body_is_refused(name: str) -> None:
    async with opened(name) as door:
        mine, other = door.genuine("mine", 1), door.genuine("other", 2)
        assert await door.shoot(replace(mine, body=other.body)) == REFUSED
        assert await door.shoot(replace(mine, body=mine.body + b" ")) in (
            REFUSED,
            (200, b"success"),
        )
        assert "other" not in words(door)


@every_case("name", ["signature", "timestamp", "nonce", "encrypt_type", "msg_signature"])
async def test_S15_each_parameter_of_an_official_account_comes_exactly_once(name: str) -> None:
    async with opened("wechat_mp") as door:
        shot = door.genuine("once")
        given = [pair for pair in shot.query if pair[0] == name]
        others = [pair for pair in shot.query if pair[0] != name]
        for query in (others, [*shot.query, *given], [*others, (name, "")], [*others, (name, "é")]):
            assert await door.shoot(replace(shot, query=query)) == REFUSED
        assert (
            await door.shoot(replace(shot, query=[*shot.query, ("openid", "oAnother")])) == REFUSED
        )
        assert words(door) == []


async def test_S16_a_plain_body_is_refused_where_a_key_is_set() -> None:
    async with opened("feishu") as door:
        assert await door.shoot(feishu_sealed(feishu_event("plain"), wrong="plain")) == REFUSED
        assert words(door) == []
    async with opened("wechat_mp") as door:
        inside = xml_of(
            {"ToUserName": "gh_lab", "FromUserName": PERSON, "MsgType": "text", "MsgId": "1"}
        )
        plain = shots(door).signed(inside)
        assert await door.shoot(plain) == REFUSED
        assert (
            await door.shoot(replace(plain, query=[*plain.query, ("encrypt_type", "raw")]))
            == REFUSED
        )
        assert words(door) == []


async def test_S16_a_signature_over_json_that_was_written_anew_is_refused() -> None:
    async with opened("feishu") as door:
        assert (
            await door.shoot(feishu_sealed(feishu_event("anew"), wrong="reserialised")) == REFUSED
        )
        assert words(door) == []


# -- when it was sent -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SIGNED, "wechat_mp plain"])
@pytest.mark.parametrize("off", [-360, 360])
async def test_S17_a_call_signed_six_minutes_off_is_refused(name: str, off: int) -> None:
    async with opened(name) as door:
        assert await door.shoot(door.genuine("stale", at=time.time() + off)) == REFUSED
        assert words(door) == []
        assert (await door.shoot(door.genuine("late", 2, at=time.time() + off * 0.7)))[0] == 200


@pytest.mark.parametrize("name", [*SIGNED, "wechat_mp plain"])
async def test_S17_a_nonce_serves_one_body_and_repeats_of_it(name: str) -> None:
    async with opened(name) as door:
        first = door.genuine("first", 1, nonce="n0nce-of-mine")
        assert (await door.shoot(first))[0] == 200
        assert await door.shoot(door.genuine("second", 2, nonce="n0nce-of-mine")) == REFUSED
        assert (await door.shoot(first))[0] == 200
        assert words(door) == ["first"]


# -- what it claims to be -------------------------------------------------------------------------


async def test_S18_a_forged_challenge_is_not_answered() -> None:
    challenge = {"type": "url_verification", "challenge": "say-this", "token": FEISHU_WORD}
    async with opened("feishu") as door:
        forged = [
            feishu_sealed(challenge, wrong="plain"),
            feishu_sealed({**challenge, "token": "another"}),
            feishu_sealed({**challenge, "token": "another"}, wrong="unsigned"),
            feishu_sealed(challenge, key="another key"),
            feishu_sealed(challenge, key="another key", wrong="unsigned"),
        ]
        for shot in forged:
            assert await door.shoot(shot) == REFUSED
        status, body = await door.shoot(feishu_sealed(challenge, wrong="unsigned"))
        assert (status, json.loads(body)) == (200, {"challenge": "say-this"})


async def test_S18_an_address_check_is_answered_only_when_it_is_signed_now() -> None:
    async with opened("wechat_mp") as door:
        platform = shots(door)
        good = Shot(
            method="GET",
            query=[*platform.signed(b"").query[:3], ("echostr", "say-this")],
            proof=("query", "signature"),
        )
        for why, forged in _proofs(good):
            assert await door.shoot(forged) == REFUSED, why
        old = replace(
            good,
            query=[*platform.signed(b"", at=time.time() - 360).query[:3], ("echostr", "say-this")],
        )
        for shot in (
            old,
            replace(good, query=good.query[:3]),
            replace(good, query=[*good.query, ("echostr", "x")]),
        ):
            assert await door.shoot(shot) == REFUSED
        assert await door.shoot(good) == (200, b"say-this")


async def test_S18_what_was_sealed_for_another_app_is_refused() -> None:
    async with opened("feishu") as door:
        assert (
            await door.shoot(feishu_sealed(feishu_event("another", app_id="cli_another")))
            == REFUSED
        )
        assert await door.shoot(feishu_sealed(feishu_event("another", token="another"))) == REFUSED
        assert words(door) == []
    async with opened("wechat_mp") as door:
        platform = shots(door)
        inside = {
            "ToUserName": "gh_lab",
            "FromUserName": PERSON,
            "CreateTime": "1",
            "MsgType": "text",
            "MsgId": "1",
        }
        assert (
            await door.shoot(platform.sealed(xml_of(inside), app_id="wx0000000000000002"))
            == REFUSED
        )
        assert (await door.shoot(door.genuine("mine")))[0] == 200
        assert await door.shoot(door.genuine("another", 2, ToUserName="gh_another")) == REFUSED
        assert await door.shoot(door.genuine("another", 3, FromUserName="oAnother")) == REFUSED
        assert words(door) == ["mine"]


async def test_S19_altered_ciphers_get_one_answer() -> None:
    async with opened("wechat_mp") as door:
        platform, answers = shots(door), set()
        inside = base64.b64decode(platform.emulator.crypt.seal(b"<xml></xml>"))
        for number in range(ALTERATIONS):
            forged = bytearray(inside)
            forged[-1 - number % LAST_BYTES] ^= 1 + number % 255
            body = xml_of({"Encrypt": base64.b64encode(forged).decode()})
            # Even signed with the token, which no stranger has.
            shot = platform.signed(
                body, base64.b64encode(forged).decode() if number % 2 else "AAAA"
            )
            reply = await door.channel.hook(shot.request())
            answers.add((reply.status, reply.body))
        assert answers == {REFUSED}
    async with opened("feishu") as door:
        answers, genuine = set(), door.genuine("x")
        sealed = base64.b64decode(json.loads(genuine.body)["encrypt"])
        for number in range(ALTERATIONS):
            raw = bytearray(sealed)
            raw[-1 - number % LAST_BYTES] ^= 1 + number % 255
            body = json.dumps({"encrypt": base64.b64encode(raw).decode()}).encode()
            shot = (
                _signed_as_it_is(door, body, f"n{number}")
                if number % 2
                else replace(genuine, body=body)
            )
            reply = await door.channel.hook(shot.request())
            answers.add((reply.status, reply.body))
        assert answers == {REFUSED}


# -- what it is made of ---------------------------------------------------------------------------

HOSTILE_XML = {
    "doctype": b"<!DOCTYPE xml><xml>%s</xml>",
    "external": (
        b"<!DOCTYPE xml [<!ENTITY e SYSTEM "
        b'"file:///etc/passwd">]><xml>%s<Content>&e;</Content></xml>'
    ),
    "network": b'<!DOCTYPE xml SYSTEM "http://127.0.0.1:1/x.dtd"><xml>%s</xml>',
    "nested": b'<!DOCTYPE xml [<!ENTITY a "ha"><!ENTITY b "'
    + b"&a;" * 5000
    + b'"><!ENTITY c "'
    + b"&b;" * 5000
    + b'">]><xml>%s<Content>&c;</Content></xml>',
    "deep": b"<xml>%s" + b"<a>" * 100_000,
    "wide": b"<xml>%s" + b"<a/>" * 100_000 + b"</xml>",
    "doubled": b"<xml>%s<FromUserName>oAnother</FromUserName></xml>",
    "cut": b"<xml>%s<Content>",
    "none": b"{}%s",
}


@pytest.mark.parametrize("kind", [*HOSTILE_XML])
@pytest.mark.parametrize("name", ["wechat_mp", "wechat_mp plain"])
async def test_S20_hostile_xml_is_refused_at_once(name: str, kind: str) -> None:
    async with opened(name) as door:
        platform = shots(door)
        inside = (
            b"<ToUserName>gh_lab</ToUserName><FromUserName>%s</FromUserName><MsgType>text</MsgType>"
        )
        hostile = HOSTILE_XML[kind] % (inside % PERSON.encode())
        for shot in (
            platform.sealed(hostile),
            platform.signed(hostile, "AAAA"),
            platform.signed(hostile),
        ):
            began = time.perf_counter()
            reply = await door.channel.hook(shot.request())
            spent = time.perf_counter() - began
            assert (reply.status, reply.body) == REFUSED
            assert spent < 1.0  # 20 ms where nothing else runs
            assert await door.shoot(shot) == REFUSED
        assert (await door.shoot(door.genuine("still here")))[0] == 200
        assert words(door) == ["still here"]


HOSTILE_JSON = {
    "deep": b"[" * 100_000,
    "deep inside": b'{"update_id":1,"encrypt":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
    "doubled": b'{"update_id":1,"update_id":2,"encrypt":"a","encrypt":"b"}',
    "not a number": b'{"update_id":NaN,"encrypt":NaN}',
    "endless": b'{"update_id":Infinity,"encrypt":-Infinity}',
    "long number": b'{"update_id":' + b"9" * 100_000 + b"}",
    "no object": b"[1]",
    "no text": b"\xff\xfe",
    "nothing": b"",
}


@pytest.mark.parametrize("kind", [*HOSTILE_JSON])
@pytest.mark.parametrize("name", ["telegram", "feishu"])
async def test_S20_hostile_json_is_refused_and_the_process_lives(name: str, kind: str) -> None:
    body = HOSTILE_JSON[kind]
    async with opened(name) as door:
        for shot in (replace(door.genuine("x"), body=body), _signed_as_it_is(door, body)):
            status, _ = await door.shoot(shot)
            assert status in (400, 401)
        assert (await door.shoot(door.genuine("still here", 2)))[0] == 200
        assert words(door) == ["still here"]


def _signed_as_it_is(door: Door, body: bytes, nonce: str = "n0nce") -> Shot:
    """Sign a hostile body correctly."""
    if door.name == "telegram":
        return replace(telegram_shot("x"), body=body)
    stamp = str(int(time.time()))
    headers = [
        ("x-lark-request-timestamp", stamp),
        ("x-lark-request-nonce", nonce),
        ("x-lark-signature", sign(stamp, nonce, FEISHU_KEY, body)),
    ]
    return Shot(headers=headers, body=body, proof=("headers", "x-lark-signature"))


async def test_S21_a_body_without_end_is_cut_at_a_mebibyte(door: Door) -> None:
    head = f"POST /hooks/{door.name} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()  # noqa: E501
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        yield head
        for _ in range(32_768):
            sent += 65_536
            yield chunk

    try:
        status, _ = await talk(door.site.port, pieces())
        assert status == 413
    except (ConnectionError, IndexError):
        pass  # they were hung up on before they read the answer
    assert sent < 64 << 20
    assert (await door.shoot(door.genuine("still here")))[0] == 200


async def test_S21_a_body_that_trickles_is_closed_after_five_seconds() -> None:
    async with opened("telegram") as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.site.port)
        began = time.monotonic()
        writer.write(
            f"POST /hooks/{door.name} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{{".encode()
        )
        answer = await asyncio.wait_for(reader.read(), 60)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"the body did not arrive within 5 s" in answer
        assert 4.9 <= time.monotonic() - began < 15.0  # not the keep-alive's end, nor a minute
        writer.close()


async def test_S22_an_event_replayed_a_thousand_times_is_one_message(door: Door) -> None:
    shot = door.genuine("but once")
    for life in range(3):
        for _ in range(333):
            reply = await door.channel.hook(shot.request())
            assert reply.status == 200
        if life < 2:
            await door.restart()
    assert (await door.shoot(shot))[0] == 200
    assert words(door) == ["but once"]
    assert len(door.inbox.heard) == 1000


async def test_S22_the_same_event_signed_anew_ten_hours_later_is_one_message() -> None:
    async with opened("wechat_mp") as door:
        platform = shots(door)
        shot = door.genuine("but once", CreateTime=str(int(time.time())))
        assert (await door.shoot(shot))[0] == 200
        platform.emulator.world.advance(36_000)
        assert await door.shoot(shot) == REFUSED
        assert (await door.shoot(door.genuine("but once", CreateTime=str(int(time.time())))))[
            0
        ] == 200
        assert words(door) == ["but once"]


async def test_S23_what_a_call_claims_of_itself_is_not_believed(door: Door) -> None:
    claims = [
        ("x-forwarded-for", "127.0.0.1"),
        ("x-real-ip", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1"),
        ("cookie", "role=owner; scope=admin"),
        ("x-role", "owner"),
        ("authorization", "Bearer anything"),
    ]
    shot = door.genuine("who am I?")
    assert (
        await door.shoot(replace(shot.proved(), headers=shot.proved().headers + claims)) == REFUSED
    )
    assert words(door) == []
    assert (await door.shoot(replace(shot, headers=shot.headers + claims)))[0] == 200
    (message,) = door.inbox.stored
    assert message.sender.id in (PERSON, "5005", "ou_u1")


async def test_S61_a_refusal_says_nothing_of_what_the_caller_wrote(
    door: Door, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    evil = "\x1b]52;c;ZXZpbA==\x07\u202egnp"
    shot = replace(door.genuine("x"), body=evil.encode())
    hostile = replace(shot, query=[*shot.query, ("nonce", evil), ("echostr", evil)]).proved(
        evil.encode().decode("latin-1")
    )
    reply = await door.channel.hook(hostile.request())
    assert (reply.status, reply.body) == REFUSED
    told = capsys.readouterr()
    said = (
        told.out
        + told.err
        + caplog.text
        + str(getattr(door.channel, "connection_status", lambda: "")())
    )
    assert not any(sign in said for sign in ("\x1b]52", "ZXZpbA", "\u202e"))
