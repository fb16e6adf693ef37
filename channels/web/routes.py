"""Routes of the web channel: conversations, event streams, proxy check, webhooks of the
platforms.
"""

import asyncio
import errno
import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from channels.base import HasWebhook, WebhookRequest
from channels.errors import InvalidValue
from channels.message import Accepted, Attachment, InboundMessage, Sender
from channels.phrases import Phrase
from channels.toolkit.delivery import BoundedDict
from channels.web import models
from channels.web.auth import Visitor
from channels.web.backend import ConversationFilter, TranscriptLine, WebServices, web_address
from channels.web.channel import Web
from channels.web.events import HEADERS as STREAM_HEADERS
from channels.web.events import (
    EventStream,
    context_changes,
    list_changes,
    merge_frames,
    parse_position,
    wait_for_disconnect,
)
from channels.web.requests import (
    HOOKS_PATH,
    LARGE_BODY,
    NAME,
    HttpRefusal,
    Route,
    conversation_json,
    file_label,
    header_values,
    is_versioned,
    json_response,
    list_key,
    peer_address,
    read_body,
)
from channels.web.validation import CURSOR_REFUSED, check_client_key

MAX_MARKS = 100  # of one message
DEFAULT_LINES = 50


class WebApi:
    """Handlers of the conversation routes."""

    def __init__(
        self,
        web: Web,
        services: WebServices,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._web = web
        self._backend = services.backend
        self._load_sources = services.load_sources
        self._clock = clock

    def calls(self) -> tuple[Route, ...]:
        """Return every route of the channel, with the action each one needs."""
        return (
            *self._conversation_calls("/api/v1/conversations/{id}"),
            Route(
                method="GET",
                path="/api/v1/session",
                action="console.read",
                handler=self.session,
                reply=models.SessionBody,
            ),
            Route(
                method="POST",
                path="/api/v1/messages",
                action="chat",
                handler=self.send,
                is_promised=True,
                body=models.NewMessageBody,
                reply=models.AcceptedBody,
                max_body=LARGE_BODY,
                large_field="attachments",
            ),
            Route(
                method="GET",
                path="/api/v1/events",
                action="console.read",
                handler=self.page_events,
                is_promised=True,
                query=models.StreamQueryBody,
            ),
            Route(
                method="GET",
                path="/api/v1/conversations",
                action="console.read",
                handler=self.list,
                is_promised=True,
                query=models.ConversationQueryBody,
                reply=models.ConversationPageBody,
            ),
        )

    def _conversation_calls(self, one: str) -> tuple[Route, ...]:
        return (
            Route(
                method="GET",
                path=one,
                action="console.read",
                handler=self.entry,
                is_promised=True,
                reply=models.ConversationSummaryBody,
            ),
            Route(
                method="POST",
                path=f"{one}/open",
                action="console.read",
                handler=self.open,
                is_promised=True,
                reply=models.DoneBody,
            ),
            Route(
                method="GET",
                path=f"{one}/messages",
                action="console.read",
                handler=self.messages,
                is_promised=True,
                query=models.MessageQueryBody,
                reply=models.MessagePageBody,
            ),
            Route(
                method="GET",
                path=f"{one}/events",
                action="console.read",
                handler=self.events,
                is_promised=True,
                query=models.ConversationStreamQueryBody,
            ),
            Route(
                method="POST",
                path=f"{one}/stop",
                action="turn.stop",
                handler=self.stop,
                is_promised=True,
                reply=models.DoneBody,
            ),
        )

    async def session(self, request: Request) -> Response:
        """Return the CSRF token, which the page needs to start."""
        visitor: Visitor = request.state.visitor
        headers = {"set-cookie": visitor.renewed_cookie} if visitor.renewed_cookie else {}
        return json_response(
            {"csrf": visitor.csrf, "now": self._clock().isoformat()}, headers=headers
        )

    async def send(self, request: Request, body: models.NewMessageBody) -> Response:
        """Accept one message: 202 once it is stored, 200 for a repeat, 503 if it could not be
        stored.
        """
        key = body.key or request.headers.get("idempotency-key")
        message = to_inbound_message(body, key, self._clock())
        conversation = message.address.chat_id
        message = await self._backend.address(message)
        accepted = await self._deliver(message)
        if accepted.new:
            self._web.accepted(conversation)
        return json_response({"id": accepted.id}, 202 if accepted.new else 200)

    async def _deliver(self, message: InboundMessage) -> Accepted:
        if self._web.deliver is None:
            raise HttpRefusal(
                503,
                "starting",
                Phrase("not ready yet; try again in a moment"),
                {"retry-after": "1"},
            )
        try:
            [accepted] = await self._web.deliver([message])
        except (OSError, RuntimeError) as err:
            why = Phrase("the message could not be stored; send it again")
            if isinstance(err, OSError) and err.errno == errno.ESTALE:
                why = Phrase("nothing can be stored: {why}", why=err.strerror)
            raise HttpRefusal(503, "storage", why, {"retry-after": "2"}) from err
        return accepted

    async def list(self, request: Request, query: models.ConversationQueryBody) -> Response:
        """Return a page of the conversations, newest first: all, only the owner's `own`, or those
        that `q` finds.
        """
        full = is_versioned(request)
        wanted = ConversationFilter(own=query.own, words=query.q)
        if full and not query.own:
            wanted = replace(
                wanted, by_pin=True, channel=query.channel, person=query.person, state=query.state
            )
        try:
            page = await self._backend.conversations(query.cursor, query.limit, wanted)
        except ValueError as err:
            raise HttpRefusal(400, "cursor", CURSOR_REFUSED) from err
        found = [conversation_json(one, full=full) for one in page.conversations]
        return json_response({list_key(request, "conversations"): found, "next": page.next or None})

    async def entry(self, request: Request) -> Response:
        """Return one conversation's entry in the list, without its messages."""
        found = await self._backend.conversation(await self._existing(request))
        if found is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such conversation"))
        full = is_versioned(request)
        headers = {"etag": f'"{found.etag}"'} if full and found.etag else None
        return json_response(conversation_json(found, full=full), headers=headers)

    async def open(self, request: Request) -> Response:
        """Open a conversation; another person's private chat is recorded in the audit list each
        time.
        """
        await self._begin_reading(await self._existing(request), request, pressed=True)
        return json_response({"ok": True})

    async def messages(self, request: Request, query: models.MessageQueryBody) -> Response:
        """Return a page of the transcript, oldest first; `before` is a message's id or line,
        `after` a line.
        """
        conversation, limit = await self._existing(request), query.limit
        reader, full = request.state.visitor.id, is_versioned(request)
        before = await self._line(conversation, query.before, reader, "before")
        if full and query.q:
            found = await self._backend.search(
                conversation, query.q, reader=reader, before=before, limit=limit
            )
            return json_response(
                {
                    "items": [
                        _line_json(line) | {"marks": find_marks(line.text, query.q)}
                        for line in found
                    ]
                }
            )
        get_lines = partial(self._backend.lines, conversation, reader=reader, details=full)
        around = await self._line(conversation, query.around if full else "", reader, "around")
        if around:
            above = await get_lines(before=around, limit=limit // 2) if limit > 1 else []
            lines = [*above, *await get_lines(after=around - 1, limit=limit - limit // 2)]
        else:
            lines = await get_lines(before=before, after=query.after, limit=limit)
        sought = {"line": around} if around else {}
        return json_response(
            {list_key(request, "messages"): [_line_json(line) for line in lines], **sought}
        )

    async def events(self, request: Request, query: models.ConversationStreamQueryBody) -> ASGIApp:
        """Stream events from now on, or after Last-Event-ID (in a query: `after`)."""
        conversation = await self._begin_reading(await self._existing(request), request)
        return EventStream(
            self._follow(request, conversation, query.after), request.state.visitor.alive
        )

    async def page_events(self, request: Request, query: models.StreamQueryBody) -> ASGIApp:
        """Stream what one tab follows: the list of conversations, and one of them."""
        wanted = query.topics.split(",")
        topics = [topic for topic in wanted if topic.startswith("c:")]
        others = dict.fromkeys(
            topic for topic in wanted if topic not in ("", "conversations", *topics)
        )
        known = await self._load_sources() if others else {}
        sources = [known[topic](self._is_closed) for topic in others if topic in known]
        if "conversations" in wanted or not sources:
            sources.append(
                list_changes(self._backend.changed, self._is_closed, full=is_versioned(request))
            )
        if len(topics) > 1:
            raise HttpRefusal(
                400, "topics", Phrase("only one conversation can be followed at a time")
            )
        if name := (topics[0][2:] if topics else query.conversation):
            name = await self._begin_reading(await self._check_exists(name), request)
            sources.append(self._follow(request, name, query.after))
            sources.append(
                context_changes(
                    partial(self._backend.context_stamp, name), lambda: self._web.hub.closed
                )
            )
        return EventStream(merge_frames(*sources), request.state.visitor.alive)

    def _is_closed(self) -> bool:
        return self._web.hub.closed

    def _follow(self, request: Request, conversation: str, after: str) -> AsyncGenerator[bytes]:
        start = parse_position(request.headers.get("last-event-id", "") or after)
        reader, full = request.state.visitor.id, is_versioned(request)

        async def lines(
            conversation: str, *, after: int | None = None, limit: int = DEFAULT_LINES
        ) -> list[TranscriptLine]:
            try:
                return await self._backend.lines(
                    conversation, reader=reader, after=after, limit=limit, details=full
                )
            except HttpRefusal as err:
                # ends the stream; the client gets the refusal when it reconnects
                raise OSError(err.message) from err

        return self._web.hub.follow(conversation, start, lines)

    async def stop(self, request: Request) -> Response:
        """Stop the running turn."""
        await self._backend.stop(await self._existing(request))
        return json_response({"ok": True}, 202)

    async def _existing(self, request: Request) -> str:
        return await self._check_exists(str(request.path_params["id"]))

    async def _check_exists(self, name: str) -> str:
        if not NAME.fullmatch(name) or not await self._backend.exists(name):
            raise HttpRefusal(404, "not_found", Phrase("there is no such conversation"))
        return name

    async def _begin_reading(
        self, conversation: str, request: Request, *, pressed: bool = False
    ) -> str:
        await self._backend.begin_reading(conversation, request.state.visitor.id, pressed=pressed)
        return conversation

    async def _line(self, conversation: str, given: str, reader: str, field: str) -> int:
        """Return the line that a query names by its number or by an id; 0 for none."""
        if not given:
            return 0
        if given.isascii() and given.isdigit() and len(given) <= 9:
            return int(given)
        number = await self._backend.number(conversation, given, reader=reader)
        if not number:
            raise HttpRefusal(
                400,
                field,
                Phrase("{field} is neither the id nor the line of a message here", field=field),
            )
        return number


def find_marks(text: str, words: str) -> list[tuple[int, int]]:
    """Return where the words are in the text, as UTF-16 positions, which a page counts in. Pure."""
    marks: list[tuple[int, int]] = []
    lower, wanted = text.lower(), words.lower()
    # some letters have two small ones: look for the words as they stand
    if len(lower) != len(text):
        lower, wanted = text, words
    at = lower.find(wanted)
    while at >= 0 and wanted and len(marks) < MAX_MARKS:
        start, end = (
            len(text[:place].encode("utf-16-le", "replace")) // 2
            for place in (at, at + len(wanted))
        )
        marks.append((start, end))
        at = lower.find(wanted, at + len(wanted))
    return marks


def _line_json(line: TranscriptLine) -> dict[str, Any]:
    fields = {
        "id": line.id,
        "role": line.role,
        "text": line.text,
        "at": line.at.isoformat(),
        "line": line.number,
    }
    more = {"reply_to": line.reply_to, "state": line.state, "tool": line.tool}
    more |= {"call_end": line.call_end, "speaker": line.speaker, "written_on": line.written_on}
    return {**fields, **{name: value for name, value in more.items() if value}, **line.details}


# A posted message.

MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,64}/[a-z0-9.+-]{1,64}", re.ASCII)
MAX_TEXT = 200_000
MAX_FILES = 10
MAX_FILES_BYTES = 25_000_000


def to_inbound_message(
    body: models.NewMessageBody, key: str | None, now: datetime
) -> InboundMessage:
    """Return the message that a client has posted.

    Args:
        key: the client's own id. The conversation's name is put before it, so that clients may
            number their messages per conversation.

    Raises:
        HttpRefusal: 400 for a message without content or a wrong key, 413 for what is too large.
    """
    if len(body.text) > MAX_TEXT:
        raise HttpRefusal(
            413,
            "too_long",
            Phrase(
                "text has {count} characters; the limit is {max_text}, and a file takes more",
                count=len(body.text),
                max_text=MAX_TEXT,
            ),
        )
    attachments = _to_attachments(body.attachments or [])
    if not body.text.strip() and not attachments:
        raise HttpRefusal(400, "empty", Phrase("text is empty; write something or attach a file"))
    try:
        key = secrets.token_hex(16) if key is None else check_client_key(key)
    except InvalidValue as err:
        raise HttpRefusal(400, "key", err.phrase, field="key") from err
    return InboundMessage(
        address=web_address(body.conversation),
        kind="dm",
        key=f"{body.conversation}\x1f{key}",
        sender=Sender(id="owner"),
        text=body.text,
        sent_at=now,
        attachments=attachments,
    )


def _to_attachments(files: Sequence[models.AttachedFileBody]) -> tuple[Attachment, ...]:
    if len(files) > MAX_FILES:
        raise HttpRefusal(
            413,
            "too_many_files",
            Phrase(
                "{count} files; one message takes at most {max_files}",
                count=len(files),
                max_files=MAX_FILES,
            ),
        )
    total = sum(len(file.data) for file in files)
    if total > MAX_FILES_BYTES:
        raise HttpRefusal(
            413,
            "too_large",
            Phrase(
                "the files have {total} bytes; one message takes at most {max_files_bytes}",
                total=total,
                max_files_bytes=MAX_FILES_BYTES,
            ),
        )
    return tuple(_to_attachment(file) for file in files)


def _to_attachment(file: models.AttachedFileBody) -> Attachment:
    media_type = file.media_type.split(";")[0].strip().lower() or "application/octet-stream"
    if not MEDIA_TYPE.fullmatch(media_type):
        raise HttpRefusal(
            400,
            "attachments",
            Phrase(
                "{media_type!r} is not a media type such as image/png", media_type=media_type[:40]
            ),
        )
    if not file.data:
        raise HttpRefusal(400, "attachments", Phrase("an attachment is empty"))
    return Attachment(name=file_label(file.name), media_type=media_type, data=file.data)


# Proxy check: returns a request as it arrived, so that `mnema doctor` sees what a proxy in front
# changes.

PROXY_CHECK_PATH = "/proxy-check/"
VALID_SECONDS = 60.0
MAX_CHECKS = 8
# between the two lines of the stream; a proxy that buffers delivers both at once
STREAM_SECONDS = 4.0


class ProxyCheck:
    """Temporary URLs that return the request itself; only a caller with the token can create one.

    They need no login and accept any Host, so that a proxy that changes Host can be diagnosed.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # a check takes seconds: drop the oldest
        self._valid_until: BoundedDict[str, float] = BoundedDict(MAX_CHECKS)

    def calls(self) -> tuple[Route, ...]:
        """Return the route that starts a check."""
        return (
            Route(
                method="POST",
                path="/api/v1/proxy-check",
                action="console.read",
                handler=self._begin,
            ),
        )

    async def _begin(self, _: Request) -> ASGIApp:
        nonce = secrets.token_urlsafe(24)
        self._valid_until[nonce] = self._clock() + VALID_SECONDS
        return json_response({"path": f"{PROXY_CHECK_PATH}{nonce}"})

    async def answer(self, request: Request) -> ASGIApp:
        """Answer a request below PROXY_CHECK_PATH.

        Raises:
            HttpRefusal: 404 for a URL that was never created, or has expired.
        """
        nonce, _, kind = request.scope["path"].removeprefix(PROXY_CHECK_PATH).partition("/")
        if self._valid_until.get(nonce, float("-inf")) < self._clock():
            raise HttpRefusal(404, "not_found", Phrase("not found"))
        if kind == "stream":
            headers = {name.decode(): value.decode() for name, value in STREAM_HEADERS}
            return StreamingResponse(_two_lines(), headers=headers)
        if request.method == "POST":
            await read_body(request, limit=LARGE_BODY)
        names = {"host": b"host", "origin": b"origin", "forwarded_for": b"x-forwarded-for"}
        fields: dict[str, Any] = {
            key: [
                value.decode("latin-1") for value in header_values(request.scope["headers"], name)
            ]
            for key, name in names.items()
        }
        return json_response({"check": nonce, **fields, "peer": peer_address(request)})


async def _two_lines() -> AsyncIterator[bytes]:
    yield b": first\n\n"
    await asyncio.sleep(STREAM_SECONDS)
    yield b": last\n\n"


# Calls of the platforms, at /hooks/ and a channel's name: limited here, verified by the channel.

MAX_WEBHOOK_BYTES = 1 << 20


async def handle_webhook(request: Request, find: Callable[[str], HasWebhook | None]) -> ASGIApp:
    """Pass a platform's call to its channel and return the answer.

    These calls have no session. They skip the guard, under whatever Host the proxy in front uses.

    Raises:
        HttpRefusal: 404 no such channel, 405, 413 more than 1 MiB; 408 slower than
            `BodyTimes.webhook`.
    """
    channel = find(request.scope["path"].removeprefix(HOOKS_PATH))
    if channel is None:
        raise HttpRefusal(404, "not_found", Phrase("not found"))
    if request.method not in ("GET", "POST"):
        raise HttpRefusal(405, "method", Phrase("platforms must call with GET or POST"))
    body = await read_body(request, limit=MAX_WEBHOOK_BYTES, drain=0)
    headers = tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in request.scope["headers"]
    )
    query = tuple(request.query_params.multi_items())
    call = WebhookRequest(method=request.method, query=query, headers=headers, body=bytes(body))
    return _WebhookResponse(channel, call)


class _WebhookResponse:
    """Runs the channel while it watches for the platform to hang up: only a reply that was sent
    counts.
    """

    def __init__(self, channel: HasWebhook, call: WebhookRequest) -> None:
        self._channel = channel
        self._call = call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        disconnected = asyncio.create_task(wait_for_disconnect(receive))
        try:
            reply = await self._channel.hook(self._call)
            sent = False
            try:
                if not disconnected.done():
                    await Response(reply.body, reply.status, media_type=reply.media_type)(
                        scope, receive, send
                    )
                    sent = True
            except OSError:
                return
            finally:
                reply.written(sent)
        finally:
            disconnected.cancel()
