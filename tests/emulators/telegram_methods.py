"""The Bot API's methods as the Telegram emulator does them; each request is judged by
`telegram_rules` first.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tests.emulators.telegram_media import Media, shown
from tests.emulators.telegram_rules import ApiError, dump, flooded, readable, validated
from tests.emulators.telegram_webhook import Hooks
from tests.emulators.telegram_world import DEFAULT_KINDS, Chat, Seen, World

if TYPE_CHECKING:
    from aiogram import methods, types

LONGEST_HOLD = 50
QUERY_LIFE = 900.0
MOST_COMMANDS = 100
CONFLICT = "terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK = (
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook "
    "first"
)
UNCHANGED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)
CLOSED = {
    "blocked": "bot was blocked by the user",
    "deactivated": "user is deactivated",
    "kicked": "bot was kicked from the supergroup chat",
    "not_member": "bot is not a member of the supergroup chat",
    "deleted": "the group chat was deleted",
    "not_started": "bot can't initiate conversation with a user",
}
COMMAND = re.compile(r"[a-z0-9_]{1,32}")


class Methods:
    """One bot's methods over a world. absent: names, in lower case, that this server is too old
    for.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.hooks = Hooks(world, self.call)
        self.media = Media(world, self.target, self.post)
        self.absent: set[str] = set()
        self.poll = 0
        own: dict[str, Callable[[Any], Awaitable[Any]]] = {
            "getme": self.get_me,
            "getupdates": self.get_updates,
            "sendmessage": self.send_message,
            "sendmessagedraft": self.send_message_draft,
            "sendchataction": self.send_chat_action,
            "editmessagetext": self.edit_message_text,
            "deletemessage": self.delete_message,
            "answercallbackquery": self.answer_callback_query,
            "setmessagereaction": self.set_message_reaction,
            "setmycommands": self.set_my_commands,
            "deletewebhook": self.delete_webhook,
            "setwebhook": self.set_webhook,
            "getwebhookinfo": self.get_webhook_info,
        }
        self.done = own | self.media.done

    async def call(self, method: str, raw: dict[str, Any]) -> Any:
        """Do it; the result as JSON values. Raises ApiError."""
        doer = self.done.get(method.lower())
        if doer is None or method.lower() in self.absent:
            raise ApiError(404, "method not found")
        return await doer(validated(method, raw))

    async def get_me(self, _: methods.GetMe) -> Any:
        return dump(self.world.me)

    @property
    def webhook(self) -> str:
        return self.hooks.url

    @webhook.setter
    def webhook(self, url: str) -> None:
        """Set by somebody else: nothing is brought there."""
        self.hooks.url = url

    async def set_webhook(self, asked: methods.SetWebhook) -> bool:
        self.hooks.set(asked.url, asked.secret_token or "", asked.max_connections or 40)
        if asked.allowed_updates is not None:
            self.world.kinds = frozenset(asked.allowed_updates) or DEFAULT_KINDS
        if asked.drop_pending_updates:
            self.world.pending.clear()
        self.poll += 1
        self.world.notify()
        return True

    async def delete_webhook(self, asked: methods.DeleteWebhook) -> bool:
        self.hooks.url = ""
        await self.hooks.stop()
        if asked.drop_pending_updates:
            self.world.pending.clear()
        return True

    async def get_webhook_info(self, _: methods.GetWebhookInfo) -> Any:
        date, words = self.hooks.error
        info: dict[str, Any] = {
            "url": self.hooks.url,
            "has_custom_certificate": False,
            "pending_update_count": len(self.world.pending),
            "max_connections": self.hooks.most,
            "allowed_updates": sorted(self.world.kinds),
        }
        if date and self.hooks.url:
            info |= {"last_error_date": date, "last_error_message": words}
        return info

    async def answer_callback_query(self, asked: methods.AnswerCallbackQuery) -> bool:
        born = self.world.queries.get(asked.callback_query_id, float("-inf"))
        if self.world.now() - born > QUERY_LIFE:
            raise ApiError(
                400, "query is too old and response timeout expired or query ID is invalid"
            )
        if len(asked.text or "") > 200:
            raise ApiError(400, "MESSAGE_TOO_LONG")
        self.world.answered.append(asked.callback_query_id)
        self.world.notify()
        return True

    async def set_message_reaction(self, asked: methods.SetMessageReaction) -> bool:
        chat = self.target(asked.chat_id)
        if asked.message_id not in chat.messages:
            raise ApiError(400, "message to react not found")
        if len(asked.reaction or ()) > 1:
            raise ApiError(400, "REACTIONS_TOO_MANY")
        shown_now = [getattr(one, "emoji", "") for one in asked.reaction or ()]
        self.world.reactions[chat.id, asked.message_id] = "".join(shown_now)
        self.world.notify()
        return True

    async def set_my_commands(self, asked: methods.SetMyCommands) -> bool:
        if len(asked.commands) > MOST_COMMANDS:
            raise ApiError(400, "BOT_COMMANDS_TOO_MUCH")
        for one in asked.commands:
            if not COMMAND.fullmatch(one.command):
                raise ApiError(400, "BOT_COMMAND_INVALID")
            if not 1 <= len(one.description) <= 256:
                raise ApiError(400, "BOT_COMMAND_DESCRIPTION_INVALID")
        self.world.commands[asked.language_code or ""] = [dump(one) for one in asked.commands]
        self.world.notify()
        return True

    async def get_updates(self, asked: methods.GetUpdates) -> list[dict[str, Any]]:
        """Confirm, then hold until there is something; a later poll ends this one."""
        if self.webhook:
            raise ApiError(409, WEBHOOK)
        self.poll += 1
        mine, world = self.poll, self.world
        world.notify()
        if asked.allowed_updates is not None:
            world.kinds = frozenset(asked.allowed_updates) or DEFAULT_KINDS
        world.confirm(asked.offset or 0)
        clock = asyncio.get_running_loop().time
        until = clock() + min(asked.timeout or 0, LONGEST_HOLD)
        while not world.pending and clock() < until:
            await world.change(min(until - clock(), max(0.01, world.ripen())))
            if self.poll != mine:
                raise ApiError(
                    409, CONFLICT if not self.webhook else "terminated by setWebhook request"
                )
        return world.pending[: max(1, min(asked.limit or 100, 100))]

    async def send_message(self, asked: methods.SendMessage) -> Any:
        chat = self.target(asked.chat_id)
        text, entities = readable(asked.text, asked.parse_mode, asked.entities)
        preview = getattr(asked.link_preview_options, "is_disabled", None) is not True
        seen = Seen(chat=chat.id, message_id=0, text=text, entities=entities, preview=preview)
        return self.post(asked, chat, seen)

    def post(self, asked: Any, chat: Chat, seen: Seen) -> Any:
        """A message of the bot stands in the chat: in its topic, as an answer, with its buttons."""
        seen.thread = self.topic(chat, asked.message_thread_id)
        seen.reply_to = self.answered(chat, asked.reply_parameters)
        seen.keyboard = keyboard(getattr(asked, "reply_markup", None))
        seen.message_id, chat.next_id = chat.next_id, chat.next_id + 1
        chat.messages[seen.message_id] = self.as_message(chat, seen)
        self.world.visible.append(seen)
        self.world.end_drafts(chat.id)
        self.world.notify()
        return chat.messages[seen.message_id]

    async def send_message_draft(self, asked: methods.SendMessageDraft) -> bool:
        chat = self.target(asked.chat_id)
        if chat.type != "private" or not asked.draft_id:
            raise ApiError(
                400, "draft can be sent only to private chats, with a non-zero identifier"
            )
        text = readable(asked.text, asked.parse_mode, asked.entities)[0] if asked.text else ""
        self.world.drafts.append(
            {"chat": chat.id, "draft_id": asked.draft_id, "text": text, "at": self.world.now()}
        )
        self.world.notify()
        return True

    async def send_chat_action(self, asked: methods.SendChatAction) -> bool:
        chat = self.target(asked.chat_id)
        thread = self.topic(chat, asked.message_thread_id)
        self.world.shown_actions.append({"chat": chat.id, "action": asked.action, "thread": thread})
        self.world.notify()
        return True

    async def edit_message_text(self, asked: methods.EditMessageText) -> Any:
        chat = self.target(asked.chat_id)
        seen = next(
            (item for item in self.world.sent(chat.id) if item.message_id == asked.message_id), None
        )
        if seen is None:
            known = asked.message_id in chat.messages
            raise ApiError(400, "message can't be edited" if known else "message to edit not found")
        text, entities = readable(asked.text or "", asked.parse_mode, asked.entities)
        buttons = keyboard(asked.reply_markup)
        if (text, entities, buttons) == (seen.text, seen.entities, seen.keyboard):
            raise ApiError(400, UNCHANGED)
        seen.text, seen.entities, seen.keyboard, seen.edits = (
            text,
            entities,
            buttons,
            seen.edits + 1,
        )
        chat.messages[seen.message_id] = self.as_message(chat, seen)
        self.world.notify()
        return chat.messages[seen.message_id]

    async def delete_message(self, asked: methods.DeleteMessage) -> bool:
        chat = self.target(asked.chat_id)
        left = [
            seen
            for seen in self.world.visible
            if (seen.chat, seen.message_id) != (chat.id, asked.message_id)
        ]
        if len(left) == len(self.world.visible):
            raise ApiError(400, "message to delete not found")
        self.world.visible[:] = left
        self.world.notify()
        return True

    def target(self, chat_id: int | str | None) -> Chat:
        """The chat, if the bot may write there now."""
        chat = self.world.chats.get(chat_id) if isinstance(chat_id, int) else None
        if chat is None:
            raise ApiError(400, "chat not found")
        if chat.migrated_to:
            why = "group chat was upgraded to a supergroup chat"
            raise ApiError(400, why, migrate_to_chat_id=chat.migrated_to)
        if chat.state == "read_only":
            raise ApiError(400, "have no write access to the chat")
        if chat.state in CLOSED:
            raise ApiError(403, CLOSED[chat.state])
        for place in (str(chat.id), ""):
            until, parameters = self.world.floods.get(place, (0.0, True))
            left = int(until - self.world.now() + 0.999)
            if left > 0:
                raise flooded(left, parameters)
        return chat

    def topic(self, chat: Chat, thread: int | None) -> int:
        if thread and (thread == 1 or (chat.is_forum and thread not in chat.topics)):
            raise ApiError(400, "message thread not found")
        return thread or 0

    def answered(self, chat: Chat, reply: types.ReplyParameters | None) -> int:
        if reply is None:
            return 0
        if reply.message_id in chat.messages:
            return reply.message_id
        if reply.allow_sending_without_reply is True:
            return 0
        raise ApiError(400, "message to be replied not found")

    def as_message(self, chat: Chat, seen: Seen) -> Any:
        from aiogram import types

        fields: dict[str, Any] = {
            "message_id": seen.message_id,
            "date": int(self.world.now()),
            "chat": chat.shown(),
            "from": dump(self.world.me),
        }
        if seen.text:
            fields["caption" if seen.file else "text"] = seen.text
        if seen.entities:
            fields["caption_entities" if seen.file else "entities"] = seen.entities
        if seen.file:
            fields |= shown(self.world.files[seen.file], seen.picture)
        if seen.keyboard:
            rows = [[{"text": label, "callback_data": data}] for label, data in seen.keyboard]
            fields["reply_markup"] = {"inline_keyboard": rows}
        if seen.thread:
            fields |= {"message_thread_id": seen.thread, "is_topic_message": True}
        if seen.edits:
            fields["edit_date"] = int(self.world.now())
        return dump(types.Message.model_validate(fields))


def keyboard(markup: Any) -> list[tuple[str, str]]:
    """Label and data of an inline keyboard's buttons.

    Raises ApiError for one that the server refuses.
    """
    from aiogram import types

    if not isinstance(markup, types.InlineKeyboardMarkup):
        return []
    found = [
        (button.text, button.callback_data or "")
        for row in markup.inline_keyboard
        for button in row
    ]
    if any(not 0 < len(data.encode()) <= 64 for _, data in found):
        raise ApiError(400, "BUTTON_DATA_INVALID")
    return found
