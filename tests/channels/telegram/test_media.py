"""Files in both directions, buttons, the menu, and the channel's status, over a real socket."""

import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from channels.errors import AttachmentTooBig, ChannelError, Rejected, Retryable
from channels.message import Address, Button, InboundMessage, OutboundFile, OutboundMessage
from channels.phrases import ShownPhrase
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from tests.contracts.channel_stage import Inbox, eventually, listening
from tests.emulators.telegram import TelegramEmulator

# Literals, so that the product is not compared with itself.
FETCH_BYTES = 20_971_520
FILE_BYTES = 52_428_800
PICTURE_BYTES = 10_485_760

PERSON, GROUP = 5005, -1002000000123
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
MENU = (
    ("help", ShownPhrase("What I can do", "帮助")),
    ("status", ShownPhrase("How it goes", "状态")),
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


def out(data: bytes = PNG, text: str = "", **fields: Any) -> OutboundMessage:
    name, picture = fields.pop("name", "chart.png"), fields.pop("picture", True)
    address = Address(channel="telegram", account="100", chat_id=str(PERSON))
    file = OutboundFile(name=name, media_type="image/png", data=data, picture=picture)
    return OutboundMessage(
        **(
            {
                "id": "o",
                "address": address,
                "client_key": "k",
                "text": text,
                "kind": "media",
                "file": file,
            }
            | fields
        )
    )


async def ref(emulator: TelegramEmulator, telegram: Telegram, data: bytes, **fields: Any) -> str:
    """Return the ref of a file that a person sent."""
    inbox = Inbox()
    async with listening(telegram, inbox):
        emulator.people.file("a.bin", data, **fields)
        await inbox.until(1)
    return inbox.stored[0].attachments[0].ref


async def test_a_picture_is_shown_with_its_caption_and_anything_else_is_offered(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    await telegram.send(out(text="**the** chart"))
    await telegram.send(out(b"a,b", name="../../t.csv", picture=False))
    picture, file = emulator.sent(PERSON)
    assert (picture.picture, picture.text, picture.entities[0]["type"]) == (
        True,
        "the chart",
        "bold",
    )
    assert (
        file.picture,
        emulator.world.files[file.file].name,
        emulator.world.files[file.file].data,
    ) == (
        False,
        "t.csv",
        b"a,b",
    )


@pytest.mark.parametrize(
    "data", [b"no picture at all", PNG + bytes(PICTURE_BYTES)], ids=["unreadable", "large"]
)
async def test_a_picture_that_cannot_be_shown_is_offered_as_a_file(
    emulator: TelegramEmulator, telegram: Telegram, data: bytes
) -> None:
    await telegram.send(out(data, "see"))
    (seen,) = emulator.sent(PERSON)
    assert (seen.picture, seen.text, emulator.world.files[seen.file].data) == (False, "see", data)


async def test_files_beyond_what_telegram_carries_are_refused_before_they_leave(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    with pytest.raises(AttachmentTooBig, match=str(FILE_BYTES)):
        await telegram.send(out(bytes(FILE_BYTES + 1), picture=False))
    with pytest.raises(Rejected, match="empty"):
        await telegram.send(out(b""))
    with pytest.raises(Rejected, match="a message of its own"):
        await telegram.send(out(text="x" * 1025))
    assert emulator.wire_log() == []


async def test_a_server_that_takes_less_says_too_big(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    body = '{"ok":false,"error_code":413,"description":"Request Entity Too Large"}'
    emulator.fault("status", method="sendDocument", code=413, body=body)
    with pytest.raises(AttachmentTooBig):
        await telegram.send(out(picture=False))


async def test_a_file_in_a_group_stays_in_its_topic_as_an_answer(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    asked = emulator.inject("@lab_bot chart", chat=GROUP, thread=17)["message_id"]
    address = Address(channel="telegram", account="100", chat_id=str(GROUP), thread_id="17")
    await telegram.send(out(address=address, reply_to_key=f"m:{GROUP}:{asked}:0"))
    (seen,) = emulator.sent(GROUP)
    assert (seen.thread, seen.reply_to) == (17, asked)


async def test_a_files_bytes_are_fetched_up_to_the_cap(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    data = bytes(range(256)) * 1000
    name = await ref(emulator, telegram, data)
    assert (await telegram.fetch(name, len(data))).data == data
    with pytest.raises(AttachmentTooBig):
        await telegram.fetch(name, len(data) - 1)


async def test_a_size_that_is_lied_about_does_not_matter(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    name = await ref(emulator, telegram, bytes(5000), size=10)
    with pytest.raises(AttachmentTooBig, match="more than 100 bytes"):
        await telegram.fetch(name, 100)


async def test_more_than_telegram_hands_out_is_too_big(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    name = await ref(emulator, telegram, b"x", size=FETCH_BYTES + 1)
    with pytest.raises(AttachmentTooBig, match=r"(?i)file is too big"):
        await telegram.fetch(name, 10 * FETCH_BYTES)


async def test_a_file_that_is_gone_is_refused(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    name = await ref(emulator, telegram, b"x")
    body = '{"ok":false,"error_code":404,"description":"Not Found"}'
    emulator.fault("status", method="download", code=404, body=body, times=1)
    with pytest.raises(Rejected, match="no longer exists"):
        await telegram.fetch(name, 100)
    emulator.people.forget_files()
    with pytest.raises(Rejected, match=r"(?i)wrong file_id"):
        await telegram.fetch(name, 100)


@pytest.mark.parametrize(
    ("method", "action"),
    [
        ("getFile", "html_502"),
        ("getFile", "accept_then_drop"),
        ("download", "html_502"),
        ("download", "truncate"),
    ],
)
async def test_a_fetch_that_fails_may_be_tried_again(
    emulator: TelegramEmulator, telegram: Telegram, method: str, action: Any
) -> None:
    name = await ref(emulator, telegram, b"some bytes")
    emulator.fault(action, method=method, times=1, size=3)
    with pytest.raises(Retryable):
        await telegram.fetch(name, 100)
    assert (await telegram.fetch(name, 100)).data == b"some bytes"


@pytest.mark.parametrize("path", ["/var/lib/bot/file", "../../etc/passwd", "", "a/../../b"])
async def test_a_path_outside_the_file_server_is_not_followed(
    emulator: TelegramEmulator, telegram: Telegram, path: str
) -> None:
    body = f'{{"ok":true,"result":{{"file_id":"f","file_unique_id":"u","file_path":"{path}"}}}}'
    emulator.fault("status", method="getFile", code=200, body=body)
    with pytest.raises(Rejected, match="a path on its own machine"):
        await telegram.fetch("f", 100)
    assert emulator.wire_log("download") == []


async def test_S60_the_token_is_not_logged_when_a_file_is_fetched(
    emulator: TelegramEmulator, telegram: Telegram, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    name = await ref(emulator, telegram, b"x")
    await telegram.fetch(name, 9)
    emulator.fault("close_before_reply", method="download")
    with pytest.raises(Retryable) as failed:
        await telegram.fetch(name, 9)
    assert emulator.token not in caplog.text
    assert emulator.token not in repr(failed.value) + repr(failed.value.__cause__)


async def test_S44_no_proxy_of_the_environment_is_used(
    emulator: TelegramEmulator, telegram: Telegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    name = await ref(emulator, telegram, b"x")
    assert (await telegram.fetch(name, 9)).data == b"x"


async def test_every_kind_of_file_can_be_fetched(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    inbox = Inbox()
    kinds = ("document", "voice", "audio", "video", "video_note", "animation", "sticker")
    async with listening(telegram, inbox):
        for kind in kinds:
            emulator.people.file("", kind.encode(), kind=kind)
        await inbox.until(len(kinds))
    fetched = [await telegram.fetch(message.attachments[0].ref, 99) for message in inbox.stored]
    assert [one.data.decode() for one in fetched] == list(kinds)


async def pressed(emulator: TelegramEmulator, telegram: Telegram) -> InboundMessage:
    address = Address(channel="telegram", account="100", chat_id=str(PERSON))
    buttons = (Button(text="Yes", data="y:1"), Button(text="No", data="n:1"))
    await telegram.send(
        OutboundMessage(id="o", address=address, client_key="k", text="May I?", buttons=buttons)
    )
    inbox = Inbox()
    async with listening(telegram, inbox):
        emulator.people.press("n:1")
        await inbox.until(1)
        await emulator.until(lambda: bool(emulator.wire_log("answerCallbackQuery")))
    return inbox.stored[0]


async def test_a_press_is_answered_once_it_is_stored(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    press = await pressed(emulator, telegram)
    assert (press.act, press.target) == ("press", "n:1")
    await emulator.until(lambda: emulator.world.answered == [press.key.removeprefix("c:")])


async def test_a_press_too_old_to_be_answered_is_heard_all_the_same(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    body = '{"ok":false,"error_code":400,"description":"Bad Request: query is too old"}'
    emulator.fault("status", method="answerCallbackQuery", code=400, body=body)
    assert (await pressed(emulator, telegram)).target == "n:1"


async def test_the_menu_is_told_in_two_languages(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    telegram.commands(MENU)
    async with listening(telegram, Inbox()):
        await emulator.until(lambda: len(emulator.world.commands) == 2)
    assert [one["description"] for one in emulator.world.commands[""]] == [
        "What I can do",
        "How it goes",
    ]
    assert [one["description"] for one in emulator.world.commands["zh"]] == ["帮助", "状态"]


async def test_a_menu_that_is_refused_keeps_nobody_from_being_heard(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    telegram.commands(MENU)
    emulator.fault("retry_after", method="setMyCommands", seconds=60)
    inbox = Inbox()
    async with listening(telegram, inbox):
        emulator.inject("hello")
        await inbox.until(1)


async def test_a_probe_says_who_we_are_and_what_stands_in_the_way(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    assert (
        await telegram.probe()
        == "@lab_bot (100); in groups it receives messages to it (privacy mode)"
    )
    emulator.methods.webhook = "https://example.org/hook"
    emulator.inject("waits")
    assert (await telegram.probe()).endswith(
        "a webhook is set, so polling receives nothing; 1 waiting"
    )
    emulator.token = "100:another"
    with pytest.raises(ChannelError):
        await telegram.probe()


async def test_vitals_tell_of_silence_and_of_its_end(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    assert (telegram.connection_status().last_contact, telegram.connection_status().trouble) == (
        0,
        "",
    )
    async with listening(telegram, Inbox()):
        await eventually(lambda: telegram.connection_status().last_contact)
        emulator.fault("html_502", method="getUpdates", times=1_000)
        await eventually(lambda: telegram.connection_status().trouble)
        emulator.clear_faults()  # seen first: a short trouble may come and go between two looks
        assert telegram.connection_status().trouble.startswith("no answer from Telegram")
        await eventually(lambda: not telegram.connection_status().trouble)


async def test_an_album_that_comes_in_pieces_is_one_by_name(
    emulator: TelegramEmulator, telegram: Telegram
) -> None:
    inbox = Inbox()
    async with listening(telegram, inbox):
        emulator.people.album([PNG, PNG + b"2", PNG + b"3"], "look", spread=0.2)
        await inbox.until(3)
    assert len({message.album for message in inbox.stored}) == 1
    assert inbox.texts == ["look", "", ""]
    assert [
        (await telegram.fetch(message.attachments[0].ref, 999)).data for message in inbox.stored
    ] == [
        PNG,
        PNG + b"2",
        PNG + b"3",
    ]
