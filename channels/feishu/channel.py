"""The door to Feishu and Lark: hears by long connection or webhook, speaks through the API."""

import asyncio
import importlib.util
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import structlog

from channels.base import ConnectionStatus, Deliver, FetchedFile, Notebook, WebhookReply, WebhookRequest
from channels.errors import Ambiguous, ChannelError, Rejected, Retryable
from channels.feishu.cards import LIMIT, idempotency_key, message_body, text_body
from channels.feishu.client import (
    ANSWER_SECONDS,
    MAX_FILE_BYTES,
    MAX_PICTURE_BYTES,
    REPLY_TARGET_MISSING_CODES,
    FeishuApiError,
    FeishuClient,
    Json,
    PermissionMissing,
    file_body,
    plan_upload,
)
from channels.feishu.messages import ParseContext, parse, parse_ref
from channels.feishu.settings import FeishuSettings
from channels.feishu.streaming import LiveCards
from channels.feishu.webhook import FeishuWebhookVerifier, VerificationFailed, read_challenge
from channels.feishu.websocket import LongConnection, import_lark
from channels.message import Address, Capabilities, ChatKind, InboundMessage, LiveEvent, OutboundMessage, Quote, Receipt
from channels.toolkit.delivery import BoundedDict, store_with_retry, without_leaving
from channels.toolkit.text import replace_unstorable
from channels.toolkit.untrusted import load_object

log = structlog.get_logger(__name__)

# The platform knows a uuid for an hour; what is older by our clock is not trusted to be known by its.
KEY_VALID_SECONDS = 3300.0
MAX_REMEMBERED = 2000
# Pages of the notebook: the kind of a chat, and the newest message of a topic, to which answers reply.
CHAT, THREAD = "chat:", "thread:"
MAX_SENT_AS_TEXT = 500  # so many signs of what was said are remembered for those who quote it
NAME_LOOKUP_SECONDS = 1.0  # the platform waits three seconds for our acknowledgement of an event
NAMES_REFRESH_SECONDS = 6 * 3600.0
MAX_NAME_PAGES = 20
NAMES_PER_PAGE = 100
MAX_NAMES = 20_000


