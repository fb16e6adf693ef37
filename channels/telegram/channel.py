"""The door to Telegram: hears by long polling or webhook, speaks through the Bot API."""

import asyncio
import importlib
import time
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog

from channels.base import ConnectionStatus, Deliver, FetchedFile, Notebook, WebhookReply, WebhookRequest
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
from channels.telegram.streaming import DRAFT_PAUSE, EDIT_PAUSE, LiveReplies
from channels.toolkit.http import ANSWER_SECONDS
from channels.toolkit.sending import without_leaving
from channels.toolkit.storing import store_with_retry
from channels.toolkit.typing_indicator import TypingIndicator

log = structlog.get_logger(__name__)

POLL_SECONDS = 30
TYPING_SECONDS = 4.0  # telegram shows "typing" for five seconds
MAX_TYPING_SECONDS = 180.0
FILE_BYTES = 50 * 2**20
PICTURE_BYTES = 10 * 2**20
FETCH_BYTES = 20 * 2**20  # the Bot API hands out no larger file
WORKING_EMOJI = "👀"
MAX_REMEMBERED = 1000
LONG_TEXT_CHARS = 1_000  # characters; the Markdown of a longer text is read beside the event loop
KINDS: frozenset[Kind] = frozenset(("text", "picture", "file", "voice", "video", "album", "edit", "button", "quote"))


