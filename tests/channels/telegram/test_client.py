"""Telegram over a real socket: each failure is mapped to its error."""

import asyncio
import json
import logging
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from channels.errors import (
    Ambiguous,
    BadFormat,
    ChannelError,
    ChatMoved,
    LoggedOut,
    Rejected,
    Retryable,
)
from channels.message import Address, LiveEvent, OutboundMessage
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from tests.by_night import by_night
from tests.contracts.channel_stage import Inbox, listening
from tests.emulators.telegram import TelegramEmulator

PERSON, GROUP = 5005, -1002000000123
CHAT = {"id": PERSON, "type": "private", "first_name": "A"}
SAID = {
    "message_id": 1,
    "date": 1,
    "chat": CHAT,
    "from": {"id": PERSON, "first_name": "A"},
    "text": "between",
}
BATCH = json.dumps(
    {"ok": True, "result": [None, {"message": SAID}, {"update_id": 1, "message": SAID}, []]}
)


@pytest.fixture
async def emulator() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as served:
        served.chat(PERSON)
        served.chat(GROUP, is_forum=True, topics=[17])
        yield served


@pytest.fixture
async def telegram(emulator: TelegramEmulator) -> AsyncIterator[Telegram]:
    channel = Telegram(
        TelegramSettings(token=emulator.token, base_url=emulator.url), poll_seconds=1
    )
    yield channel
    await channel.close()


def part(text: str = "hi", chat: int = PERSON, thread: str = "", **fields: Any) -> OutboundMessage:
    address = Address(channel="telegram", account="100", chat_id=str(chat), thread_id=thread)
    return OutboundMessage(id="o1", address=address, client_key="k1", text=text, **fields)


async def refusal(telegram: Telegram, message: OutboundMessage) -> ChannelError:
    with pytest.raises(ChannelError) as refused:
        await telegram.send(message)
    assert "secret-of-the-lab" not in str(refused.value)
    return refused.value


