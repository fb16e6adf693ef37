"""The Telegram emulator judged by a client that is not ours: aiogram."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramConflictError,
    TelegramEntityTooLarge,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.methods import SendMessage, SendRichMessage
from aiogram.types import (
    BotCommand,
    BufferedInputFile,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaPhoto,
    InputRichMessage,
    Message,
    ReactionTypeEmoji,
    ReplyParameters,
)
from aiohttp import web

from tests.emulators.telegram import TOKEN, TelegramEmulator
from tests.emulators.telegram_media import MOST_IN, MOST_OUT

PERSON, GROUP = 5005, -1002000000123
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


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
    for text, why in (
        ("<br>", "can't parse entities"),
        ("<b></b>", "text must be non-empty"),
        ("", "text is empty"),
    ):
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


async def test_unknown_parameters_methods_and_tokens_are_refused(
    emulator: TelegramEmulator, bot: Bot
) -> None:
    with pytest.raises(TelegramBadRequest, match="unknown parameters"):
        await bot(SendMessage(chat_id=PERSON, text="x", colour="red"))  # type: ignore[call-arg]
    with pytest.raises(TelegramNotFound, match="method not found"):
        await bot(SendRichMessage(chat_id=PERSON, rich_message=InputRichMessage(markdown="x")))
    async with client(emulator.url, "100:wrong") as stranger:
        with pytest.raises(TelegramUnauthorizedError):
            await stranger.get_me()


async def test_buttons_are_pressed_and_answered(emulator: TelegramEmulator, bot: Bot) -> None:
    keyboard = InlineKeyboardMarkup(
        inline_keyboard=[[InlineKeyboardButton(text="Yes", callback_data="y")]]
    )
    sent = await bot.send_message(PERSON, "May I?", reply_markup=keyboard)
    assert sent.reply_markup is not None
    assert sent.reply_markup.inline_keyboard[0][0].text == "Yes"
    emulator.people.press("y")
    (update,) = await bot.get_updates()
    assert update.callback_query is not None
    assert (update.callback_query.data, update.callback_query.from_user.id) == ("y", PERSON)
    assert await bot.answer_callback_query(update.callback_query.id)
    emulator.world.advance(3600)
    with pytest.raises(TelegramBadRequest, match="query is too old"):
        await bot.answer_callback_query(update.callback_query.id)
    large = InlineKeyboardMarkup(
        inline_keyboard=[[InlineKeyboardButton(text="x", callback_data="d" * 65)]]
    )
    with pytest.raises(TelegramBadRequest, match="BUTTON_DATA_INVALID"):
        await bot.send_message(PERSON, "x", reply_markup=large)


async def test_edits_forwards_albums_and_files_come_as_the_platform_sends_them(
    emulator: TelegramEmulator, bot: Bot
) -> None:
    first = emulator.inject("teh")["message_id"]
    emulator.people.edit(first, "the")
    emulator.people.forward("said", "Grace")
    emulator.people.forward("said", "Hidden", author_id=0)
    emulator.people.album([PNG, PNG, PNG], "look", spread=60)
    emulator.people.file("a.pdf", b"%PDF", kind="animation", media_type="video/mp4")
    updates = await bot.get_updates(allowed_updates=["message", "edited_message"])
    assert updates[1].edited_message is not None
    assert (updates[1].edited_message.message_id, updates[1].edited_message.text) == (first, "the")
    origins = [update.message.forward_origin for update in updates[2:4] if update.message]
    assert [origin.type for origin in origins if origin] == ["user", "hidden_user"]
    assert len(updates) == 6
    emulator.world.advance(121)
    late = await bot.get_updates(offset=updates[-1].update_id + 1)
    photos = [update.message for update in (updates[4], *late) if update.message]
    assert [message.caption for message in photos] == ["look", None, None]
    assert len({message.media_group_id for message in photos}) == 1


async def test_files_go_out_and_come_back(emulator: TelegramEmulator, bot: Bot) -> None:
    photo = await bot.send_photo(
        PERSON, BufferedInputFile(PNG, "p.png"), caption="<b>x</b>", parse_mode="HTML"
    )
    assert photo.photo is not None
    document = await bot.send_document(PERSON, BufferedInputFile(b"text", "a.txt"))
    assert document.document is not None
    again = await bot.send_document(PERSON, document.document.file_id)
    assert again.document is not None
    album = await bot.send_media_group(
        PERSON,
        [
            InputMediaPhoto(media=BufferedInputFile(PNG, "1.png"), caption="one"),
            InputMediaPhoto(media=photo.photo[0].file_id),
        ],
    )
    assert [message.caption for message in album] == ["one", None]
    fetched = await bot.download(again.document.file_id)
    assert fetched is not None
    assert fetched.read() == b"text"
    assert [seen.picture for seen in emulator.sent(PERSON)] == [True, False, False, True, True]


async def test_files_are_refused_in_the_servers_words(emulator: TelegramEmulator, bot: Bot) -> None:
    with pytest.raises(TelegramBadRequest, match="IMAGE_PROCESS_FAILED"):
        await bot.send_photo(PERSON, BufferedInputFile(b"no picture", "p.png"))
    with pytest.raises(TelegramBadRequest, match="caption is too long"):
        await bot.send_document(PERSON, BufferedInputFile(b"x", "a"), caption="x" * 1025)
    with pytest.raises(TelegramBadRequest, match="file must be non-empty"):
        await bot.send_document(PERSON, BufferedInputFile(b"", "a"))
    with pytest.raises(TelegramEntityTooLarge):
        await bot.send_document(PERSON, BufferedInputFile(bytes(MOST_OUT + 1), "a"))
    large = emulator.people.file("a", b"x", size=MOST_IN + 1)["message_id"]
    document = emulator.chat(PERSON).messages[large]["document"]
    with pytest.raises(TelegramBadRequest, match="file is too big"):
        await bot.get_file(document["file_id"])


async def test_a_files_link_expires(emulator: TelegramEmulator, bot: Bot) -> None:
    sent = await bot.send_document(PERSON, BufferedInputFile(b"text", "a.txt"))
    assert sent.document is not None
    link = await bot.get_file(sent.document.file_id)
    emulator.world.advance(3601)
    async with (
        aiohttp.ClientSession(emulator.url) as client,
        client.get(f"/file/bot{TOKEN}/{link.file_path}") as answer,
    ):
        assert answer.status == 404
    assert link.file_path is not None


async def test_a_draft_fades_or_ends_with_a_message(emulator: TelegramEmulator, bot: Bot) -> None:
    await bot.send_message_draft(PERSON, draft_id=7, text="<i>thin</i>king", parse_mode="HTML")
    assert (emulator.world.draft(PERSON), emulator.sent()) == ("thinking", [])
    emulator.world.advance(31)
    assert emulator.world.draft(PERSON) == ""
    await bot.send_message_draft(PERSON, draft_id=7, text="again")
    await bot.send_message(PERSON, "done")
    assert emulator.world.draft(PERSON) == ""
    for chat, draft in ((GROUP, 7), (PERSON, 0)):
        with pytest.raises(TelegramBadRequest):
            await bot.send_message_draft(chat, draft_id=draft, text="x")
    emulator.methods.absent.add("sendmessagedraft")
    with pytest.raises(TelegramNotFound, match="method not found"):
        await bot.send_message_draft(PERSON, draft_id=7, text="x")


async def test_reactions_and_the_menu_are_kept(emulator: TelegramEmulator, bot: Bot) -> None:
    message = emulator.inject("hi")["message_id"]
    await bot.set_message_reaction(PERSON, message, [ReactionTypeEmoji(emoji="👀")])
    assert emulator.world.reactions[PERSON, message] == "👀"
    await bot.set_message_reaction(PERSON, message, [])
    assert emulator.world.reactions[PERSON, message] == ""
    with pytest.raises(TelegramBadRequest, match="message to react not found"):
        await bot.set_message_reaction(PERSON, 999, [])
    await bot.set_my_commands([BotCommand(command="help", description="Help")], language_code="zh")
    assert emulator.world.commands == {"zh": [{"command": "help", "description": "Help"}]}
    with pytest.raises(TelegramBadRequest, match="BOT_COMMAND_INVALID"):
        await bot.set_my_commands([BotCommand(command="Help", description="Help")])


async def test_groups_are_joined_moved_and_left(emulator: TelegramEmulator, bot: Bot) -> None:
    emulator.people.member(-7, "administrator")
    emulator.people.migrate(-7, -1002000000777)
    emulator.people.member(-1002000000777, "kicked", "administrator")
    joined, left, came, kicked = await bot.get_updates(
        allowed_updates=["message", "my_chat_member"]
    )
    assert joined.my_chat_member is not None
    assert kicked.my_chat_member is not None
    assert joined.my_chat_member.new_chat_member.status == "administrator"
    assert kicked.my_chat_member.new_chat_member.status == "kicked"
    assert left.message is not None
    assert came.message is not None
    assert (left.message.migrate_to_chat_id, came.message.migrate_from_chat_id) == (
        -1002000000777,
        -7,
    )
    with pytest.raises(TelegramMigrateToChat):
        await bot.send_message(-7, "x")
    with pytest.raises(TelegramForbiddenError):
        await bot.send_message(-1002000000777, "x")


async def test_a_topics_messages_answer_its_opening(emulator: TelegramEmulator, bot: Bot) -> None:
    emulator.chat(GROUP, is_forum=True, topics=[17])
    emulator.inject("@lab_bot in it", chat=GROUP, thread=17)
    emulator.inject("@lab_bot in General", chat=GROUP)
    topic, general = await bot.get_updates()
    assert topic.message is not None
    assert topic.message.reply_to_message is not None
    assert topic.message.reply_to_message.message_id == topic.message.message_thread_id == 17
    assert general.message is not None
    assert (general.message.message_thread_id, general.message.reply_to_message) == (None, None)


@pytest.fixture
async def calls(emulator: TelegramEmulator) -> AsyncIterator[list[tuple[str, Any]]]:
    """A bot's server: each call's secret and text; the answers stand in `statuses` of its app, 200
    after the last.
    """
    came: list[tuple[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        update = await request.json()
        came.append(
            (request.headers.get("X-Telegram-Bot-Api-Secret-Token", ""), update["message"]["text"])
        )
        emulator.world.notify()
        status, headers = emulator_answers.pop(0) if emulator_answers else (200, {})
        body = (
            {"method": "sendMessage", "chat_id": PERSON, "text": "at once"}
            if update["message"]["text"] == "quick"
            else None
        )
        return (
            web.json_response(body, status=status, headers=headers)
            if body
            else web.Response(status=status, headers=headers)
        )

    emulator_answers: list[tuple[int, dict[str, str]]] = [(500, {}), (503, {"Retry-After": "50"})]
    app = web.Application()
    app.router.add_post("/hook", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    came.append(("url", f"http://127.0.0.1:{runner.addresses[0][1]}/hook"))
    yield came
    await emulator.hooks.stop()
    await runner.cleanup()


async def test_a_webhook_is_called_until_it_takes_the_update(
    emulator: TelegramEmulator, bot: Bot, calls: list[tuple[str, Any]]
) -> None:
    emulator.inject("hello")
    await bot.set_webhook(calls[0][1], secret_token="the-secret")
    await emulator.until(lambda: emulator.hooks.brought[-1:] == [(500, 700_100)])
    emulator.world.advance(1.1)
    await emulator.until(lambda: emulator.hooks.brought[-1:] == [(503, 700_100)])
    emulator.world.advance(40)
    assert len(emulator.hooks.brought) == 2
    info = await bot.get_webhook_info()
    assert (info.pending_update_count, info.last_error_message) == (
        1,
        "Wrong response from the webhook: 503",
    )
    emulator.world.advance(11)
    await emulator.until(lambda: emulator.acks() == [700_100])
    assert set(calls[1:]) == {("the-secret", "hello")}
    emulator.hooks.shown = ""
    emulator.inject("quick")
    await emulator.until(lambda: [seen.text for seen in emulator.sent(PERSON)] == ["at once"])
    assert calls[-1] == ("", "quick")
    await bot.delete_webhook()
    assert (await bot.get_webhook_info()).url == ""


async def test_webhooks_are_taken_by_the_servers_rules(
    emulator: TelegramEmulator, bot: Bot
) -> None:
    for url, why in (
        ("http://example.org/x", "HTTPS URL"),
        ("https://example.org:8642/x", "only on ports"),
    ):
        with pytest.raises(TelegramBadRequest, match=why):
            await bot.set_webhook(url)
    await bot.set_webhook("http://127.0.0.1:9/x")
    with pytest.raises(TelegramRetryAfter):
        await bot.set_webhook("http://127.0.0.1:9/x")
    with pytest.raises(TelegramConflictError, match="while webhook is active"):
        await bot.get_updates()
    await bot.delete_webhook()
    assert await bot.get_updates() == []
