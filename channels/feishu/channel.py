"""The channel of Feishu and Lark: receives by long connection or webhook, sends by the API."""

import asyncio
import importlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

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
from channels.errors import ChannelError, Rejected
from channels.feishu.cards import LIMIT, idempotency_key, message_body
from channels.feishu.client import (
    ANSWER_SECONDS,
    MAX_FILE_BYTES,
    MAX_PICTURE_BYTES,
    REPLY_TARGET_MISSING_CODES,
    FeishuApiError,
    FeishuClient,
    Json,
    PermissionMissing,
    reply_field,
)
from channels.feishu.frames import load_frame_class
from channels.feishu.messages import ParseContext, parse, parse_ref, parse_title
from channels.feishu.settings import FeishuSettings
from channels.feishu.setup import check_setup
from channels.feishu.streaming import LiveCards
from channels.feishu.webhook import FeishuWebhookVerifier, VerificationFailed, read_challenge
from channels.feishu.websocket import LongConnection
from channels.message import (
    Address,
    Capabilities,
    ChatKind,
    InboundMessage,
    LiveEvent,
    OutboundFile,
    OutboundMessage,
    Quote,
    Receipt,
)
from channels.toolkit.delivery import BackgroundTasks, BoundedDict, EmptyNotebook, store_with_retry
from channels.toolkit.text import replace_unstorable
from channels.toolkit.untrusted import load_object

log = structlog.get_logger(__name__)

# Feishu remembers a uuid for an hour; the rest allows for differing clocks
KEY_VALID_SECONDS = 3300.0
MAX_REMEMBERED = 2000  # messages
# Notebook entries: the kind of a chat, the title of a group, and the newest message of a topic, to
# which replies go.
CHAT, TITLE, THREAD = "chat:", "title:", "thread:"
MAX_QUOTE_CHARS = 500
NAME_LOOKUP_SECONDS = 1.0  # the platform waits three seconds for our acknowledgement of an event
NAMES_REFRESH_SECONDS = 6 * 3600.0
MAX_NAME_PAGES = 20
NAMES_PER_PAGE = 100
MAX_NAMES = 20_000


