"""The calls of the web channel: write, read, list, follow, stop."""

import asyncio
import errno
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from channels.message import Accepted, InboundMessage
from channels.toolkit.bounded import BoundedDict
from channels.web.auth import Visitor
from channels.web.backend import TranscriptLine, WebServices
from channels.web.channel import Web
from channels.web.events import HEADERS as STREAM_HEADERS
from channels.web.events import EventStream, list_changes, merge_frames, since
from channels.web.requests import (
    LARGE_BODY,
    NAME,
    HttpRefusal,
    LargeBodies,
    Route,
    conversation_json,
    header_values,
    json_response,
    parse_message,
    read_body,
)

MAX_CONVERSATIONS = 200
MAX_LINES = 200
DEFAULT_LINES = 50


class WebApi:
    """The handlers, over one channel and the doors of the bot."""

    def __init__(self, web: Web, doors: WebServices, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._web = web
        self._backend = doors.backend
        self._place = doors.place
        self._clock = clock
        self._large = LargeBodies()

    def calls(self) -> tuple[Route, ...]:
        """Every route of the channel with the action it needs."""
        one = "/api/conversations/{id}"
        return (
            Route(method="GET", path="/api/session", action="console.read", handler=self.session),
            Route(method="POST", path="/api/messages", action="chat", handler=self.send),
            Route(method="GET", path="/api/events", action="console.read", handler=self.page_events),
            Route(method="GET", path="/api/conversations", action="console.read", handler=self.list),
            Route(method="GET", path=one, action="console.read", handler=self.entry),
            Route(method="POST", path=f"{one}/open", action="console.read", handler=self.open),
            Route(method="GET", path=f"{one}/messages", action="console.read", handler=self.messages),
            Route(method="GET", path=f"{one}/events", action="console.read", handler=self.events),
            Route(method="POST", path=f"{one}/stop", action="turn.stop", handler=self.stop),
        )

    async def session(self, request: Request) -> Response:
        """What the page needs to begin: its CSRF token."""
        visitor: Visitor = request.state.visitor
        return json_response({"csrf": visitor.csrf, "now": self._clock().isoformat()})

    async def send(self, request: Request) -> Response:
        """Take one message: 202 after it is stored, 200 for a repeat, 503 when it could not be stored."""
        async with self._large.read_json(request, member="attachments") as fields:
            message = parse_message(fields, self._clock())
            fields.clear()
            accepted = await self._deliver(message)
        if accepted.new:
            self._web.accepted(message.address.chat_id)
        return json_response({"id": accepted.id}, 202 if accepted.new else 200)

    async def _deliver(self, message: InboundMessage) -> Accepted:
        if self._web.deliver is None:
            raise HttpRefusal(503, "starting", "not ready yet; try again in a moment", {"retry-after": "1"})
        place = self._place(message.address.chat_id)
        try:
            [accepted] = await self._web.deliver([replace(message, address=place)])
        except (OSError, RuntimeError) as err:
            why = "the message could not be stored; send it again"
            if isinstance(err, OSError) and err.errno == errno.ESTALE:
                why = f"nothing can be stored: {err.strerror}"
            raise HttpRefusal(503, "storage", why, {"retry-after": "2"}) from err
        return accepted

    async def list(self, request: Request) -> Response:
        """A page of the conversations, newest first; with `own=1` only the owner's own."""
        asked = request.query_params
        limit = parse_bounded(asked.get("limit"), MAX_CONVERSATIONS, MAX_CONVERSATIONS)
        try:
            page = await self._backend.conversations(asked.get("cursor", ""), limit, own=asked.get("own") == "1")
        except ValueError as err:
            raise HttpRefusal(400, "cursor", "cursor is not one that this list gave as next") from err
        return json_response(
            {"conversations": [conversation_json(one) for one in page.conversations], "next": page.next or None}
        )

    async def entry(self, request: Request) -> Response:
        """One conversation as the list shows it; nothing that was said in it."""
        found = await self._backend.conversation(await self._known(request))
        if found is None:
            raise HttpRefusal(404, "not_found", "there is no such conversation")
        return json_response(conversation_json(found))

    async def open(self, request: Request) -> Response:
        """A person opens a conversation; another person's private chat is written to the audit list each time."""
        await self._readable(await self._known(request), request, pressed=True)
        return json_response({"ok": True})

    async def messages(self, request: Request) -> Response:
        """A page of the transcript, oldest first; `before` is a message's id or line."""
        conversation = await self._known(request)
        limit = parse_bounded(request.query_params.get("limit"), DEFAULT_LINES, MAX_LINES)
        reader = request.state.visitor.id
        before = await self._before(conversation, request.query_params.get("before", ""), reader)
        lines = await self._backend.lines(conversation, reader=reader, before=before, limit=limit)
        return json_response({"messages": [_line_json(line) for line in lines]})

    async def events(self, request: Request) -> ASGIApp:
        """What happens from now on, or from Last-Event-ID (in a query: `after`) on."""
        conversation = await self._readable(await self._known(request), request)
        return EventStream(self._follow(request, conversation), request.state.visitor.alive)

    async def page_events(self, request: Request) -> ASGIApp:
        """All that one tab follows, in one stream: the list of conversations, and one `conversation` if it is named."""
        sources = [list_changes(self._backend.changed, lambda: self._web.hub.closed)]
        if name := request.query_params.get("conversation", ""):
            sources.append(self._follow(request, await self._readable(await self._checked(name), request)))
        return EventStream(merge_frames(*sources), request.state.visitor.alive)

    def _follow(self, request: Request, conversation: str) -> AsyncGenerator[bytes]:
        start = since(request.headers.get("last-event-id", "") or request.query_params.get("after", ""))
        reader = request.state.visitor.id

        async def lines(
            conversation: str, *, after: int | None = None, limit: int = DEFAULT_LINES
        ) -> list[TranscriptLine]:
            try:
                return await self._backend.lines(conversation, reader=reader, after=after, limit=limit)
            except HttpRefusal as err:
                raise OSError(err.message) from err  # the stream ends; whoever comes back is told why

        return self._web.hub.follow(conversation, start, lines)

    async def stop(self, request: Request) -> Response:
        """Ask the running turn to end."""
        conversation = await self._known(request)
        await self._backend.stop(conversation)
        return json_response({"ok": True}, 202)

    async def _known(self, request: Request) -> str:
        return await self._checked(str(request.path_params["id"]))

    async def _checked(self, name: str) -> str:
        if not NAME.fullmatch(name) or not await self._backend.exists(name):
            raise HttpRefusal(404, "not_found", "there is no such conversation")
        return name

    async def _readable(self, conversation: str, request: Request, *, pressed: bool = False) -> str:
        await self._backend.begin_reading(conversation, request.state.visitor.id, pressed=pressed)
        return conversation

    async def _before(self, conversation: str, given: str, reader: str) -> int:
        if not given:
            return 0
        if given.isascii() and given.isdigit() and len(given) <= 15:
            return int(given)
        number = await self._backend.number(conversation, given, reader=reader)
        if not number:
            raise HttpRefusal(400, "before", "before is neither the id nor the line of a message here")
        return number


def parse_bounded(given: str | None, usual: int, most: int) -> int:
    """A number from a query, from 1 to `most`.

    Raises:
        HttpRefusal: 400 when it is not a whole number.
    """
    if not given:
        return usual
    if not (given.isascii() and given.isdigit() and len(given) <= 9) or int(given) < 1:
        raise HttpRefusal(400, "limit", f"limit must be a whole number from 1 to {most}")
    return min(int(given), most)


def _line_json(line: TranscriptLine) -> dict[str, Any]:
    told = {"id": line.id, "role": line.role, "text": line.text, "at": line.at.isoformat(), "line": line.number}
    return {**told, "reply_to": line.reply_to} if line.reply_to else told


# Shows a request as it arrived, so that `mnema doctor` can tell what a proxy in front has done to it.

PATH = "/proxy-check/"
VALID_SECONDS = 60.0
MAX_CHECKS = 8
STREAM_SECONDS = 4.0  # between the first and the last line of the stream; a proxy that buffers sends both at once
FIRST, LAST = b": first\n\n", b": last\n\n"


class ProxyCheck:
    """Addresses that only somebody with the token can ask for, each good for a minute.

    They need neither a login nor our Host: a proxy that changes it is to be told so. They show nothing but the request.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: BoundedDict[str, float] = BoundedDict(MAX_CHECKS)  # oldest dropped: a check takes seconds

    def calls(self) -> tuple[Route, ...]:
        """The call that begins a check."""
        return (Route(method="POST", path="/api/proxy-check", action="console.read", handler=self._begin),)

    async def _begin(self, _: Request) -> ASGIApp:
        nonce = secrets.token_urlsafe(24)
        self._until[nonce] = self._clock() + VALID_SECONDS
        return json_response({"path": f"{PATH}{nonce}"})

    async def answer(self, request: Request) -> ASGIApp:
        """Answer a request below PATH.

        Raises:
            HttpRefusal: 404 for an address that nobody asked for, or no more.
        """
        nonce, _, what = request.scope["path"].removeprefix(PATH).partition("/")
        if self._until.get(nonce, float("-inf")) < self._clock():
            raise HttpRefusal(404, "not_found", "not found")
        if what == "stream":
            headers = {name.decode(): value.decode() for name, value in STREAM_HEADERS}
            return StreamingResponse(_stream(), headers=headers)
        if request.method == "POST":
            await read_body(request, limit=LARGE_BODY, seconds=5.0)
        return json_response({"check": nonce, **_seen_request(request)})


def _seen_request(request: Request) -> dict[str, Any]:
    headers = request.scope["headers"]
    names = {"host": b"host", "origin": b"origin", "forwarded_for": b"x-forwarded-for"}
    told = {key: [value.decode("latin-1") for value in header_values(headers, name)] for key, name in names.items()}
    return {**told, "peer": request.client.host if request.client else ""}


async def _stream() -> AsyncIterator[bytes]:
    yield FIRST
    await asyncio.sleep(STREAM_SECONDS)
    yield LAST
