"""Which webhook calls are accepted."""

import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from channels.base import WebhookReply, WebhookRequest
from channels.feishu.channel import Feishu
from channels.feishu.settings import FeishuSettings
from channels.feishu.webhook import FeishuWebhookVerifier, VerificationFailed
from tests.cases import every_case
from tests.channels.feishu.stage import KEY, TOKEN, FeishuStage
from tests.contracts.channel_stage import Inbox, listening
from tests.emulators.feishu import APP_ID, FeishuEmulator
from tests.emulators.feishu_webhook import Wrong, call, seal
from tests.emulators.feishu_world import World

CHALLENGE = {"type": "url_verification", "challenge": "c-1", "token": TOKEN}


def settings(**changes: Any) -> FeishuSettings:
    told = {
        "app_id": APP_ID,
        "app_secret": "s",
        "mode": "webhook",
        "encrypt_key": KEY,
        "verification_token": TOKEN,
    }
    return FeishuSettings(**{**told, **changes})


def event(text: str = "hi") -> dict[str, Any]:
    world = World(app_id=APP_ID, secret="s", seed=hash(text))
    world.inject(text)
    return world.pushes[-1].event


def asked(told: dict[str, Any], **how: Any) -> WebhookRequest:
    headers, body = call(told, how.pop("key", KEY), **how)
    return WebhookRequest(method="POST", query=(), headers=tuple(headers), body=body)


def sealed(text: str, **how: Any) -> WebhookRequest:
    """Sign and encrypt any content correctly."""
    body = json.dumps({"encrypt": seal(text, KEY)}).encode()
    return signed(body, **how)


def signed(body: bytes, nonce: str = "") -> WebhookRequest:
    from tests.emulators.feishu_webhook import sign

    now, nonce = str(int(time.time())), nonce or f"n{random.random()}"
    pairs = [("timestamp", now), ("nonce", nonce)]
    headers = [(f"x-lark-request-{name}", value) for name, value in pairs]
    headers.append(("x-lark-signature", sign(now, nonce, KEY, body)))
    return WebhookRequest(method="POST", query=(), headers=tuple(headers), body=body)


def believed(request: WebhookRequest) -> bool:
    try:
        FeishuWebhookVerifier(settings()).open(request)
    except VerificationFailed:
        return False
    return True


@asynccontextmanager
async def open_door(inbox: Inbox) -> AsyncIterator[Feishu]:
    async with FeishuEmulator() as emulator:
        channel = FeishuStage(emulator, "webhook").channel
        async with listening(channel, inbox):
            await emulator.until(lambda: bool(emulator.wire_log("/bot/v3/info")))
            while (
                await channel.hook(WebhookRequest(method="POST", query=(), headers=(), body=b""))
            ).status == 503:
                await emulator.world.change(0.02)
            yield channel
        await channel.close()


def told(reply: WebhookReply) -> tuple[int, bytes]:
    return reply.status, reply.body


@pytest.mark.parametrize("missing", ["encrypt_key", "verification_token"])
def test_s14_no_webhook_without_its_keys(missing: str) -> None:
    with pytest.raises(ValueError, match=missing):
        Feishu(settings(**{missing: ""}))
    assert not Feishu(FeishuSettings(app_id=APP_ID, app_secret="s")).capabilities.hook
    assert Feishu(settings()).capabilities.hook


def test_a_right_call_is_believed() -> None:
    assert believed(asked(event()))


@every_case(
    "wrong",
    [
        "unsigned",
        "empty_signature",
        "double_signature",
        "non_ascii_signature",
        "upper_signature",
        "other_body",
    ],
)
def test_s15_a_wrong_signature_is_not(wrong: Wrong) -> None:
    assert not believed(asked(event(), wrong=wrong))


@pytest.mark.parametrize(
    "header", ["x-lark-request-timestamp", "x-lark-request-nonce", "x-lark-signature"]
)
def test_s15_each_header_stands_there_once(header: str) -> None:
    right = asked(event())
    for headers in (
        tuple(pair for pair in right.headers if pair[0] != header),
        (*right.headers, *(pair for pair in right.headers if pair[0] == header)),
    ):
        assert not believed(
            WebhookRequest(method="POST", query=(), headers=headers, body=right.body)
        )


@pytest.mark.parametrize("wrong", ["plain", "reserialised"])
def test_s16_a_plain_or_rewritten_body_is_not(wrong: Wrong) -> None:
    assert not believed(asked(event(), wrong=wrong))


