"""Routes for one conversation: what the owner chooses for it, deletion, the steps of an answer, its
files.
"""

import asyncio
import re
from collections import OrderedDict
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from bot.access.conversation_deletion import ConversationDeletions
from bot.console.page_messages import conversation_owner
from bot.console.transcripts import (
    CONSOLE_ACTOR,
    PICTURE_TYPES,
    TranscriptBackend,
    file_to_json,
    to_entry,
)
from bot.gateway.attachments import AttachmentRefused, make_thumbnail
from channels.phrases import Phrase
from channels.web import models
from channels.web.backend import web_address
from channels.web.requests import (
    HttpRefusal,
    Route,
    conversation_json,
    json_response,
    request_language,
)
from memory.store.console.conversation_list import MAX_TITLE, StaleChoice, choice_tag
from memory.store.console.line_details import LineFile, ToolStep
from memory.store.errors import WrongState
from memory.store.rows import ConversationRow, NewOutboxRow, Place
from memory.store.store import Store
from memory.workspace.blobs import Blobs, is_blob_name

BRANCHED_TEXT = Phrase(
    "This is a branch of another conversation, up to the message that was edited."
)
MAX_THUMBNAILS = 64  # kept in memory; each has up to some 100 kB
FILE_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
}
_ETAG = re.compile(r'"([0-9a-f]{24})"')