class Feishu:
    """One app. answer_seconds: timeout of a call."""

    name = "feishu"
    settings_type = FeishuSettings

    def __init__(self, settings: FeishuSettings, *, answer_seconds: float = ANSWER_SECONDS) -> None:
        self.account = settings.app_id
        self.capabilities = Capabilities(
            limit=LIMIT,
            unit="utf8",
            keyed=True,
            key_valid=KEY_VALID_SECONDS,
            live=True,
            per_chat_rate=1.5,  # Feishu allows 5, shared by all bots of a group
            total_rate=12.0,  # Feishu allows 1000 a minute, part of which is live text
            receives=frozenset(
                {"text", "picture", "file", "voice", "video", "album", "delete", "button"}
            ),
            groups=True,
            threads=True,
            live_display="card",
            file_bytes=MAX_FILE_BYTES,
            picture_bytes=MAX_PICTURE_BYTES,
            caption=LIMIT,
            buttons=True,
            hook=settings.mode == "webhook",
        )
        self._verifier = FeishuWebhookVerifier(settings) if self.capabilities.hook else None
        self._settings = settings
        self._client = FeishuClient(settings, answer_seconds)
        self._connection = LongConnection(self._client, settings.proxy)
        self._live = LiveCards(self._client, self._post)
        self._names = MemberNames(self._client)
        self._notebook: Notebook = EmptyNotebook()
        self._deliver: Deliver | None = None
        self._open_id = ""
        self._kinds: dict[str, ChatKind] = {}
        #: Titles of groups that events told.
        self._titles: dict[str, str] = {}
        #: Platform ids of received messages by inbox id.
        self._message_ids: BoundedDict[str, str] = BoundedDict(MAX_REMEMBERED)
        #: Texts of sent messages by platform id, and messages of groups by chat and platform id.
        self._sent: BoundedDict[str, str] = BoundedDict(MAX_REMEMBERED)
        self._quotes: BoundedDict[tuple[str, str], Quote] = BoundedDict(MAX_REMEMBERED)
        #: Unix seconds of the last genuine webhook call.
        self._last_call = 0.0

    def bind(self, notebook: Notebook) -> None:
        self._notebook = notebook
        self._live.bind(notebook)

    # -- receiving --------------------------------------------------------------------------------

    async def run(self, deliver: Deliver) -> None:
        if self._verifier is None:
            await asyncio.to_thread(load_frame_class)  # slow: it imports protobuf
        else:
            await asyncio.to_thread(
                importlib.import_module, "cryptography.hazmat.primitives.ciphers"
            )
        await self._read_notebook()
        self._open_id = (await self._bot_info())["open_id"]
        self._live.start_cleanup()
        self._deliver = deliver
        try:
            if self._verifier is None:
                await self._connection.run(self._store_payloads)
            await asyncio.Event().wait()
        finally:
            self._deliver = None

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        if self._verifier is None or self._deliver is None:
            return WebhookReply(status=503)
        try:
            event = self._verifier.open(request)
        except VerificationFailed:
            return WebhookReply(status=401)
        self._last_call = time.time()
        challenge = read_challenge(event)
        if challenge is not None:
            return WebhookReply(body=challenge, media_type="application/json")
        try:
            await self._deliver_events(self._deliver, [event])
        except (OSError, RuntimeError) as err:
            log.warning("event not stored", error=f"{type(err).__name__}: {err}")
            return WebhookReply(status=503)
        return WebhookReply(body=b"{}", media_type="application/json")

    async def _store_payloads(self, payloads: Sequence[bytes]) -> None:
        """Deliver until stored: the events are acknowledged afterwards."""
        events = [event for payload in payloads if (event := _load_event(payload)) is not None]
        deliver = self._deliver
        if deliver is not None:
            await store_with_retry(lambda: self._deliver_events(deliver, events), self.name)

    async def _deliver_events(self, deliver: Deliver, events: Sequence[Json]) -> None:
        titles = self._learn_titles(events)
        messages = [message for event in events if (message := self._parse(event)) is not None]
        if not messages and not titles:
            return
        messages = await self._add_names(messages)
        new = [message for message in messages if message.act == "message"]
        kinds = {
            one.address.chat_id: one.kind for one in new if one.address.chat_id not in self._kinds
        }
        keep = {THREAD + one.address.thread_id: one.key for one in new if one.address.thread_id}
        accepted = await deliver(
            messages, titles | keep | {CHAT + chat: kind for chat, kind in kinds.items()}
        )
        self._kinds |= kinds
        for row, message in zip(accepted, messages, strict=True):
            self._remember(row.id, message)

    def _learn_titles(self, events: Sequence[Json]) -> dict[str, str]:
        """Note the titles of groups that events tell; return their entries for the notebook."""
        entries = {}
        for event in events:
            if (told := _title_told(event)) is not None:
                chat, title = told
                self._titles[chat] = entries[TITLE + chat] = title
        return entries

    def _remember(self, row_id: str, message: InboundMessage) -> None:
        if message.act == "message":
            self._message_ids[row_id] = message.key
        self._remember_quote(message)

    def _remember_quote(self, message: InboundMessage) -> None:
        """Keep a group's message for later replies, which name it by its id alone."""
        chat = message.address.chat_id
        if message.act == "delete":
            self._quotes.pop((chat, message.target), None)
        elif message.act == "message" and message.kind == "group" and message.text:
            sender = message.sender
            quote = Quote(
                text=message.text[:MAX_QUOTE_CHARS], author=sender.name, author_id=sender.id
            )
            self._quotes[chat, message.key] = quote

    async def _add_names(self, messages: Sequence[InboundMessage]) -> list[InboundMessage]:
        """Add the names of senders in groups as far as they are known within a second."""
        chats = {
            one.address.chat_id for one in messages if one.kind == "group" and not one.sender.name
        }
        await asyncio.gather(*(self._names.look_up(chat, NAME_LOOKUP_SECONDS) for chat in chats))
        known = self._names.known
        return [
            one
            if one.sender.name
            else replace(one, sender=replace(one.sender, name=known.get(one.sender.id, "")))
            for one in messages
        ]

    def _parse(self, event: Json) -> InboundMessage | None:
        known = ParseContext(
            account=self.account,
            open_id=self._open_id,
            kinds=self._kinds,
            sent=self._sent,
            names=self._names.known,
            titles=self._titles,
            quotes=self._quotes,
        )
        try:
            return parse(event, known)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            header = event.get("header")
            kind = str(header.get("event_type"))[:60] if isinstance(header, dict) else ""
            log.warning("event not understood", kind=kind, error=type(err).__name__)
            return None

    # -- sending ----------------------------------------------------------------------------------

    async def send(self, message: OutboundMessage) -> Receipt:
        await self._read_notebook()
        if message.file is not None:
            return await self._send_file(message, message.file)
        receipt = await self._live.finish(message)
        if receipt is None:
            body = {**message_body(message), "uuid": idempotency_key(message.client_key)}
            receipt = Receipt(
                platform_id=await self._post(message.address, _reply_target(message), body)
            )
        self._sent[receipt.platform_id] = message.text[:MAX_QUOTE_CHARS]
        return receipt

    def show(self, event: LiveEvent) -> None:
        self._live.show(
            event, self._message_ids.get(event.message_id, ""), self._is_private(event.address)
        )

    async def fetch(self, ref: str, max_bytes: int) -> FetchedFile:
        try:
            message_id, kind, key = parse_ref(ref)
        except ValueError as err:
            raise Rejected("this is not a file of Feishu") from err
        return await self._client.fetch(
            f"/im/v1/messages/{message_id}/resources/{key}", {"type": kind}, max_bytes
        )

    async def _send_file(self, message: OutboundMessage, file: OutboundFile) -> Receipt:
        """Send the file, then its text.

        Each has its own key, so that a second attempt repeats neither.
        """
        target = _reply_target(message)
        body = await self._client.upload(file)
        id = await self._post(
            message.address, target, {**body, "uuid": idempotency_key(f"{message.client_key} file")}
        )
        if message.text.strip():
            text = {**message_body(message), "uuid": idempotency_key(message.client_key)}
            await self._post(message.address, target, text)
        return Receipt(platform_id=id)

    async def _post(self, address: Address, target: str, body: Json) -> str:
        """Post a message and return its id; outside private chats it replies to `target`, in topics
        always to one.
        """
        if self._is_private(address):
            target = ""
        elif address.thread_id and not target:
            name = THREAD + address.thread_id
            target = (await self._notebook.read(name)).get(name, "")
        if target:
            reply = {**body, "reply_in_thread": bool(address.thread_id)}
            try:
                sent = await self._client.call("POST", f"/im/v1/messages/{target}/reply", reply)
                return reply_field(sent, "message_id")
            except FeishuApiError as err:
                if err.code not in REPLY_TARGET_MISSING_CODES:
                    raise
        body = {**body, "receive_id": address.chat_id}
        sent = await self._client.call(
            "POST", "/im/v1/messages", body, params={"receive_id_type": "chat_id"}
        )
        return reply_field(sent, "message_id")

    def _is_private(self, address: Address) -> bool:
        return self._kinds.get(address.chat_id) == "dm" and not address.thread_id

    # -- status -----------------------------------------------------------------------------------

    def connection_status(self) -> ConnectionStatus:
        trouble = "; ".join(filter(None, (self._connection.trouble, self._live.refused)))
        return ConnectionStatus(
            last_contact=max(self._last_call, self._connection.last_contact), trouble=trouble
        )

    async def probe(self) -> str:
        bot = await self._bot_info()
        return f"{bot.get('app_name') or 'bot'} ({self.account}, {bot['open_id']})"

    def check_setup(self, owner: str) -> AsyncIterator[SetupFinding]:
        return check_setup(self._client, self._settings, owner)

    async def close(self) -> None:
        """Close the connections that sends use; a later send reopens them."""
        await self._names.close()
        await self._live.close()
        await self._client.close()

    async def _bot_info(self) -> Json:
        """Return the bot's own account; mentions contain its open_id."""
        bot = (await self._client.call("GET", "/bot/v3/info")).get("bot")
        if not isinstance(bot, dict) or not isinstance(bot.get("open_id"), str):
            raise ChannelError(
                "Feishu does not say who the bot is: is the bot ability of the app switched on?"
            )
        return bot

    async def _read_notebook(self) -> None:
        if not self._kinds:
            entries = await self._notebook.read(CHAT)
            self._kinds = {
                name.removeprefix(CHAT): "dm" if kind == "dm" else "group"
                for name, kind in entries.items()
            }
            titles = await self._notebook.read(TITLE)
            self._titles |= {name.removeprefix(TITLE): title for name, title in titles.items()}


