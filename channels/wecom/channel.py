"""The door to a WeCom smart bot: hears and speaks over one WebSocket."""

import asyncio
import importlib.util
import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog

from channels.base import ConnectionStatus, Deliver, FetchedFile, Notebook
from channels.errors import Rejected, Retryable
from channels.message import Capabilities, LiveEvent, OutboundMessage, Receipt
from channels.toolkit.delivery import mark_leaving, store_with_retry
from channels.wecom import media
from channels.wecom.connection import ReconnectingSocket, StreamClosed, WecomTiming, new_request_id, run_until_first
from channels.wecom.messages import (
    LIMIT,
    REPEAT_MARK,
    WecomMessage,
    card_packet,
    markdown_packet,
    parse,
    render,
    stream_id,
    stream_packet,
)
from channels.wecom.settings import WecomSettings
from channels.wecom.state import AnswerableCall, WecomState
from channels.wecom.streaming import LiveStreams

log = structlog.get_logger(__name__)
KEY_VALID_SECONDS = 300.0  # a stream can be said again for six minutes after its last packet
MAX_KEYLESS_SENDS = 2
Frames = Sequence[tuple[str, Mapping[str, Any]]]


class Wecom:
    """One bot. timing: every wait there is.

    The platform has no word for "stored" and is not known to bring anything twice: what was read from the socket is
    ours. It therefore goes straight to `deliver`, again and again until that has stored it, and to the notebook when
    the hearing ends before; only the moment between the two is left to chance.
    """

    name = "wecom"
    opened_with = WecomSettings

    def __init__(self, settings: WecomSettings, *, timing: WecomTiming | None = None) -> None:
        """Raises ImportError: a package is missing that this channel stands on."""
        for package in ("websockets", "cryptography"):
            if importlib.util.find_spec(package) is None:
                raise ModuleNotFoundError(f"no package {package}", name=package)
        self.account = settings.bot_id
        self.capabilities = Capabilities(
            limit=LIMIT,
            caption=LIMIT,
            unit="utf8",
            keyed=True,
            key_valid=KEY_VALID_SECONDS,
            live=True,
            per_chat_rate=1 / 3,
            burst=10,
            receives=frozenset({"text", "picture", "file", "voice", "video", "album", "button", "quote"}),
            groups=True,
            live_display="stream",
            file_bytes=media.FILE_BYTES,
            picture_bytes=media.PICTURE_BYTES,
            buttons=True,
            reports_leaving=True,
        )
        self._settings = settings
        self._timing = timing or WecomTiming()
        self._keeper = ReconnectingSocket(settings, self._timing, self._heard)
        self._pages = WecomState()
        self._live = LiveStreams(self._put, self._timing)
        self._frames: deque[tuple[str, Mapping[str, Any]]] = deque()
        self._came = asyncio.Event()
        self._arrival = 0
        self._hearing = False
        self._trouble = ""
        self._holding: set[asyncio.Task[None]] = set()

    def bind(self, notebook: Notebook) -> None:
        self._pages.bind(notebook)

    async def run(self, deliver: Deliver) -> None:
        """Hear until cancelled. The connection stays, for what is still to be said, until `close`.

        Raises:
            LoggedOut: bot_id and secret are refused. Contended: another program has taken the bot.
            ChannelError: ten connections in a row failed.
        """
        self._hearing = True
        try:
            await self._pages.open()
            await run_until_first(self._keeper.keep(), self._store_all(deliver))
        finally:
            self._hearing = False
            await self._hold()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Deliver one part: as an answer to the message it answers while that is possible, else as a new message.

        Raises:
            Retryable, Rejected, AttachmentTooBig, Ambiguous, LoggedOut: see channels.errors.
        """
        try:
            return await self._send(message)
        except OSError as err:
            raise Retryable(f"the record cannot be written: {err}") from err

    def show(self, event: LiveEvent) -> None:
        """Show an answer while it is written; best effort."""
        self._live.take(event)

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """The bytes of an attachment; its address holds for five minutes after the message came."""
        return await media.fetch_attachment(ref, most, self._settings.ws_url, self._settings.proxy)

    def connection_status(self) -> ConnectionStatus:
        return ConnectionStatus(last_contact=self._keeper.last, trouble=self._trouble or self._keeper.trouble)

    async def probe(self) -> str:
        """Open the socket and close it. To subscribe would take the bot from where it runs: the secret is not tried."""
        if await self._keeper.reach():
            return f"bot {self.account}, connected"
        return f"WeCom's socket can be reached; the secret of bot {self.account} is tried when it runs"

    async def close(self) -> None:
        """Drop the connection; a later send opens it again."""
        await self._live.close()
        await self._keeper.close()
        await asyncio.gather(*self._holding, return_exceptions=True)

    # -- hearing ----------------------------------------------------------------------------------

    def _heard(self, frame: Mapping[str, Any]) -> None:
        self._arrival = max(self._arrival + 1, time.time_ns())
        self._frames.append((f"{self._arrival:020d}", frame))
        self._came.set()
        if not self._hearing:
            task = asyncio.create_task(self._hold())
            self._holding.add(task)
            task.add_done_callback(self._holding.discard)

    async def _hold(self) -> None:
        """Keep for the next hearing what nobody has heard."""
        waiting = list(self._frames)
        if not waiting:
            return
        try:
            await self._pages.hold({name: json.dumps(frame) for name, frame in waiting})
        except OSError as err:
            log.error("callbacks not kept", count=len(waiting), error=str(err))
            return
        self._drop(waiting)

    def _drop(self, frames: Frames) -> None:
        for one in frames:
            if one in self._frames:
                self._frames.remove(one)

    async def _store_all(self, deliver: Deliver) -> None:
        if held := self._pages.held_callbacks():
            await self._store(deliver, [(name, json.loads(frame)) for name, frame in held.items()])
        while True:
            while batch := list(self._frames):
                await self._store(deliver, batch)
                self._drop(batch)
            self._came.clear()
            await self._came.wait()

    async def _store(self, deliver: Deliver, frames: Frames) -> None:
        heard = [one for name, frame in frames if (one := self._read(name, frame)) is not None]
        names = [name for name, _ in frames]
        keep = {**self._pages.heard(heard), **self._pages.releasing(names)}
        if not heard and not keep:
            return
        messages = [one.message for one in heard]
        accepted = await store_with_retry(lambda: deliver(messages, keep), self.name, on_trouble=self._note_trouble)
        self._pages.released(names)
        for one, row in zip(heard, accepted, strict=True):
            call = self._pages.call(one.message.key)
            if call is not None and not call.by:
                self._live.know(row.id, call)

    def _note_trouble(self, trouble: str) -> None:
        self._trouble = trouble

    def _read(self, name: str, frame: Mapping[str, Any]) -> WecomMessage | None:
        try:
            return parse(frame, self.account, int(name))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as err:
            log.warning("callback not understood", error=f"{type(err).__name__}: {err}")
            return None

    # -- speaking ---------------------------------------------------------------------------------

    async def _put(self, call: AnswerableCall, text: str) -> None:
        """One packet of live text."""
        await self._keeper.ask("aibot_respond_msg", stream_packet(stream_id(call.key), text, finish=False), call.req_id)

    async def _send(self, message: OutboundMessage) -> Receipt:
        await self._pages.open()
        call = self._pages.call(message.reply_to_key)
        file = await media.upload_media(message.file, self._upload) if message.file is not None else None
        receipt = Receipt()
        if message.text.strip() or (file is None and not message.buttons):
            receipt = await self._say(message, call)
        if file is not None:
            receipt = await self._tell(message, ":file", file)
        if message.buttons:
            receipt = await self._tell(message, ":buttons", card_packet(message.buttons, message.client_key))
        return receipt

    async def _say(self, message: OutboundMessage, call: AnswerableCall | None) -> Receipt:
        if call is not None:
            id = await self._stream_of(message, call)
            body = stream_packet(id, render(message.text), finish=True)
            await self._leave()
            with suppress(StreamClosed):
                async with self._pages.attempt(message.client_key, id, keyless=False) as before:
                    if not before.done:
                        await self._keeper.ask("aibot_respond_msg", body, call.req_id)
                return Receipt(platform_id=before.done or id)
        return await self._tell(message)

    async def _stream_of(self, message: OutboundMessage, call: AnswerableCall) -> str:
        """The stream that a part is; the first part of an answer is the one that people saw being written."""
        if message.part_no == 0 and message.kind in ("final", "notice"):
            await self._live.end(call.key)
            if await self._pages.claim(call, message.client_key):
                return stream_id(call.key)
        return stream_id(message.client_key)

    async def _tell(self, message: OutboundMessage, extra: str = "", body: dict[str, Any] | None = None) -> Receipt:
        """Send a new message. No key makes two of them one: what may have arrived is sent once more, and says so."""
        request = new_request_id("aibot_send_msg")
        await self._leave()
        async with self._pages.attempt(message.client_key + extra, request, keyless=True) as before:
            if before.done:
                return Receipt(platform_id=before.done)
            if before.keyless >= MAX_KEYLESS_SENDS:
                raise Rejected(f"what became of {before.keyless} attempts is unknown; there is no third")
            mark = REPEAT_MARK if before.all and not message.repeated else ""
            said = body or markdown_packet(render(mark + message.text))
            chat = self._pages.chat_spelling(message.address.chat_id)
            await self._keeper.ask("aibot_send_msg", {"chatid": chat, **said}, request)
        return Receipt(platform_id=request)

    async def _leave(self) -> None:
        """Wait for the connection before anything is noted as sent."""
        await self._keeper.ready()
        await mark_leaving()

    async def _upload(self, command: str, body: dict[str, Any]) -> Any:
        return await self._keeper.ask(command, body, wait=self._timing.upload)
