"""The Telegram emulator judged by a client that is not ours: aiogram."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.methods import SendMessage, SendRichMessage
from aiogram.types import InputRichMessage, Message, ReplyParameters

from tests.emulators.telegram import TOKEN, TelegramEmulator

PERSON, GROUP = 5005, -1002000000123


@pytest.fixture
async def emulator() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as served:
        served.chat(PERSON)
        served.chat(GROUP)
        yield served


def client(url: str, token: str = TOKEN) -> Bot:
    return Bot(token, session=AiohttpSession(api=TelegramAPIServer.from_base(url)))


@pytest.fixture
async def bot(emulator: TelegramEmulator) -> AsyncIterator[Bot]:
    async with client(emulator.url) as used:
        yield used


def marks(message: Message) -> list[tuple[str, int, int]]:
    return [(entity.type, entity.offset, entity.length) for entity in message.entities or ()]


async def test_a_conversation(emulator: TelegramEmulator, bot: Bot) -> None:
    assert (await bot.get_me()).username == "lab_bot"
    asked = emulator.inject("/start 🙂", user=PERSON)
    (update,) = await bot.get_updates(timeout=1)
    assert update.update_id == asked["update_id"]
    assert update.message is not None
    assert marks(update.message) == [("bot_command", 0, 6)]
    await bot.send_chat_action(PERSON, "typing")
    await bot.send_message_draft(PERSON, draft_id=1, text="thin")
    sent = await bot.send_message(PERSON, "<b>hi</b> &amp;", parse_mode="HTML")
    assert marks(sent) == [("bold", 0, 2)]
    await bot.edit_message_text("changed", chat_id=PERSON, message_id=sent.message_id)
    assert [(seen.text, seen.edits) for seen in emulator.sent()] == [("changed", 1)]
    await bot.delete_message(PERSON, sent.message_id)
    assert emulator.sent() == []
    assert len(emulator.world.drafts) == len(emulator.world.shown_actions) == 1


async def test_an_update_comes_until_it_is_confirmed(emulator: TelegramEmulator, bot: Bot) -> None:
    first, second = (emulator.inject(text)["update_id"] for text in ("a", "b"))
    for _ in range(2):
        assert [update.update_id for update in await bot.get_updates()] == [first, second]
    assert [update.update_id for update in await bot.get_updates(offset=first + 1)] == [second]
    assert emulator.acks() == [first]
    assert await bot.get_updates(offset=second + 1) == []
    emulator.inject("c")
    emulator.world.advance(25 * 3600)
    assert await bot.get_updates() == []


async def test_a_second_poll_ends_the_first(emulator: TelegramEmulator, bot: Bot) -> None:
    first = asyncio.create_task(bot.get_updates(timeout=5))
    await emulator.until(lambda: len(emulator.wire_log("getUpdates")) == 1)
    second = asyncio.create_task(bot.get_updates(timeout=5))
    with pytest.raises(TelegramConflictError):
        await first
    emulator.inject("for the second")
    assert len(await second) == 1


async def test_refusals_are_the_servers(emulator: TelegramEmulator, bot: Bot) -> None:
    for text, why in (("<br>", "can't parse entities"), ("<b></b>", "text must be non-empty"), ("", "text is empty")):
        with pytest.raises(TelegramBadRequest, match=why):
            await bot.send_message(PERSON, text, parse_mode="HTML")
    with pytest.raises(TelegramBadRequest, match="message is too long"):
        await bot.send_message(PERSON, "🙂" * 4097)
    await bot.send_message(PERSON, "🙂" * 4096)
    with pytest.raises(TelegramBadRequest, match="text is too long"):
        await bot.send_message(PERSON, "🙂" * 8193)
    with pytest.raises(TelegramBadRequest, match="chat not found"):
        await bot.send_message(1, "x")
    with pytest.raises(TelegramBadRequest, match="message to be replied not found"):
        await bot.send_message(PERSON, "x", reply_parameters=ReplyParameters(message_id=999))
    with pytest.raises(TelegramBadRequest, match="message thread not found"):
        await bot.send_message(GROUP, "x", message_thread_id=1)
    sent = await bot.send_message(PERSON, "same")
    with pytest.raises(TelegramBadRequest, match="message is not modified"):
        await bot.edit_message_text("same", chat_id=PERSON, message_id=sent.message_id)


async def test_closed_doors_have_their_own_errors(emulator: TelegramEmulator, bot: Bot) -> None:
    emulator.chat(GROUP, state="kicked")
    with pytest.raises(TelegramForbiddenError, match="bot was kicked from the supergroup chat"):
        await bot.send_message(GROUP, "x")
    emulator.chat(-7, migrated_to=GROUP)
    with pytest.raises(TelegramMigrateToChat) as moved:
        await bot.send_message(-7, "x")
    assert moved.value.migrate_to_chat_id == GROUP
    emulator.world.flood(9)
    with pytest.raises(TelegramRetryAfter) as early:
        await bot.send_message(PERSON, "x")
    assert early.value.retry_after == 9


async def test_unknown_parameters_methods_and_tokens_are_refused(emulator: TelegramEmulator, bot: Bot) -> None:
    with pytest.raises(TelegramBadRequest, match="unknown parameters"):
        await bot(SendMessage(chat_id=PERSON, text="x", colour="red"))  # type: ignore[call-arg]
    with pytest.raises(TelegramNotFound, match="method not found"):
        await bot(SendRichMessage(chat_id=PERSON, rich_message=InputRichMessage(markdown="x")))
    async with client(emulator.url, "100:wrong") as stranger:
        with pytest.raises(TelegramUnauthorizedError):
            await stranger.get_me()