def _title_told(event: Json) -> tuple[str, str] | None:
    try:
        return parse_title(event)
    except (KeyError, TypeError, AttributeError):
        return None  # the group keeps the title that it had


def _load_event(payload: bytes) -> Json | None:
    event = load_object(payload)
    if event is None:
        log.warning("event not understood", kind="", error="no JSON object")
    return event


def _reply_target(message: OutboundMessage) -> str:
    """Return the message to reply to: in a topic every part is a reply, in a group only the
    first.
    """
    id = message.reply_to_key.partition(":")[0]
    is_later_part = message.part_no > 0 and not message.address.thread_id
    return "" if is_later_part or not id.startswith("om_") else id


class MemberNames:
    """Names of group members by open_id, for display: events hold only the id, so the members are
    looked up.
    """

    def __init__(self, client: FeishuClient) -> None:
        self._client = client
        #: When each group was looked up, in monotonic seconds.
        self._looked_up: dict[str, float] = {}
        self._background = BackgroundTasks()
        self._allowed = True
        self.known: dict[str, str] = {}

    async def look_up(self, chat_id: str, seconds: float) -> None:
        """Look up a group's members unless that was done recently; after `seconds` it continues in
        the background.
        """
        now = time.monotonic()
        if (
            not self._allowed
            or now - self._looked_up.get(chat_id, -NAMES_REFRESH_SECONDS) < NAMES_REFRESH_SECONDS
        ):
            return
        self._looked_up[chat_id] = now
        await asyncio.wait(
            {self._background.start(self._fetch(chat_id), "feishu names")}, timeout=seconds
        )

    async def close(self) -> None:
        """Cancel all lookups."""
        await self._background.close()

    async def _fetch(self, chat_id: str) -> None:
        page = ""
        try:
            for _ in range(MAX_NAME_PAGES):
                params = {"member_id_type": "open_id", "page_size": NAMES_PER_PAGE}
                if page:
                    params["page_token"] = page
                reply = await self._client.call(
                    "GET", f"/im/v1/chats/{chat_id}/members", params=params
                )
                data = reply.get("data") or {}
                self.known |= {
                    str(member["member_id"]): replace_unstorable(str(member.get("name") or ""))
                    for member in data["items"]
                }
                page = data.get("page_token") or ""
                if not data.get("has_more") or not page or len(self.known) > MAX_NAMES:
                    return
        except PermissionMissing as err:
            self._allowed = False
            log.info("names of group members are not known", error=str(err))
        except (ChannelError, KeyError, TypeError) as err:
            log.info("names of a group's members not loaded", error=type(err).__name__)