class ConversationRoutes:
    """Handlers of the console's conversations."""

    def __init__(
        self,
        store: Store,
        transcripts: TranscriptBackend,
        deletions: ConversationDeletions,
        blobs: Blobs,
    ) -> None:
        self._store = store
        self._transcripts = transcripts
        self._deletions = deletions
        self._blobs = blobs
        self._thumbnails: OrderedDict[str, tuple[str, bytes]] = OrderedDict()

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        one = "/api/v1/conversations/{id}"
        return (
            Route(
                method="PATCH",
                path=one,
                action="console.write",
                handler=self.choose,
                body=models.ConversationChoiceBody,
                reply=models.ConversationSummaryBody,
            ),
            Route(
                method="DELETE",
                path=one,
                action="console.write",
                handler=self.delete,
                reply=models.DeletionBody,
            ),
            Route(
                method="POST",
                path=f"{one}/restore",
                action="console.write",
                handler=self.restore,
                reply=models.ConversationSummaryBody,
            ),
            Route(
                method="POST",
                path=f"{one}/seen",
                action="console.read",
                handler=self.seen,
                body=models.SeenBody,
                reply=models.DoneBody,
            ),
            *self._reading_calls(one),
        )

    def _reading_calls(self, one: str) -> tuple[Route, ...]:
        file = "/api/v1/blobs/{blob}"
        return (
            Route(
                method="POST",
                path=f"{one}/branches",
                action="chat",
                handler=self.branch,
                body=models.BranchBody,
                reply=models.ConversationSummaryBody,
            ),
            Route(
                method="GET",
                path=f"{one}/days",
                action="console.read",
                handler=self.days,
                query=models.DaysOfChatQueryBody,
                reply=models.TranscriptDaysBody,
            ),
            Route(
                method="GET",
                path=f"{one}/messages/{{message}}/steps",
                action="console.read",
                handler=self.steps,
                reply=models.ToolStepsBody,
            ),
            Route(
                method="GET",
                path=file,
                action="console.read",
                handler=self.blob,
                query=models.FileQueryBody,
            ),
            Route(
                method="GET",
                path=f"{file}/thumb",
                action="console.read",
                handler=self.thumbnail,
                query=models.FileQueryBody,
            ),
        )

    async def choose(self, request: Request, body: models.ConversationChoiceBody) -> Response:
        """Set title, pin or archive of a conversation; If-Match names the state that was seen."""
        row = await self._existing(request)
        expected = _expected_tag(request)
        values = body.model_dump(exclude_none=True)
        try:
            changed = await self._store.conversations.choose(row.id, expected, **values)
        except StaleChoice as err:
            raise _stale(err) from err
        except LookupError as err:
            raise _unknown() from err
        return _entry_response(changed)

    async def delete(self, request: Request) -> Response:
        """Take a conversation out of the list, and delete it in ten seconds unless it is
        restored.
        """
        row = await self._existing(request)
        try:
            asked = await self._deletions.ask(row.id, _expected_tag(request), CONSOLE_ACTOR)
        except StaleChoice as err:
            raise _stale(err) from err
        except LookupError as err:
            raise _unknown() from err
        until = asked.deleting - self._store.now()
        return json_response({"seconds": max(0.0, round(until, 3)), "etag": choice_tag(asked)}, 202)

    async def restore(self, request: Request) -> Response:
        """Keep a conversation that was to be deleted."""
        row = await self._existing(request)
        kept = await self._store.conversations.take_back_deletion(row.id, CONSOLE_ACTOR)
        if kept is None:
            raise _unknown()
        return _entry_response(kept)

    async def seen(self, request: Request, body: models.SeenBody) -> Response:
        """Note how far the owner has read a conversation."""
        row = await self._existing(request)
        await self._transcripts.begin_reading(
            str(request.path_params["id"]), request.state.visitor.id
        )
        if row.seen_line < body.line:
            await self._store.conversations.mark_seen(row.id, body.line)
        return json_response({"ok": True})

    async def branch(self, request: Request, body: models.BranchBody) -> Response:
        """Begin a conversation of its own with what was said before a message of this one."""
        row = await self._existing(request)
        if conversation_owner(row) != "own":
            raise HttpRefusal(
                403, "denied", Phrase("only a conversation of your own can be branched")
            )
        address = web_address(body.name)
        place = Place(
            channel=address.channel,
            account=address.account,
            chat_id=address.chat_id,
            thread_id="",
            kind="dm",
            space=row.place.space,
        )
        text = BRANCHED_TEXT.text(request_language(request))
        notice = NewOutboxRow(kind="notice", text=text, part_no=0, parts=1)
        try:
            id = await self._store.sessions.branch_conversation(row.id, body.message, place, notice)
        except LookupError as err:
            why = Phrase("there is no such message, or it started no turn")
            raise HttpRefusal(404, "not_found", why) from err
        except WrongState as err:
            raise HttpRefusal(409, "taken", Phrase("there is a conversation of that name")) from err
        made = await self._store.sessions.conversation(id)
        if made is None:
            raise _unknown()
        return _entry_response(made)

    async def days(self, request: Request, query: models.DaysOfChatQueryBody) -> Response:
        """Return the days of a conversation, each with its first line."""
        row = await self._readable(str(request.path_params["id"]), request)
        found = await self._store.line_details.days(row.id, query.offset)
        return json_response(
            {"items": [{"at": day.at.isoformat(), "line": day.line} for day in found]}
        )

    async def steps(self, request: Request) -> Response:
        """Return the tool calls of the turn of a message, or of its answer."""
        row = await self._readable(str(request.path_params["id"]), request)
        found = await self._store.line_details.steps(
            row.id, str(request.path_params["message"])[:MAX_TITLE]
        )
        if found is None:
            raise HttpRefusal(
                404, "not_found", Phrase("there is no such message, or it started no turn")
            )
        return json_response({"items": [_step_json(step) for step in found]})

    async def blob(self, request: Request, query: models.FileQueryBody) -> Response:
        """Return a file of a message, to be stored and not shown."""
        file = await self._file(request, query)
        data = await self._read(file)
        name = quote(file.name or file.sha256[:12], safe="")
        headers = {
            **FILE_HEADERS,
            "cache-control": "no-store",
            "content-disposition": f"attachment; filename*=UTF-8''{name}",
        }
        return Response(data, 200, headers, "application/octet-stream")

    async def thumbnail(self, request: Request, query: models.FileQueryBody) -> Response:
        """Return a small picture of a file of a message, re-encoded in a process of its own."""
        file = await self._file(request, query)
        if file.media_type not in PICTURE_TYPES:
            raise HttpRefusal(404, "not_found", Phrase("there is no picture of this file"))
        etag = f'"{file.sha256[:32]}"'
        headers = {
            **FILE_HEADERS,
            "cache-control": "private, no-cache",
            "etag": etag,
            "content-disposition": "attachment",
        }
        if request.headers.get("if-none-match") == etag:
            return Response(b"", 304, headers)
        media_type, data = await self._thumbnail(file)
        return Response(data, 200, headers, media_type)

    async def _thumbnail(self, file: LineFile) -> tuple[str, bytes]:
        if not await asyncio.to_thread(self._blobs.has, file.sha256):
            self._thumbnails.pop(file.sha256, None)
            raise HttpRefusal(404, "not_found", Phrase("there is no such file"))
        made = self._thumbnails.get(file.sha256)
        if made is None:
            try:
                made = await make_thumbnail(file.sha256, self._blobs)
            except AttachmentRefused as err:
                raise HttpRefusal(
                    404, "not_found", Phrase("there is no picture of this file")
                ) from err
            self._thumbnails[file.sha256] = made
            if len(self._thumbnails) > MAX_THUMBNAILS:
                self._thumbnails.popitem(last=False)
        return made

    async def _file(self, request: Request, query: models.FileQueryBody) -> LineFile:
        """Find the file at the message that the query names, in a conversation that may be read."""
        blob = str(request.path_params["blob"])
        row = await self._readable(query.conversation, request)
        found = (
            await self._store.line_details.file(row.id, query.message, blob)
            if is_blob_name(blob)
            else None
        )
        if found is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such file"))
        return found

    async def _read(self, file: LineFile) -> bytes:
        try:
            return await asyncio.to_thread(self._blobs.get, file.sha256)
        except OSError as err:
            raise HttpRefusal(404, "not_found", Phrase("there is no such file")) from err

    async def _existing(self, request: Request) -> ConversationRow:
        row = await self._transcripts.find(str(request.path_params["id"]))
        if row is None:
            raise _unknown()
        return row

    async def _readable(self, name: str, request: Request) -> ConversationRow:
        row = await self._transcripts.readable(name, request.state.visitor.id)
        if row is None:
            raise _unknown()
        return row


def _expected_tag(request: Request) -> str:
    given = request.headers.get("if-match", "").strip()
    if not given:
        raise HttpRefusal(
            428,
            "precondition",
            Phrase("send If-Match with the ETag that the conversation was read with"),
        )
    tag = _ETAG.fullmatch(given)
    return tag[1] if tag else ""


def _stale(err: StaleChoice) -> HttpRefusal:
    why = Phrase("the conversation was changed meanwhile; read it again")
    return HttpRefusal(412, "changed", why, {"etag": f'"{err.tag}"'})


def _unknown() -> HttpRefusal:
    return HttpRefusal(404, "not_found", Phrase("there is no such conversation"))


def _entry_response(row: ConversationRow) -> Response:
    entry = to_entry(row)
    return json_response(conversation_json(entry, full=True), headers={"etag": f'"{entry.etag}"'})


def _step_json(step: ToolStep) -> dict[str, Any]:
    return {
        "tool": step.tool,
        "state": step.state,
        "ms": round(step.seconds * 1_000),
        "arguments": step.arguments,
        "result": step.result,
        "characters": step.characters,
        "tainted": step.tainted,
        "images": [file_to_json(file) for file in step.images],
    }
