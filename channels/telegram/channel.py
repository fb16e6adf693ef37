"""The Telegram channel: receives by long polling or webhook, sends by the Bot API."""

import asyncio
import importlib
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog

from channels.base import (
    ConnectionStatus,
    Deliver,
    FetchedFile,
    Notebook,
    SetupFinding,
    WebhookReply,
    WebhookRequest,
)
from channels.errors import Ambiguous, AttachmentTooBig, ChannelError, Rejected, Retryable
from channels.message import (
    Address,
    Capabilities,
    InboundMessage,
    Kind,
    LiveEvent,
    OutboundFile,
    OutboundMessage,
    Receipt,
)
from channels.phrases import AnyPhrase
from channels.telegram.client import (
    BotApiClient,
    MessageMissing,
    MessageUnchanged,
    PictureRejected,
    TelegramFileClient,
    TopicMissing,
    upload_file,
)
from channels.telegram.messages import (
    CAPTION,
    LIMIT,
    BotIdentity,
    chat_parameters,
    menu_parameters,
    parse,
    reaction_parameters,
    render,
    render_edit,
    render_file,
)
from channels.telegram.receiver import UpdateReceiver, read_webhook_update
from channels.telegram.settings import TelegramSettings
from channels.telegram.setup import check_setup
from channels.telegram.streaming import DRAFT_PAUSE, EDIT_PAUSE, LiveReplies
from channels.toolkit.delivery import (
    BackgroundTasks,
    BoundedDict,
    TypingIndicator,
    store_with_retry,
)
from channels.toolkit.http import ANSWER_SECONDS

log = structlog.get_logger(__name__)

POLL_SECONDS = 30
TYPING_SECONDS = 4.0  # Telegram shows "typing" for five seconds
MAX_TYPING_SECONDS = 180.0
FILE_BYTES = 50 * 2**20
PICTURE_BYTES = 10 * 2**20
FETCH_BYTES = 20 * 2**20  # the Bot API serves no larger file
WORKING_EMOJI = "👀"
MAX_QUESTIONS = 1000
LONG_TEXT_CHARS = 1_000  # longer Markdown is rendered in a thread
KINDS: frozenset[Kind] = frozenset(
    ("text", "picture", "file", "voice", "video", "album", "edit", "button", "quote")
)