class Feishu:
    """One app. answer_seconds: how long one call may take."""

    name = "feishu"
    opened_with = FeishuSettings

    def __init__(self, settings: FeishuSettings, *, answer_seconds: float = ANSWER_SECONDS) -> None:
        if importlib.util.find_spec("lark_oapi") is None:
            raise ImportError("lark-oapi is missing", name="lark-oapi")
        self.account = settings.app_id
        hooked = settings.mode == "webhook"
        self.capabilities = Capabilities(
            limit=LIMIT,
            unit="utf8",
            keyed=True,
            key_valid=KEY_VALID_SECONDS,
            live=True,
            per_chat_rate=1.5,  # 5 with a burst, of all bots in a group together
            total_rate=12.0,  # a thousand a minute, with room for live text
            hears=frozenset({"text", "picture", "file", "voice", "video", "album", "delete", "button"}),
            groups=True,
            threads=True,
            shows="card",
            file_bytes=MAX_FILE_BYTES,
            picture_bytes=MAX_PICTURE_BYTES,
            caption=LIMIT,
            buttons=True,
            hook=hooked,
            says_leaving=True,
        )
        self._gate = FeishuWebhookVerifier(settings) if hooked else None
        self._wire = FeishuClient(settings, answer_seconds)
        self._socket = LongConnection(self._wire, settings.proxy)
        self._live = LiveCards(self._wire, self._post)
        self._names = MemberNames(self._wire)
        self._notebook: Notebook | None = None
        self._deliver: Deliver | None = None
        self._open_id = ""
        self._kinds: dict[str, ChatKind] = {}
        self._rows: BoundedDict[str, str] = BoundedDict(MAX_REMEMBERED)
        self._said: BoundedDict[str, str] = BoundedDict(MAX_REMEMBERED)
        self._quotable: BoundedDict[tuple[str, str], Quote] = BoundedDict(MAX_REMEMBERED)
        self._heard = 0.0

    def bind(self, notebook: Notebook) -> None:
        """Called once, before `run` and any `send`."""
        self._notebook = notebook
        self._live.bind(notebook)

    # -- hearing ----------------------------------------------------------------------------------

    async def run(self, deliver: Deliver) -> None:
        """Hear until cancelled; every event is confirmed only after `deliver` returned.

        Raises:
            LoggedOut: the app is refused. Contended: it has too many connections.
            ChannelError: nothing could be heard for 90 s.
        """
        await asyncio.to_thread(import_lark, "ws.pb.pbbp2_pb2")
        await asyncio.to_thread(import_lark, "core.utils.decryptor")
        await self._read_notebook()
        self._open_id = (await self._me())["open_id"]
        self._live.begin()
        self._deliver = deliver
        try:
            if self._gate is None:
                await self._socket.run(self._receive_until_cancelled)
            await asyncio.Event().wait()  # calls come by themselves
        finally:
            self._deliver = None

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        """Answer one call of the platform: 401 if it is not to be believed, 503 if it could not be stored."""
        if self._gate is None or self._deliver is None:
            return WebhookReply(status=503)
        try:
            event = self._gate.open(request)
        except VerificationFailed:
            return WebhookReply(status=401)
        self._heard = time.time()
        challenge = read_challenge(event)
        if challenge is not None:
            return WebhookReply(body=challenge, media_type="application/json")
        try:
            await self._hear(self._deliver, [event])
        except (OSError, RuntimeError) as err:
            log.warning("event not stored", error=f"{type(err).__name__}: {err}")
            return WebhookReply(status=503)
        return WebhookReply(body=b"{}", media_type="application/json")

    async def _receive_until_cancelled(self, payloads: Sequence[bytes]) -> None:
        """What is not stored is not confirmed, and tried again."""
        events = [event for payload in payloads if (event := _load_event(payload)) is not None]
        deliver = self._deliver
        if deliver is not None:
            await store_with_retry(lambda: self._hear(deliver, events), self.name)

    async def _hear(self, deliver: Deliver, events: Sequence[Json]) -> None:
        messages = [message for event in events if (message := self._read(event)) is not None]
        if not messages:
            return
        messages = await self._named(messages)
        keep = {THREAD + one.address.thread_id: one.key for one in messages if one.address.thread_id and _is_new(one)}
        fresh = [one for one in messages if _is_new(one) and one.address.chat_id not in self._kinds]
        keep |= {CHAT + one.address.chat_id: one.kind for one in fresh}
        accepted = await deliver(messages, keep)
        self._kinds |= {one.address.chat_id: one.kind for one in fresh}
        for row, message in zip(accepted, messages, strict=True):
            if _is_new(message):
                self._rows[row.id] = message.key
            self._note_quotable(message)

    def _note_quotable(self, message: InboundMessage) -> None:
        """In groups replies name what they answer by its id alone: who wrote it is known from its own event."""
        chat = message.address.chat_id
        if message.act == "delete":
            self._quotable.pop((chat, message.target), None)
        elif _is_new(message) and message.kind == "group" and message.text:
            sender = message.sender
            quote = Quote(text=message.text[:MAX_SENT_AS_TEXT], author=sender.name, author_id=sender.id)
            self._quotable[chat, message.key] = quote

    async def _named(self, messages: Sequence[InboundMessage]) -> list[InboundMessage]:
        """With the names of who wrote in groups, where they are told within a second."""
        chats = {one.address.chat_id for one in messages if one.kind == "group" and not one.sender.name}
        await asyncio.gather(*(self._names.look_up(chat, NAME_LOOKUP_SECONDS) for chat in chats))
        known = self._names.known
        return [
            one if one.sender.name else replace(one, sender=replace(one.sender, name=known.get(one.sender.id, "")))
            for one in messages
        ]

    def _read(self, event: Json) -> InboundMessage | None:
        known = ParseContext(
            account=self.account,
            open_id=self._open_id,
            kinds=self._kinds,
            ours=self._said,
            names=self._names.known,
            heard=self._quotable,
        )
        try:
            return parse(event, known)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            header = event.get("header")
            kind = str(header.get("event_type"))[:60] if isinstance(header, dict) else ""
            log.warning("event not understood", kind=kind, error=type(err).__name__)
            return None

    # -- speaking ---------------------------------------------------------------------------------

    async def send(self, message: OutboundMessage) -> Receipt:
        """Deliver one part; return the new message's id.

        Raises:
            Retryable, Rejected, BadFormat, AttachmentTooBig, Ambiguous, LoggedOut: see channels.errors.
        """
        await self._read_notebook()
        if message.file is not None:
            return await self._send_file(message)
        receipt = await self._live.finish(message)
        if receipt is None:
            keyed = {**message_body(message), "uuid": idempotency_key(message.client_key)}
            receipt = Receipt(platform_id=await self._post(message.address, self._answered(message), keyed))
        self._said[receipt.platform_id] = message.text[:MAX_SENT_AS_TEXT]
        return receipt

    def show(self, event: LiveEvent) -> None:
        """Show an answer while it is written; best effort."""
        self._live.show(event, self._rows.get(event.message_id, ""), self._alone(event.address))

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """Get the bytes of an attachment, at most `most` of them.

        Raises:
            AttachmentTooBig: there are more. Rejected: it is gone. Retryable, Ambiguous, LoggedOut: not now.
        """
        try:
            message_id, kind, key = parse_ref(ref)
        except ValueError as err:
            raise Rejected("this is no file of Feishu's") from err
        return await self._wire.fetch(f"/im/v1/messages/{message_id}/resources/{key}", {"type": kind}, most)

    async def _send_file(self, message: OutboundMessage) -> Receipt:
        """The file, then its words; each under a key of its own, so that a second attempt repeats neither."""
        if message.file is None:
            raise Rejected("there is no file")
        upload = plan_upload(message.file)
        try:
            with without_leaving():
                reply = await self._wire.call("POST", upload.path, data=upload.fields, files=upload.files)
        except PermissionMissing as err:
            raise Rejected(f"the file cannot be sent: {err}") from err
        except Ambiguous as err:  # an upload alone is seen by nobody
            raise Retryable(str(err)) from err
        answered = self._answered(message)
        keyed = {
            **file_body(upload, _read_string(reply, upload.key)),
            "uuid": idempotency_key(f"{message.client_key} file"),
        }
        id = await self._post(message.address, answered, keyed)
        if message.text.strip():
            words = message_body(message) if not message.plain else text_body(message.text)
            await self._post(message.address, answered, {**words, "uuid": idempotency_key(message.client_key)})
        return Receipt(platform_id=id)

    async def _post(self, address: Address, answered: str, keyed: Json) -> str:
        """One new message; its id. It replies to what `answered` names, in a topic at least to its newest message."""
        target = "" if self._alone(address) else answered
        if address.thread_id and not target:
            target = await self._newest(address.thread_id)
        if target:
            reply = {**keyed, "reply_in_thread": bool(address.thread_id)}
            try:
                return _read_string(
                    await self._wire.call("POST", f"/im/v1/messages/{target}/reply", reply), "message_id"
                )
            except FeishuApiError as err:
                if err.code not in REPLY_TARGET_MISSING_CODES:
                    raise
        created = {**keyed, "receive_id": address.chat_id}
        params = {"receive_id_type": "chat_id"}
        return _read_string(await self._wire.call("POST", "/im/v1/messages", created, params=params), "message_id")

    def _answered(self, message: OutboundMessage) -> str:
        """The message to reply to: in a topic each part does, in a group the first."""
        key = message.reply_to_key.partition(":")[0]
        later = message.part_no > 0 and not message.address.thread_id
        return "" if later or not key.startswith("om_") else key

    def _alone(self, address: Address) -> bool:
        """Whether there is nobody else, so that nothing need be a reply."""
        return self._kinds.get(address.chat_id) == "dm" and not address.thread_id

    async def _newest(self, thread: str) -> str:
        name = THREAD + thread
        return (await self._notebook.read(name)).get(name, "") if self._notebook else ""

    # -- the rest ---------------------------------------------------------------------------------

    def vitals(self) -> ConnectionStatus:
        """As they are now."""
        trouble = "; ".join(filter(None, (self._socket.trouble, self._live.refused)))
        return ConnectionStatus(heard=max(self._heard, self._socket.heard), trouble=trouble)

    async def probe(self) -> str:
        """Ask the platform who we are. Raises ChannelError: it does not work, and why."""
        me = await self._me()
        return f"{me.get('app_name') or 'bot'} ({self.account}, {me['open_id']})"

    async def close(self) -> None:
        """Drop the connections that sends use; a later send opens them again."""
        await self._names.close()
        await self._live.close()
        await self._wire.close()

    async def _me(self) -> Json:
        """Who we are; open_id is what mentions of us name."""
        bot = (await self._wire.call("GET", "/bot/v3/info")).get("bot")
        if not isinstance(bot, dict) or not isinstance(bot.get("open_id"), str):
            raise ChannelError("Feishu does not say who the bot is: is the bot ability of the app switched on?")
        return bot

    async def _read_notebook(self) -> None:
        if self._notebook is not None and not self._kinds:
            kept = await self._notebook.read(CHAT)
            self._kinds = {name.removeprefix(CHAT): _chat_kind(page) for name, page in kept.items()}


