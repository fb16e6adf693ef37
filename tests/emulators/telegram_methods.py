"""The Bot API's methods as the Telegram emulator does them; each request is judged by aiogram's models first."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiogram import methods, types
from pydantic import BaseModel, ValidationError

from tests.emulators.telegram_html import ParseError, parse_html, tidy, units
from tests.emulators.telegram_world import DEFAULT_KINDS, Chat, Seen, World

MOST_CODE_POINTS = 4096
MOST_BYTES = 32_768
LONGEST_HOLD = 50
CONFLICT = "terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
UNCHANGED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current content "
    "and reply markup of the message"
)
PREFIXES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 409: "Conflict"}
CLOSED = {
    "blocked": "bot was blocked by the user",
    "deactivated": "user is deactivated",
    "kicked": "bot was kicked from the supergroup chat",
    "not_member": "bot is not a member of the supergroup chat",
    "deleted": "the group chat was deleted",
    "not_started": "bot can't initiate conversation with a user",
}
MODELS: dict[str, type[BaseModel]] = {
    model.__api_method__.lower(): model
    for model in vars(methods).values()
    if isinstance(model, type) and issubclass(model, methods.TelegramMethod) and model is not methods.TelegramMethod
}


class ApiError(Exception):
    """An answer that is not ok."""

    def __init__(self, code: int, why: str, **parameters: int) -> None:
        prefix = PREFIXES.get(code, "")
        super().__init__(f"{prefix}: {why}" if prefix else why)
        self.code = code
        self.parameters = parameters


def validated(method: str, raw: dict[str, Any]) -> Any:
    """The request as aiogram's model of it. Raises ApiError for what is missing, of a wrong type, or unknown."""
    model = MODELS.get(method.lower())
    if model is None:
        raise ApiError(404, "method not found")
    unknown = set(raw) - set(model.model_fields)
    if unknown:
        raise ApiError(400, f"unknown parameters {sorted(unknown)}")
    if model is methods.SendMessage:
        raw = {"text": ""} | raw  # the server takes an absent text for an empty one
    try:
        return model.model_validate({name: _decoded(model, name, value) for name, value in raw.items()})
    except ValidationError as err:
        first = err.errors()[0]
        raise ApiError(400, f"parameter {first['loc']}: {first['msg']}") from err