class Telegram:
    """One bot.

    Nothing may queue between a poll and `deliver`: the next poll acknowledges the batch, so it has
    to be stored before. Updates stay plain JSON until they are parsed one by one, so that an
    unknown form does not affect the others.
    """

    name = "telegram"
    settings_type = TelegramSettings

    def __init__(
        self,
        settings: TelegramSettings,
        *,
        poll_seconds: int = POLL_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
        pauses: tuple[float, float] = (DRAFT_PAUSE, EDIT_PAUSE),
    ) -> None:
        """Args: answer_seconds: timeout of a call. pauses: between two live updates in a private
        chat, in a group.
        """
        settings.check_webhook()
        self.account = settings.token.partition(":")[0]
        self.capabilities = Capabilities(
            limit=LIMIT,
            unit="utf16",
            live=True,
            per_chat_rate=1.0,
            total_rate=30.0,
            receives=KINDS,
            groups=True,
            threads=True,
            live_display="draft",
            file_bytes=FILE_BYTES,
            picture_bytes=PICTURE_BYTES,
            caption=CAPTION,
            buttons=True,
            edits=True,
            hook=settings.mode == "webhook",
        )
        self._settings = settings
        self._answer_seconds = answer_seconds
        self._receiver = UpdateReceiver(settings, poll_seconds)
        self._me: BotIdentity | None = None
        self._deliver: Deliver | None = None
        self._commands: Sequence[tuple[str, AnyPhrase]] = ()
        #: Keys of the latest messages by inbox id.
        self._question_keys: BoundedDict[str, str] = BoundedDict(MAX_QUESTIONS)
        self._background = BackgroundTasks()
        self._send_client: BotApiClient | None = None
        self._opening = asyncio.Lock()
        self._files = TelegramFileClient(settings)
        self._live = LiveReplies(self._call, pauses)
        self._typing = TypingIndicator(
            self._show_typing, every=TYPING_SECONDS, longest=MAX_TYPING_SECONDS
        )

    def bind(self, notebook: Notebook) -> None:
        self._live.notebook = self._receiver.notebook = notebook

    def commands(self, commands: Sequence[tuple[str, AnyPhrase]]) -> None:
        """Set the bot's menu for the next `run`: name, description in Chinese, description in
        English.
        """
        self._commands = tuple(commands)

    async def run(self, deliver: Deliver) -> None:
        client = await self._open_client(self._receiver.answer_seconds)
        try:
            me = await self._receiver.call(client, "get_me", {})
            self._me, self._deliver = (
                BotIdentity(id=me["id"], username=me["username"], account=self.account),
                deliver,
            )
            for parameters in menu_parameters(self._commands):
                self._call_in_background("set_my_commands", parameters)
            if self._settings.mode == "webhook":
                await self._receiver.watch_webhook(client)
            else:
                await self._receiver.poll(client, self._store_batch)
        finally:
            self._deliver = None
            await client.close()

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        update = (
            read_webhook_update(request, self._settings.webhook_secret)
            if self.capabilities.hook
            else None
        )
        if update is None:
            return WebhookReply(status=401)
        if self._deliver is None:
            return WebhookReply(status=503)
        message = self._parse(update)
        if message is not None:
            try:
                await self._deliver_messages([message], self._deliver)
                self._receiver.last_contact = time.time()
            except (OSError, RuntimeError) as err:
                log.warning("message not stored", error=type(err).__name__)
                return WebhookReply(status=503)
        return WebhookReply()

    async def send(self, message: OutboundMessage) -> Receipt:
        self._typing.stop(message.address)
        receipt = await self._finish_live(message) if message.ends_live_reply else None
        if message.replaces.isdecimal():
            receipt = await self._edit(message, int(message.replaces))
        if message.file is not None:
            receipt = await self._send_file(message, message.file)
        elif receipt is None:
            in_thread = len(message.text) > LONG_TEXT_CHARS
            parameters = await asyncio.to_thread(render, message) if in_thread else render(message)
            receipt = await self._send("send_message", parameters)
        if message.ends_live_reply and self._settings.reactions:
            self._react(message.reply_to_key, "")
        return receipt

    def show(self, event: LiveEvent) -> None:
        if event.name in ("reply", "failed", "notice"):
            self._typing.stop(event.address)
        elif event.name in ("started", "delta", "tool_started", "tool_ended"):
            self._typing.show(event.address)
        question = self._question_keys.get(event.message_id, "")
        if event.name == "delta":
            self._live.add(event, question)
        elif event.name == "tool_ended":
            self._live.begin_paragraph(event.message_id)
        elif event.name == "started" and self._settings.reactions:
            self._react(question, WORKING_EMOJI)

    async def fetch(self, ref: str, max_bytes: int) -> FetchedFile:
        try:
            file = await self._call("get_file", {"file_id": ref})
        except Ambiguous as err:  # the call changes nothing, so it may be repeated
            raise Retryable(str(err)) from err
        if not isinstance(file, dict):
            raise Retryable("an answer without a file in it")
        if int(file.get("file_size") or 0) > max_bytes:
            raise AttachmentTooBig(f"the file has {file['file_size']} bytes, more than {max_bytes}")
        return await self._files.fetch(
            str(file.get("file_path") or ""), min(max_bytes, FETCH_BYTES)
        )

    def connection_status(self) -> ConnectionStatus:
        return ConnectionStatus(
            last_contact=self._receiver.last_contact, trouble=self._receiver.trouble
        )

    async def probe(self) -> str:
        me = await self._call("get_me", {})
        info = await self._call("get_webhook_info", {})
        scope = (
            "all messages"
            if me.get("can_read_all_group_messages")
            else "messages to it (privacy mode)"
        )
        text = f"@{me['username']} ({me['id']}); in groups it receives {scope}"
        if info.get("url") and self._settings.mode == "polling":
            text += "; a webhook is set, so polling receives nothing"
        if info.get("pending_update_count"):
            text += f"; {info['pending_update_count']} waiting"
        return text

    def check_setup(self, owner: str) -> AsyncIterator[SetupFinding]:
        return check_setup(self._call, self._settings, owner)

    async def close(self) -> None:
        """Close the connections that sends use; a later send reopens them."""
        await self._background.close()
        await self._live.close()
        await self._typing.close()
        await self._files.close()
        client, self._send_client = self._send_client, None
        if client is not None:
            await client.close()

    async def _store_batch(self, updates: list[dict[str, Any]]) -> None:
        """Deliver until stored: the next poll acknowledges the updates."""
        messages = [message for update in updates if (message := self._parse(update)) is not None]
        deliver = self._deliver
        if messages and deliver is not None:
            await store_with_retry(lambda: self._deliver_messages(messages, deliver), self.name)

    async def _deliver_messages(self, messages: list[InboundMessage], deliver: Deliver) -> None:
        for message, accepted in zip(messages, await deliver(messages), strict=False):
            if message.act == "message":
                self._question_keys[accepted.id] = message.key
            elif message.act == "press":
                self._call_in_background(
                    "answer_callback_query", {"callback_query_id": message.key.removeprefix("c:")}
                )

    def _parse(self, update: dict[str, Any]) -> InboundMessage | None:
        if self._me is None:
            return None
        try:
            return parse(update, self._me, datetime.now(UTC))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            log.warning(
                "update not understood", update_id=update.get("update_id"), error=type(err).__name__
            )
            return None

    async def _finish_live(self, message: OutboundMessage) -> Receipt | None:
        """Edit the live message of a group to this part; None if there is none (any more)."""
        await self._live.end(message.reply_to)
        message_id = await self._live.claim_message(message)
        return await self._edit(message, message_id) if message_id else None

    async def _edit(self, message: OutboundMessage, message_id: int) -> Receipt | None:
        """Turn a message of the bot into this part; None if it is there no more, or too old."""
        try:
            await self._call("edit_message_text", render_edit(message, message_id))
        except MessageUnchanged:
            pass
        except MessageMissing:
            return None
        except Ambiguous as err:  # a repeated edit is not visible
            raise Retryable(str(err)) from err
        return Receipt(platform_id=str(message_id))

    async def _send_file(self, message: OutboundMessage, file: OutboundFile) -> Receipt:
        parameters = render_file(message)
        if not file.data:
            raise Rejected("the file is empty")
        if len(file.data) > FILE_BYTES:
            raise AttachmentTooBig(
                f"the file has {len(file.data)} bytes; Telegram takes {FILE_BYTES} from a bot"
            )
        upload = await asyncio.to_thread(upload_file, file.data, file.name)
        if file.picture and len(file.data) <= PICTURE_BYTES:
            try:
                return await self._send("send_photo", {**parameters, "photo": upload})
            except PictureRejected:
                log.info("picture sent as a file")
        return await self._send("send_document", {**parameters, "document": upload})

    async def _send(self, method: str, parameters: dict[str, Any]) -> Receipt:
        try:
            sent = await self._call(method, parameters)
        except TopicMissing:
            parameters.pop("message_thread_id", None)
            sent = await self._call(method, parameters)
        if not isinstance(sent, dict) or not isinstance(sent.get("message_id"), int):
            raise Ambiguous("an answer without a message in it")
        return Receipt(platform_id=str(sent["message_id"]))

    async def _call(self, method: str, parameters: dict[str, Any]) -> Any:
        async with self._opening:
            if self._send_client is None:
                self._send_client = await self._open_client(self._answer_seconds)
        return await self._send_client.call(method, parameters)

    async def _open_client(self, answer_seconds: float) -> BotApiClient:
        await asyncio.to_thread(importlib.import_module, "telegram")  # takes up to a second
        return await asyncio.to_thread(BotApiClient, self._settings, answer_seconds)

    async def _show_typing(self, address: Address) -> None:
        await self._call("send_chat_action", {"action": "typing", **chat_parameters(address)})

    def _react(self, key: str, emoji: str) -> None:
        parameters = reaction_parameters(key, emoji)
        if parameters is not None:
            self._call_in_background("set_message_reaction", parameters)

    def _call_in_background(self, method: str, parameters: dict[str, Any]) -> None:
        """Make a call whose failure changes nothing."""
        self._background.start(self._call_or_log(method, parameters), f"telegram {method}")

    async def _call_or_log(self, method: str, parameters: dict[str, Any]) -> None:
        try:
            await self._call(method, parameters)
        except ChannelError as err:
            log.info("not done", method=method, error=type(err).__name__)