def _load_event(payload: bytes) -> Json | None:
    event = load_object(payload)
    if event is None:
        log.warning("event not understood", kind="", error="no JSON object")
    return event


def _is_new(message: InboundMessage) -> bool:
    return message.act == "message"


def _chat_kind(page: str) -> ChatKind:
    return "dm" if page == "dm" else "group"


def _read_string(reply: Json, name: str) -> str:
    value: Any = (reply.get("data") or {}).get(name)
    if not isinstance(value, str) or not value:
        raise Ambiguous(f"an answer without {name}")
    return value


class MemberNames:
    """Names of group members by open_id, for display: events hold only the id, so the members are looked up."""

    def __init__(self, client: FeishuClient) -> None:
        self._client = client
        #: When each group was looked up, in monotonic seconds.
        self._looked_up: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._allowed = True
        self.known: dict[str, str] = {}

    async def look_up(self, chat_id: str, seconds: float) -> None:
        """Look up a group's members unless that was done lately; after `seconds` it continues in the background."""
        now = time.monotonic()
        if not self._allowed or now - self._looked_up.get(chat_id, -NAMES_REFRESH_SECONDS) < NAMES_REFRESH_SECONDS:
            return
        self._looked_up[chat_id] = now
        task = asyncio.create_task(self._fetch(chat_id), name="feishu names")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait({task}, timeout=seconds)

    async def close(self) -> None:
        """Cancel all lookups."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, chat_id: str) -> None:
        page = ""
        try:
            for _ in range(MAX_NAME_PAGES):
                params = {"member_id_type": "open_id", "page_size": NAMES_PER_PAGE}
                if page:
                    params["page_token"] = page
                reply = await self._client.call("GET", f"/im/v1/chats/{chat_id}/members", params=params)
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
            log.info("names of a group's members were not learnt", error=type(err).__name__)