def _decoded(model: type[BaseModel], name: str, value: Any) -> Any:
    """Forms carry everything as text; what is no text by its type is JSON there."""
    kind = str(model.model_fields[name].annotation)
    if not isinstance(value, str) or kind.startswith(("<class 'str'", "str")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


class Methods:
    """One bot's methods over a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.webhook = ""
        self.poll = 0
        self.done: dict[str, Callable[[Any], Awaitable[Any]]] = {
            "getme": self.get_me,
            "getupdates": self.get_updates,
            "sendmessage": self.send_message,
            "sendmessagedraft": self.send_message_draft,
            "sendchataction": self.send_chat_action,
            "editmessagetext": self.edit_message_text,
            "deletemessage": self.delete_message,
            "setmessagereaction": self.agree,
            "setmycommands": self.agree,
            "deletewebhook": self.delete_webhook,
            "setwebhook": self.set_webhook,
            "getwebhookinfo": self.get_webhook_info,
        }

    async def call(self, method: str, raw: dict[str, Any]) -> Any:
        """Do it; the result as JSON values. Raises ApiError."""
        doer = self.done.get(method.lower())
        if doer is None:
            raise ApiError(404, "method not found")
        return await doer(validated(method, raw))

    async def get_me(self, _: methods.GetMe) -> Any:
        return dump(self.world.me)

    async def agree(self, _: Any) -> bool:
        return True

    async def set_webhook(self, asked: methods.SetWebhook) -> bool:
        self.webhook = asked.url
        self.poll += 1
        self.world.stir()
        return True

    async def delete_webhook(self, asked: methods.DeleteWebhook) -> bool:
        self.webhook = ""
        if asked.drop_pending_updates:
            self.world.pending.clear()
        return True

    async def get_webhook_info(self, _: methods.GetWebhookInfo) -> Any:
        count = len(self.world.pending)
        return dump(types.WebhookInfo(url=self.webhook, has_custom_certificate=False, pending_update_count=count))

    async def get_updates(self, asked: methods.GetUpdates) -> list[dict[str, Any]]:
        """Confirm, then hold until there is something; a later poll ends this one."""
        if self.webhook:
            raise ApiError(409, WEBHOOK)
        self.poll += 1
        mine, world = self.poll, self.world
        world.stir()
        if asked.allowed_updates is not None:
            world.kinds = frozenset(asked.allowed_updates) or DEFAULT_KINDS
        world.confirm(asked.offset or 0)
        clock = asyncio.get_running_loop().time
        until = clock() + min(asked.timeout or 0, LONGEST_HOLD)
        while not world.pending and clock() < until:
            await world.change(until - clock())
            if self.poll != mine:
                raise ApiError(409, CONFLICT if not self.webhook else "terminated by setWebhook request")
        return world.pending[: max(1, min(asked.limit or 100, 100))]

    async def send_message(self, asked: methods.SendMessage) -> Any:
        chat = self.target(asked.chat_id)
        text, entities = readable(asked.text, asked.parse_mode, asked.entities)
        thread = self.topic(chat, asked.message_thread_id)
        reply_to = self.answered(chat, asked.reply_parameters)
        seen = Seen(
            chat=chat.id,
            message_id=chat.next_id,
            text=text,
            entities=entities,
            thread=thread,
            reply_to=reply_to,
        )
        chat.next_id += 1
        chat.messages[seen.message_id] = self.as_message(chat, seen)
        self.world.visible.append(seen)
        self.world.stir()
        return chat.messages[seen.message_id]

    async def send_message_draft(self, asked: methods.SendMessageDraft) -> bool:
        chat = self.target(asked.chat_id)
        if chat.type != "private" or not asked.draft_id:
            raise ApiError(400, "draft can be sent only to private chats, with a non-zero identifier")
        text = readable(asked.text, asked.parse_mode, asked.entities)[0] if asked.text else ""
        self.world.drafts.append({"chat": chat.id, "draft_id": asked.draft_id, "text": text, "at": self.world.now()})
        self.world.stir()
        return True

    async def send_chat_action(self, asked: methods.SendChatAction) -> bool:
        chat = self.target(asked.chat_id)
        thread = self.topic(chat, asked.message_thread_id)
        self.world.shown_actions.append({"chat": chat.id, "action": asked.action, "thread": thread})
        self.world.stir()
        return True

    async def edit_message_text(self, asked: methods.EditMessageText) -> Any:
        chat = self.target(asked.chat_id)
        seen = next((item for item in self.world.sent(chat.id) if item.message_id == asked.message_id), None)
        if seen is None:
            known = asked.message_id in chat.messages
            raise ApiError(400, "message can't be edited" if known else "message to edit not found")
        text, entities = readable(asked.text or "", asked.parse_mode, asked.entities)
        if (text, entities) == (seen.text, seen.entities):
            raise ApiError(400, UNCHANGED)
        seen.text, seen.entities, seen.edits = text, entities, seen.edits + 1
        self.world.stir()
        return self.as_message(chat, seen)

    async def delete_message(self, asked: methods.DeleteMessage) -> bool:
        chat = self.target(asked.chat_id)
        left = [seen for seen in self.world.visible if (seen.chat, seen.message_id) != (chat.id, asked.message_id)]
        if len(left) == len(self.world.visible):
            raise ApiError(400, "message to delete not found")
        self.world.visible[:] = left
        self.world.stir()
        return True

    def target(self, chat_id: int | str) -> Chat:
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
        fields: dict[str, Any] = {
            "message_id": seen.message_id,
            "date": int(self.world.now()),
            "chat": chat.shown(),
            "from": dump(self.world.me),
            "text": seen.text,
        }
        if seen.entities:
            fields["entities"] = seen.entities
        if seen.thread:
            fields |= {"message_thread_id": seen.thread, "is_topic_message": True}
        if seen.edits:
            fields["edit_date"] = int(self.world.now())
        return dump(types.Message.model_validate(fields))


def flooded(seconds: int, parameters: bool = True) -> ApiError:
    why = f"Too Many Requests: retry after {seconds}"
    return ApiError(429, why, retry_after=seconds) if parameters else ApiError(429, why)


def readable(text: str, mode: Any, given: list[types.MessageEntity] | None) -> tuple[str, list[dict[str, Any]]]:
    """Text and entities as they will be seen, within the limits. Raises ApiError."""
    if not text:
        raise ApiError(400, "message text is empty")
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise ApiError(400, "text is too long")
    mode = mode.lower() if isinstance(mode, str) else ""
    if mode not in ("", "html"):
        raise ApiError(400, "unsupported parse_mode")
    entities = [dump(entity) for entity in given or ()]
    try:
        text, entities = parse_html(text) if mode == "html" else (text, entities)
    except ParseError as err:
        raise ApiError(400, f"can't parse entities: {err}") from err
    if any(entity["offset"] + entity["length"] > units(text) for entity in entities):
        raise ApiError(400, "entity beyond the end of the text")
    text, entities = tidy(text, entities)
    if not text:
        raise ApiError(400, "text must be non-empty")
    if len(text) > MOST_CODE_POINTS:
        raise ApiError(400, "message is too long")
    return text, entities


def dump(value: BaseModel) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)