async def test_formatted_text_is_seen_formatted(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    receipt = await telegram.send(part("**bold** & <plain>"))
    (seen,) = emulator.sent()
    assert (seen.text, seen.entities) == (
        "bold & <plain>",
        [{"type": "bold", "offset": 0, "length": 4}],
    )
    assert receipt.platform_id == str(seen.message_id)


async def test_in_a_topic_an_answer_stays_in_it_and_replies(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    asked = emulator.inject("@lab_bot hi", chat=GROUP, thread=17)["message_id"]
    await telegram.send(part(chat=GROUP, thread="17", reply_to_key=f"m:{GROUP}:{asked}:0"))
    (seen,) = emulator.sent(GROUP)
    assert (seen.thread, seen.reply_to) == (17, asked)


async def test_an_answer_to_a_deleted_message_or_topic_arrives_all_the_same(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    await telegram.send(part(chat=GROUP, thread="99", reply_to_key=f"m:{GROUP}:12345:0"))
    (seen,) = emulator.sent(GROUP)
    assert (seen.thread, seen.reply_to) == (0, 0)


@pytest.mark.parametrize(
    "action", ["html_502", "close_before_reply", "accept_then_drop", "truncate"]
)
async def test_a_broken_answer_leaves_the_fate_unknown(
    emulator: TelegramEmulator, telegram: Telegram, action: Any
) -> None:
    emulator.fault(action, method="sendMessage", times=1, size=9)
    assert isinstance(await refusal(telegram, part()), Ambiguous)


@pytest.mark.parametrize(
    ("code", "body"), [(200, "{}"), (200, "<html>"), (200, '{"ok":true,"result":[]}'), (500, "x")]
)
async def test_sent_is_never_said_of_an_odd_answer(
    emulator: TelegramEmulator, telegram: Telegram, code: int, body: str
) -> None:
    emulator.fault("status", method="sendMessage", code=code, body=body)
    assert isinstance(await refusal(telegram, part()), Ambiguous)


async def test_a_server_that_is_not_there_has_surely_got_nothing() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        telegram = Telegram(
            TelegramSettings(token="100:x", base_url=f"http://127.0.0.1:{unused.getsockname()[1]}")
        )
        assert isinstance(await refusal(telegram, part()), Retryable)
        await telegram.close()


@pytest.mark.parametrize("parameters", [True, False])
async def test_a_flood_stops_only_the_chat_it_names(
    emulator: TelegramEmulator, telegram: Telegram, parameters: bool
) -> None:
    emulator.world.flood(60, chat=PERSON, parameters=parameters)
    refused = await refusal(telegram, part())
    assert isinstance(refused, Retryable)
    assert (refused.retry_after, refused.whole_channel) == (60, False)
    await telegram.send(part(chat=GROUP))
    emulator.world.advance(61)
    await telegram.send(part())
    assert len(emulator.sent()) == 2


@pytest.mark.parametrize(
    "state", ["blocked", "deactivated", "kicked", "not_member", "deleted", "not_started"]
)
async def test_a_closed_chat_is_gone(
    emulator: TelegramEmulator, telegram: Telegram, state: str
) -> None:
    emulator.chat(PERSON, state=state)
    refused = await refusal(telegram, part())
    assert isinstance(refused, Rejected)
    assert refused.gone


async def test_a_chat_that_may_not_be_written_to_is_refused_but_not_gone(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    emulator.chat(PERSON, state="read_only")
    refused = await refusal(telegram, part())
    assert isinstance(refused, Rejected)
    assert not refused.gone


async def test_a_migrated_chat_tells_its_new_id(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    emulator.chat(-7, type="group", migrated_to=GROUP)
    refused = await refusal(telegram, part(chat=-7))
    assert isinstance(refused, ChatMoved)
    assert refused.chat_id == str(GROUP)


async def test_too_long_is_refused_for_good(telegram: Telegram) -> None:
    refused = await refusal(telegram, part("x" * 4097, plain=True))
    assert isinstance(refused, Rejected)
    assert not isinstance(refused, BadFormat)


async def test_markup_the_server_cannot_read_would_go_as_plain_text(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    body = (
        '{"ok":false,"error_code":400,"description":"Bad Request: can\'t parse entities: Unclosed"}'
    )
    emulator.fault("status", method="sendMessage", code=400, body=body, times=1)
    assert isinstance(await refusal(telegram, part("**x**")), BadFormat)
    await telegram.send(part("**x**", plain=True))
    assert emulator.sent()[0].text == "**x**"


async def test_a_wrong_token_needs_the_owner(emulator: TelegramEmulator) -> None:
    telegram = Telegram(TelegramSettings(token="100:wrong", base_url=emulator.url), poll_seconds=1)
    assert isinstance(await refusal(telegram, part()), LoggedOut)
    with pytest.raises(LoggedOut):
        await telegram.run(Inbox())
    await telegram.close()


async def test_not_found_alone_does_not_mean_a_wrong_token(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    emulator.fault("status", method="sendMessage", code=404, body="no such page", times=1)
    assert isinstance(await refusal(telegram, part()), Retryable)
    await telegram.send(part())


async def test_a_second_poller_ends_the_first_and_says_so(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    async with listening(telegram, Inbox()) as first:
        await emulator.until(lambda: len(emulator.wire_log("getUpdates")) == 1)
        async with listening(
            Telegram(TelegramSettings(token=emulator.token, base_url=emulator.url), poll_seconds=1),
            Inbox(),
        ):
            with pytest.raises(ChannelError, match="another program polls"):
                await asyncio.wait_for(asyncio.shield(first), 10)


async def test_a_webhook_is_not_taken_away_from_whoever_set_it(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    emulator.methods.webhook = "https://example.org/hook"
    with pytest.raises(ChannelError, match=r"a webhook at https://example\.org receives"):
        await telegram.run(Inbox())
    assert emulator.methods.webhook == "https://example.org/hook"


async def test_a_server_that_fails_for_a_while_is_waited_for(emulator: TelegramEmulator) -> None:
    telegram = Telegram(
        TelegramSettings(token=emulator.token, base_url=emulator.url), poll_seconds=3
    )
    emulator.fault("html_502", times=1)
    emulator.fault("close_before_reply", method="getUpdates", nth=1)
    inbox = Inbox()
    async with listening(telegram, inbox):
        emulator.inject("still there?")
        await emulator.until(lambda: bool(emulator.acks()))
    assert [message.text for message in inbox.stored] == ["still there?"]


async def test_a_silent_connection_is_given_up_and_the_next_one_hears(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    emulator.fault("half_open", method="getUpdates", times=1)
    with pytest.raises(ChannelError, match="no answer from Telegram for 3 s"):
        await telegram.run(Inbox())
    inbox = Inbox()
    emulator.inject("hello?")
    async with listening(telegram, inbox):
        await emulator.until(lambda: bool(emulator.acks()))
    assert [message.text for message in inbox.stored] == ["hello?"]


async def test_updates_that_are_no_messages_are_confirmed_and_go_nowhere(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    inbox = Inbox()
    async with listening(telegram, inbox):
        emulator.inject(
            pinned_message={"message_id": 1, "date": 0, "chat": {"id": PERSON, "type": "private"}}
        )
        await emulator.until(lambda: len(emulator.acks()) == 1)
        emulator.world.pending.append(
            {"update_id": emulator.world.next_update, "message": {"text": "no chat"}}
        )
        emulator.world.born[emulator.world.next_update] = emulator.world.now()
        emulator.world.next_update += 1
        emulator.inject("after it")
        await emulator.until(lambda: len(emulator.acks()) == 3)
    assert [message.text for message in inbox.stored] == ["after it"]


async def test_an_answer_that_holds_no_updates_ends_the_hearing_with_a_reason(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    for result in ("{}", "7", "null", '{"a":1}', '["x",7]'):
        emulator.fault(
            "status",
            method="getUpdates",
            code=200,
            body=f'{{"ok":true,"result":{result}}}',
            times=1,
        )
        with pytest.raises(ChannelError, match="holds no updates"):
            await asyncio.wait_for(telegram.run(Inbox()), 10)


async def test_what_is_no_update_hides_none(emulator: TelegramEmulator, telegram: Telegram) -> None:
    inbox = Inbox()
    emulator.fault("status", method="getUpdates", code=200, times=1, body=BATCH)
    async with listening(telegram, inbox):
        await inbox.until(1)
    assert inbox.texts == ["between"]


async def test_a_group_hears_only_what_privacy_mode_shows(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    inbox = Inbox()
    async with listening(telegram, inbox):
        await emulator.until(lambda: len(emulator.wire_log("getUpdates")) == 1)
        assert emulator.inject("between us", chat=GROUP)["update_id"] == 0
        emulator.inject("@lab_bot to you", chat=GROUP)
        emulator.inject("/status", chat=GROUP)
        await emulator.until(lambda: len(emulator.acks()) == 2)
    assert [(m.text, m.kind, m.addressed) for m in inbox.stored] == [
        ("to you", "group", True),
        ("/status", "group", False),
    ]


async def test_update_ids_that_begin_anew_lose_and_repeat_nothing(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    inbox = Inbox()
    async with listening(telegram, inbox):
        emulator.inject("before")
        await emulator.until(lambda: len(emulator.acks()) == 1)
        emulator.world.next_update = 5
        emulator.inject("after")
        await emulator.until(lambda: len(emulator.acks()) == 2)
    assert [message.text for message in inbox.stored] == ["before", "after"]


async def test_typing_is_shown_until_the_answer(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    address = part(chat=GROUP, thread="17").address
    for name in ("accepted", "started", "delta", "delta"):
        telegram.show(LiveEvent(address=address, name=name))  # type: ignore[arg-type]
    await emulator.until(lambda: bool(emulator.world.shown_actions))
    telegram.show(LiveEvent(address=address, name="reply", text="done"))
    assert emulator.world.shown_actions == [{"chat": GROUP, "action": "typing", "thread": 17}]


async def test_typing_that_is_refused_troubles_nobody(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    emulator.chat(PERSON, state="blocked")
    telegram.show(LiveEvent(address=part().address, name="started"))
    await emulator.until(lambda: len(emulator.wire_log("sendChatAction")) == 1)
    emulator.chat(PERSON, state="open")
    await telegram.send(part())


async def test_the_token_is_never_logged(
    emulator: TelegramEmulator, telegram: Telegram, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await telegram.send(part())
    assert emulator.token not in caplog.text


def test_importing_the_channel_loads_no_sdk() -> None:
    code = (
        "import sys, channels.telegram; sys.exit('telegram' in sys.modules or 'httpx' in "
        "sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@asynccontextmanager
async def emulator_process() -> AsyncIterator[str]:
    command = [sys.executable, "-m", "tests.emulators.telegram", "--port", "0"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


@by_night
async def test_the_emulator_serves_as_a_process_too() -> None:
    async with emulator_process() as url, aiohttp.ClientSession(url) as control:
        telegram = Telegram(
            TelegramSettings(token="100:secret-of-the-lab", base_url=url), poll_seconds=1
        )
        await control.post("/_ctl/inject", json={"text": "hi", "user": PERSON})
        await telegram.send(part("one"))
        await control.post("/_ctl/fault", json={"action": "html_502", "method": "sendMessage"})
        assert isinstance(await refusal(telegram, part()), Ambiguous)
        async with (
            listening(telegram, Inbox()),
            control.get("/_ctl/wait", params={"acks": 1, "sent": 1}) as waited,
        ):
            assert await waited.json() is True
        async with control.get("/_ctl/sent", params={"chat": PERSON}) as seen:
            assert [message["text"] for message in await seen.json()] == ["one"]
        await telegram.close()