def test_s16_a_plain_body_that_is_rightly_signed_is_not() -> None:
    assert not believed(signed(json.dumps(event()).encode()))


@pytest.mark.parametrize("wrong", ["stale", "future", "odd_time"])
def test_s17_the_signed_time_is_near_ours(wrong: Wrong) -> None:
    assert not believed(asked(event(), wrong=wrong))


def test_s17_a_nonce_belongs_to_one_body() -> None:
    gate, first = FeishuWebhookVerifier(settings()), asked(event("one"), nonce="n1")
    assert gate.open(first) == gate.open(first)
    with pytest.raises(VerificationFailed):
        gate.open(asked(event("two"), nonce="n1"))
    gate.open(asked(event("two"), nonce="n2"))


def test_s18_a_challenge_is_answered_only_when_it_is_encrypted_and_has_our_token() -> None:
    assert believed(asked(CHALLENGE, wrong="unsigned"))
    assert believed(asked(CHALLENGE))
    assert not believed(asked(CHALLENGE, wrong="plain"))
    assert not believed(
        WebhookRequest(method="POST", query=(), headers=(), body=json.dumps(CHALLENGE).encode())
    )
    assert not believed(asked({**CHALLENGE, "token": "vt-2"}, wrong="unsigned"))
    assert not believed(asked({**CHALLENGE, "token": None}))
    assert not believed(asked(CHALLENGE, wrong="unsigned", key="another-key"))


def test_s18_an_event_of_another_app_or_token_is_not() -> None:
    for field, value in (
        ("app_id", "cli_other"),
        ("token", "vt-2"),
        ("token", ["vt-1"]),
        ("app_id", None),
    ):
        other = event()
        other["header"][field] = value
        assert not believed(asked(other))
    assert not believed(sealed('{"header": []}'))
    assert not believed(sealed('{"header": {"token": "vt-1"}, "event": 7}'))
    old = {"uuid": "u", "token": TOKEN, "type": "event_callback", "event": {"app_id": APP_ID}}
    assert believed(sealed(json.dumps(old)))
    assert not believed(sealed(json.dumps({**old, "event": {"app_id": "cli_other"}})))


async def test_s19_altered_bodies_have_one_answer() -> None:
    inbox = Inbox()
    async with open_door(inbox) as channel:
        right = asked(event())
        answers = set()
        for place in range(0, len(right.body), 7):
            body = bytearray(right.body)
            body[place] ^= 1
            for headers in (right.headers, ()):
                request = WebhookRequest(method="POST", query=(), headers=headers, body=bytes(body))
                answers.add(told(await channel.hook(request)))
        assert answers == {(401, b"")}
    assert inbox.stored == []


@every_case(
    "inside",
    [
        "[" * 100_000 + "]" * 100_000,
        json.dumps(CHALLENGE)[:-1] + ', "token": "vt-1"}',
        '{"type": "url_verification", "token": "vt-1", "challenge": NaN}',
        '{"type": "url_verification", "token": "vt-1", "challenge": ' + "1" * 100_000 + "}",
        '"vt-1"',
        "{",
    ],
)
def test_s20_json_that_plays_tricks_is_not_believed(inside: str) -> None:
    began = time.process_time()
    assert not believed(sealed(inside))
    assert not believed(signed(inside.encode()))
    assert time.process_time() - began < 2


async def test_s22_a_replayed_call_is_one_message() -> None:
    inbox = Inbox()
    request = asked(event("once"))
    async with open_door(inbox) as channel:
        assert {told(await channel.hook(request)) for _ in range(50)} == {(200, b"{}")}
    async with open_door(inbox) as channel:
        assert told(await channel.hook(request)) == (200, b"{}")
        assert told(await channel.hook(asked(CHALLENGE, wrong="unsigned"))) == (
            200,
            b'{"challenge": "c-1"}',
        )
    assert inbox.texts == ["once"]


async def test_what_cannot_be_stored_is_not_confirmed() -> None:
    inbox = Inbox([OSError("disk full"), RuntimeError("closed")])
    channel = Feishu(settings())
    assert told(await channel.hook(asked(event()))) == (503, b""), "before it runs"
    async with open_door(inbox) as channel:
        request = asked(event("kept in the end"))
        assert [(await channel.hook(request)).status for _ in range(3)] == [503, 503, 200]
        assert (
            await channel.hook(WebhookRequest(method="GET", query=(), headers=(), body=b""))
        ).status == 401
    assert inbox.texts == ["kept in the end"]