class Telegram:
    """One bot. Seconds: poll_seconds of one poll; answer_seconds until a call is given up; pauses between two looks of
    an answer in the making, in a private chat and in a group.

    What a person sees of an update depends on it being stored first: the next poll, which confirms a batch, is made
    only after `deliver` has returned for it. Therefore no queue stands between the two, and updates are kept as the
    plain JSON they came as, so that one of an unknown form cannot spoil its neighbours.
    """

    name = "telegram"
    opened_with = TelegramSettings

    def __init__(
        self,
        settings: TelegramSettings,
        *,
        poll_seconds: int = POLL_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
        pauses: tuple[float, float] = (DRAFT_PAUSE, EDIT_PAUSE),
    ) -> None:
        settings.check_webhook()
        self.account = settings.token.partition(":")[0]
        self.capabilities = Capabilities(
            limit=LIMIT,
            unit="utf16",
            live=True,
            per_chat_rate=1.0,
            total_rate=30.0,
            hears=KINDS,
            groups=True,
            threads=True,
            shows="draft",
            file_bytes=FILE_BYTES,
            picture_bytes=PICTURE_BYTES,
            caption=CAPTION,
            buttons=True,
            hook=settings.mode == "webhook",
            says_leaving=True,
        )
        self._settings = settings
        self._access = (settings.token, settings.base_url, settings.proxy)
        self._answer_seconds = answer_seconds
        self._hearing = UpdateReceiver(settings, poll_seconds)
        self._me: BotIdentity | None = None
        self._deliver: Deliver | None = None
        self._commands: Sequence[tuple[str, str, str]] = ()
        self._asked: dict[str, str] = {}
        self._aside: set[asyncio.Task[None]] = set()
        self._send_client: BotApiClient | None = None
        self._opening = asyncio.Lock()
        self._files = TelegramFileClient(*self._access)
        self._live = LiveReplies(self._speak, pauses)
        self._typing = TypingIndicator(self._type, every=TYPING_SECONDS, longest=MAX_TYPING_SECONDS)

    def bind(self, notebook: Notebook) -> None:
        """Keep there which message an answer stands in, and which webhook is ours."""
        self._live.notebook = self._hearing.notebook = notebook

    def commands(self, commands: Sequence[tuple[str, str, str]]) -> None:
        """What Telegram's menu lists from the next `run` on: name, description in Chinese and in English."""
        self._commands = tuple(commands)

    async def run(self, deliver: Deliver) -> None:
        """Hear until cancelled; every batch is confirmed to Telegram only after `deliver` returned.

        Raises:
            LoggedOut: the token is refused.
            ReceiverConflict: another program, or a webhook that is not ours, receives this bot's messages.
            ChannelError: nothing was heard for three polls' time.
        """
        wire = await self._wire(self._hearing.wait)
        try:
            me = await self._hearing.answer(wire, "get_me", {})
            self._me, self._deliver = BotIdentity(id=me["id"], username=me["username"], account=self.account), deliver
            for parameters in menu_parameters(self._commands):
                self._call_in_background("set_my_commands", parameters)
            if self._settings.mode == "webhook":
                await self._hearing.watch(wire)
            else:
                await self._hearing.poll(wire, self._take)
        finally:
            self._deliver = None
            await wire.close()

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        """Take one update by webhook; 401 for whatever fails a check, 503 before `run` and while nothing is stored."""
        update = read_webhook_update(request, self._settings.webhook_secret) if self.capabilities.hook else None
        if update is None:
            return WebhookReply(status=401)
        if self._deliver is None:
            return WebhookReply(status=503)
        message = self._read(update)
        if message is not None:
            try:
                await self._deliver_messages([message], self._deliver)
                self._hearing.heard = time.time()
            except (OSError, RuntimeError) as err:
                log.warning("message not stored", error=type(err).__name__)
                return WebhookReply(status=503)
        return WebhookReply()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Deliver one part; return the new message's id.

        Raises:
            Retryable, Rejected, BadFormat, AttachmentTooBig, ChatMoved, Ambiguous, LoggedOut: see channels.errors.
        """
        self._typing.stop(message.address)
        beside = message.file is not None or message.buttons or message.kind == "progress"
        ends = bool(message.reply_to) and not message.part_no and not beside
        if message.file is not None:
            receipt = await self._send_file(message, message.file)
        else:
            receipt = (await self._become(message) if ends else None) or await self._send_text(message)
        gone = reaction_parameters(message.reply_to_key, "") if ends and self._settings.reactions else None
        if gone is not None:
            self._call_in_background("set_message_reaction", gone)
        return receipt

    def show(self, event: LiveEvent) -> None:
        """Show that an answer is being written, and its text so far; best effort."""
        if event.name in ("reply", "failed", "notice"):
            self._typing.stop(event.address)
        elif event.name in ("started", "delta", "tool_started", "tool_ended"):
            self._typing.beat(event.address)
        asked = self._asked.get(event.message_id, "")
        if event.name == "delta":
            self._live.add(event, asked)
        elif event.name == "tool_ended":
            self._live.pause(event.message_id)
        elif event.name == "started" and self._settings.reactions:
            seen = reaction_parameters(asked, WORKING_EMOJI)
            if seen is not None:
                self._call_in_background("set_message_reaction", seen)

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """The bytes of a file by its id; Telegram hands out none over 20 MiB."""
        try:
            found = await self._speak("get_file", {"file_id": ref})
        except Ambiguous as err:  # asking again does no harm
            raise Retryable(str(err)) from err
        if not isinstance(found, dict):
            raise Retryable("an answer without a file in it")
        if int(found.get("file_size") or 0) > most:
            raise AttachmentTooBig(f"the file has {found['file_size']} bytes, more than {most}")
        return await self._files.fetch(str(found.get("file_path") or ""), min(most, FETCH_BYTES))

    def vitals(self) -> ConnectionStatus:
        """When Telegram last answered, and what fails now."""
        return ConnectionStatus(heard=self._hearing.heard, trouble=self._hearing.trouble)

    async def probe(self) -> str:
        """Who we are, what groups let us hear, and whether a webhook stands in the way."""
        me = await self._speak("get_me", {})
        info = await self._speak("get_webhook_info", {})
        hears = "all" if me.get("can_read_all_group_messages") else "only what is meant for it (privacy mode)"
        words = f"@{me['username']} ({me['id']}); in groups it hears {hears}"
        if info.get("url") and self._settings.mode == "polling":
            words += "; a webhook is set, so that polling hears nothing"
        if info.get("pending_update_count"):
            words += f"; {info['pending_update_count']} waiting"
        return words

    async def close(self) -> None:
        """Drop the connections that sends use; a later send opens them again."""
        for task in list(self._aside):
            task.cancel()
        await asyncio.gather(*self._aside, return_exceptions=True)
        await self._live.close()
        await self._typing.close()
        await self._files.close()
        if self._send_client is not None:
            wire, self._send_client = self._send_client, None
            await wire.close()

    async def _take(self, updates: list[dict[str, Any]]) -> None:
        """Deliver, forever: what is not stored is not confirmed, and what is not confirmed stays with Telegram."""
        messages = [message for update in updates if (message := self._read(update)) is not None]
        deliver = self._deliver
        if messages and deliver is not None:
            await store_with_retry(lambda: self._deliver_messages(messages, deliver), self.name)

    async def _deliver_messages(self, messages: list[InboundMessage], deliver: Deliver) -> None:
        accepted = await deliver(messages)
        for message, taken in zip(messages, accepted, strict=False):
            if message.act == "message":
                self._asked[taken.id] = message.key
            elif message.act == "press":
                self._call_in_background("answer_callback_query", {"callback_query_id": message.key.removeprefix("c:")})
        for id in list(self._asked)[:-MAX_REMEMBERED]:
            del self._asked[id]

    def _read(self, update: dict[str, Any]) -> InboundMessage | None:
        if self._me is None:
            return None
        try:
            return parse(update, self._me, datetime.now(UTC))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            log.warning("update not understood", update_id=update.get("update_id"), error=type(err).__name__)
            return None

    async def _become(self, message: OutboundMessage) -> Receipt | None:
        """Let the message that people saw growing become this part; None where there is none (any more)."""
        await self._live.end(message.reply_to)
        standing = await self._live.take(message)
        if not standing:
            return None
        try:
            await self._speak("edit_message_text", render_edit(message, standing))
        except MessageUnchanged:
            pass
        except MessageMissing:
            return None
        except Ambiguous as err:  # an edit may be repeated: nobody sees it twice
            raise Retryable(str(err)) from err
        return Receipt(platform_id=str(standing))

    async def _send_text(self, message: OutboundMessage) -> Receipt:
        parameters = (
            await asyncio.to_thread(render, message) if len(message.text) > LONG_TEXT_CHARS else render(message)
        )
        return await self._send("send_message", parameters)

    async def _send_file(self, message: OutboundMessage, file: OutboundFile) -> Receipt:
        parameters = render_file(message)
        if not file.data:
            raise Rejected("the file is empty")
        if len(file.data) > FILE_BYTES:
            raise AttachmentTooBig(f"the file has {len(file.data)} bytes; Telegram takes {FILE_BYTES} from a bot")
        given = await asyncio.to_thread(upload_file, file.data, file.name)
        if file.picture and len(file.data) <= PICTURE_BYTES:
            try:
                return await self._send("send_photo", {**parameters, "photo": given})
            except PictureRejected:
                log.info("picture sent as a file")
        return await self._send("send_document", {**parameters, "document": given})

    async def _send(self, method: str, parameters: dict[str, Any]) -> Receipt:
        try:
            sent = await self._speak(method, parameters)
        except TopicMissing:
            parameters.pop("message_thread_id", None)
            sent = await self._speak(method, parameters)
        if not isinstance(sent, dict) or not isinstance(sent.get("message_id"), int):
            raise Ambiguous("an answer without a message in it")
        return Receipt(platform_id=str(sent["message_id"]))

    async def _speak(self, method: str, parameters: dict[str, Any]) -> Any:
        async with self._opening:
            if self._send_client is None:
                self._send_client = await self._wire(self._answer_seconds)
        return await self._send_client.call(method, parameters)

    async def _wire(self, wait: float) -> BotApiClient:
        await asyncio.to_thread(importlib.import_module, "telegram")  # up to a second, beside the loop
        return await asyncio.to_thread(BotApiClient, *self._access, wait)

    async def _type(self, address: Address) -> None:
        await self._speak("send_chat_action", {"action": "typing", **chat_parameters(address)})

    def _call_in_background(self, method: str, parameters: dict[str, Any]) -> None:
        """Call it when there is time; what comes of it changes nothing."""
        with without_leaving():
            task = asyncio.create_task(self._try(self._speak(method, parameters), method), name=f"telegram {method}")
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    async def _try(self, call: Coroutine[Any, Any, Any], method: str) -> None:
        try:
            await call
        except ChannelError as err:
            log.info("not done", method=method, error=type(err).__name__)
