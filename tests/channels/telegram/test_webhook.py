"""Telegram's webhook: which calls are accepted, when it is registered, and conflicts with another
program.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.base import WebhookReply, WebhookRequest
from channels.errors import ChannelError, ReceiverConflict
from channels.telegram.channel import Telegram
from channels.telegram.receiver import read_webhook_update
from channels.telegram.settings import TelegramSettings
from tests.cases import every_case
from tests.channels.hook_server import serve_hook
from tests.contracts.channel_stage import Inbox, Pages, eventually, listening
from tests.emulators.telegram import TelegramEmulator

# Literals, so that the product is not compared with itself.
HEADER = "x-telegram-bot-api-secret-token"
HEARD = ("message", "edited_message", "callback_query", "my_chat_member")

PERSON, OTHER = 5005, 6006
SECRET = "s3cret-of-the-lab_0123456789ABCDEF"
BODY = b'{"update_id":1}'


class Served:
    """A bot in webhook mode behind a server of its own."""

    def __init__(self, emulator: TelegramEmulator, pages: Pages | None = None) -> None:
        self.emulator = emulator
        self.pages = pages or Pages()
        self.url = ""
        self.replies: list[int] = []
        self.channel = self.made("http://127.0.0.1:1/hooks/telegram")

    def made(self, url: str, **others: Any) -> Telegram:
        mode: dict[str, Any] = {"mode": "webhook", "webhook_secret": SECRET, "webhook_url": url}
        settings = TelegramSettings(
            token=self.emulator.token, base_url=self.emulator.url, **(mode | others)
        )
        channel = Telegram(settings, poll_seconds=1)
        channel.bind(self.pages)
        return channel

    async def answer(self, call: WebhookRequest) -> WebhookReply:
        reply = await self.channel.hook(call)
        self.replies.append(reply.status)
        self.emulator.world.notify()
        return reply


@pytest.fixture
async def emulator() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as served:
        served.chat(PERSON)
        served.chat(OTHER)
        yield served


@pytest.fixture
async def served(emulator: TelegramEmulator) -> AsyncIterator[Served]:
    made = Served(emulator)
    async with serve_hook("telegram", made.answer) as url:
        made.url = url
        made.channel = made.made(url)
        yield made
        await emulator.hooks.stop()
        await made.channel.close()


def call(body: bytes = BODY, *secrets: str, method: str = "POST") -> WebhookRequest:
    return WebhookRequest(
        method=method, query=(), headers=tuple((HEADER, one) for one in secrets), body=body
    )


def told(text: str = "hi", number: int = 700100) -> bytes:
    chat = {"id": PERSON, "type": "private", "first_name": "A"}
    person = {"id": PERSON, "is_bot": False, "first_name": "A"}
    message = {"message_id": number, "date": 1790000000, "chat": chat, "from": person, "text": text}
    return json.dumps({"update_id": number, "message": message}).encode()


@asynccontextmanager
async def registered(served: Served, inbox: Inbox) -> AsyncIterator[asyncio.Task[None]]:
    async with listening(served.channel, inbox) as hearing:
        await served.emulator.until(lambda: served.emulator.hooks.url == served.url)
        yield hearing


def test_the_right_secret_once_is_believed() -> None:
    assert read_webhook_update(call(BODY, SECRET), SECRET) == {"update_id": 1}


@every_case(
    "secrets",
    [
        (),
        ("",),
        (SECRET, SECRET),
        (SECRET, "x"),
        (SECRET.lower(),),
        (SECRET[:-1],),
        (SECRET + "x",),
        ("ключ" * 9,),
        ("\ud83d",),
    ],
)
def test_S15_a_secret_that_is_missing_doubled_or_wrong_is_not(secrets: tuple[str, ...]) -> None:
    assert read_webhook_update(call(BODY, *secrets), SECRET) is None


def test_nothing_but_a_post_is_believed() -> None:
    assert read_webhook_update(call(BODY, SECRET, method="GET"), SECRET) is None


@every_case(
    "body",
    [
        *(
            b"",
            b"\xff",
            b"null",
            b"[]",
            b"7",
            b'"x"',
            b"{}",
            b'{"update_id":"1"}',
            b'{"update_id":1',
        ),
        *(b'{"update_id":1,"update_id":2}', b'{"update_id":1,"message":{"text":"a","text":"b"}}'),
        *(
            b'{"update_id":1,"x":NaN}',
            b'{"update_id":1,"x":-Infinity}',
            b'{"update_id":' + b"9" * 100_000 + b"}",
        ),
        *(b"[" * 100_000, b'{"update_id":1,"x":' + b"[" * 40 + b"]" * 40 + b"}"),
        b'{"update_id":1,"x":' + b'{"y":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
    ],
)
def test_S20_JSON_that_no_platform_sends_is_refused(body: bytes) -> None:
    assert read_webhook_update(call(body, SECRET), SECRET) is None


@given(st.binary(max_size=200))
def test_no_body_is_more_than_refused(body: bytes) -> None:
    found = read_webhook_update(call(body, SECRET), SECRET)
    assert found is None or isinstance(found["update_id"], int)


@every_case(
    ("secret", "why"),
    [
        ("", "0 characters"),
        ("x" * 31, "31 characters"),
        ("x" * 31 + "!", "A-Z"),
        ("x" * 257, "at most 256"),
    ],
)
def test_S14_webhook_mode_needs_a_secret_nobody_guesses(secret: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Telegram(TelegramSettings(token="1:x", mode="webhook", webhook_secret=secret))


async def test_a_bot_that_polls_believes_no_call(emulator: TelegramEmulator) -> None:
    channel = Telegram(
        TelegramSettings(token=emulator.token, base_url=emulator.url, webhook_secret=SECRET)
    )
    assert not channel.capabilities.hook
    assert await channel.hook(call(BODY, SECRET)) == WebhookReply(
        status=401, written=(await channel.hook(call())).written
    )


async def test_before_it_runs_a_call_is_put_off_but_a_wrong_one_is_refused(served: Served) -> None:
    assert (await served.channel.hook(call(told(), SECRET))).status == 503
    reply = await served.channel.hook(call(told(), "wrong"))
    assert (reply.status, reply.body) == (401, b"")


async def test_messages_come_by_webhook_and_are_taken_once_stored(
    served: Served, emulator: TelegramEmulator
) -> None:
    inbox = Inbox([OSError("disk full"), RuntimeError("closed")])
    async with registered(served, inbox):
        emulator.inject("hello")
        await emulator.until(lambda: len(served.replies) == 1)
        emulator.world.advance(2)
        await emulator.until(lambda: len(served.replies) == 2)
        assert emulator.acks() == []
        emulator.world.advance(3)
        await emulator.until(lambda: len(emulator.acks()) == 1)
    assert inbox.texts == ["hello"]
    assert served.replies == [503, 503, 200]


async def test_what_nobody_understands_is_taken_and_goes_nowhere(
    served: Served, emulator: TelegramEmulator
) -> None:
    inbox = Inbox()
    async with registered(served, inbox):
        emulator.world.put_in({"message": {"text": "no chat"}})
        emulator.world.put_in({"from_the_future": {}})
        emulator.inject("after")
        await emulator.until(lambda: len(emulator.acks()) == 3)
    assert inbox.texts == ["after"]


async def test_chats_come_beside_each_other_and_each_in_its_order(
    served: Served, emulator: TelegramEmulator
) -> None:
    inbox = Inbox()
    inbox.gate.clear()
    async with registered(served, inbox):
        for number in range(3):
            emulator.inject(f"a{number}")
            emulator.inject(f"b{number}", user=OTHER)
        await emulator.until(lambda: len(emulator.hooks.flying) == 2)
        inbox.gate.set()
        await emulator.until(lambda: len(emulator.acks()) == 6)
    assert [text for text in inbox.texts if text[0] == "a"] == ["a0", "a1", "a2"]
    assert [text for text in inbox.texts if text[0] == "b"] == ["b0", "b1", "b2"]


async def test_a_forger_is_refused_and_the_true_call_still_comes(
    served: Served, emulator: TelegramEmulator
) -> None:
    inbox = Inbox()
    async with registered(served, inbox):
        for secret in ("wrong", ""):
            emulator.hooks.shown = secret
            emulator.inject(f"from {secret or 'nobody'}", user=PERSON if secret else OTHER)
            await emulator.until(lambda: bool(served.replies) and not emulator.hooks.flying)
        assert set(served.replies) == {401}
        emulator.hooks.shown = None
        emulator.world.advance(200)
        await emulator.until(lambda: len(emulator.acks()) == 2)
    assert len(inbox.stored) == 2


async def test_S22_an_update_brought_again_has_the_same_key(served: Served) -> None:
    inbox = Inbox()
    async with registered(served, inbox):
        before = served.channel.connection_status().last_contact
        replies = [(await served.channel.hook(call(told(), SECRET))).status for _ in range(50)]
        assert served.channel.connection_status().last_contact > before
    assert set(replies) == {200}
    assert (len(inbox.heard), len(inbox.stored)) == (50, 1)


async def test_it_is_registered_only_where_it_has_to_be(
    served: Served, emulator: TelegramEmulator
) -> None:
    for _ in range(2):
        async with registered(served, Inbox()):
            pass
        await served.channel.close()
        served.channel = served.made(served.url)
    (set_up,) = emulator.wire_log("setWebhook")
    assert set_up.parameters["secret_token"] == SECRET
    assert emulator.world.kinds == frozenset(HEARD)
    assert "drop_pending_updates" not in set_up.parameters
    emulator.world.advance(2)
    served.channel = served.made(served.url, webhook_secret=SECRET[::-1])
    async with listening(served.channel, Inbox()):
        await emulator.until(lambda: len(emulator.wire_log("setWebhook")) == 2)
        emulator.world.advance(2)
        emulator.hooks.url = served.url
    assert SECRET not in str(served.pages.values)


async def test_without_an_address_it_is_the_owner_who_registers(
    served: Served, emulator: TelegramEmulator
) -> None:
    served.channel = served.made("")
    async with listening(served.channel, Inbox()):
        await eventually(lambda: "no webhook is set" in served.channel.connection_status().trouble)
        assert emulator.wire_log("setWebhook") == []


async def test_what_telegram_says_of_failures_is_told(
    served: Served, emulator: TelegramEmulator
) -> None:
    emulator.hooks.shown = "wrong"
    async with registered(served, Inbox()):
        emulator.inject("hello")
        await emulator.until(lambda: 401 in served.replies)
        await eventually(
            lambda: (
                "Wrong response from the webhook: 401" in served.channel.connection_status().trouble
            )
        )
        assert served.channel.connection_status().last_contact > 0


@pytest.mark.parametrize(
    ("url", "by"),
    [("https://else.example/x?key=1", "set to https://else.example"), ("", "removed")],
)
async def test_a_webhook_that_another_takes_is_not_fought_over(
    served: Served, emulator: TelegramEmulator, url: str, by: str
) -> None:
    async with registered(served, Inbox()) as hearing:
        emulator.hooks.url = url
        with pytest.raises(ReceiverConflict, match=by) as lost:
            await asyncio.wait_for(asyncio.shield(hearing), 10)
    assert "key=1" not in str(lost.value)
    with pytest.raises(ReceiverConflict, match=by):
        await served.channel.run(Inbox())
    assert emulator.hooks.url == url


async def test_from_webhook_back_to_polling_ours_is_removed_and_nothing_lost(
    served: Served, emulator: TelegramEmulator
) -> None:
    inbox = Inbox()
    async with registered(served, inbox):
        emulator.inject("by webhook")
        await emulator.until(lambda: len(emulator.acks()) == 1)
    emulator.inject("between")
    polling = served.made("", mode="polling", webhook_secret="")
    async with listening(polling, inbox):
        await emulator.until(lambda: len(emulator.acks()) == 2)
    assert inbox.texts == ["by webhook", "between"]
    assert emulator.hooks.url == ""
    assert not served.pages.values
    await polling.close()


async def test_a_server_that_falls_silent_ends_it_with_a_reason(
    served: Served, emulator: TelegramEmulator
) -> None:
    async with registered(served, Inbox()) as hearing:
        emulator.fault("half_open", method="getWebhookInfo")
        with pytest.raises(ChannelError, match="no answer from Telegram for 3 s"):
            await asyncio.wait_for(asyncio.shield(hearing), 15)
    assert (await served.channel.hook(call(told(), SECRET))).status == 503
