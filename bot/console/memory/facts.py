"""Routes of whose memory there is, and of facts: pages, one with its reasons, corrections,
forgetting.
"""

import functools
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from bot.console.memory import models
from bot.console.transcripts import SpaceReading, conversation_name
from channels.phrases import Phrase, untranslated
from channels.web.requests import (
    Handler,
    HttpRefusal,
    Route,
    json_response,
)
from memory.forgetting.forget import ForgetRequester, ForgetService
from memory.longterm.corrections import Correction, LineExists, LineMissing, restore_obstacle
from memory.longterm.memories import Memories
from memory.store.conversations.titles import shown_title
from memory.store.errors import StoreError
from memory.store.longterm.rows import MemoryPage, MemoryRow, Mention, load_targets
from memory.store.rows import ConversationRow
from memory.store.store import Store

FACTS_PATH, SPACES_PATH = "/api/v1/memory/facts", "/api/v1/memory/spaces"
READ_ACTION, WRITE_ACTION, FORGET_ACTION = "memory.read", "memory.write", "memory.forget"
REQUESTER = "web:console:owner"  # who asks to forget, in the audit chain
_ID = re.compile(r"[0-9a-z]{26}", re.ASCII)
_CODE = re.compile(r"[A-Za-z0-9]{8}", re.ASCII)
OBSTACLES = {
    "forgotten": Phrase("what was forgotten is gone for good and cannot be restored"),
    "live": Phrase("this fact is already in memory"),
    "changed": Phrase("the fact that replaced it has changed since; correct that one instead"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRoutes:
    """Handlers of spaces and facts. Only the owner's own are changed."""

    store: Store
    access: SpaceReading
    #: Names by CHANNEL:ID, as they were when access was given.
    names: Callable[[], Awaitable[Mapping[str, str]]]
    memories: Callable[[str], Memories]
    forgetter: ForgetService

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        one = f"{FACTS_PATH}/{{id}}"
        fact, about, space = models.FactBody, models.FactFactsBody, models.SpaceQueryBody
        choice, receipt = models.ForgetChoiceBody, models.ForgetReceiptBody
        reads: list[tuple[str, Handler, Any, Any]] = [
            (SPACES_PATH, self.spaces, None, models.MemorySpaceListBody),
            (FACTS_PATH, self.page, models.FactQueryBody, models.FactPageBody),
            (one, self.one, space, about),
        ]
        writes: list[tuple[str, str, str, Handler, Any, Any]] = [
            ("PATCH", one, WRITE_ACTION, self.change, models.FactChangeBody, fact),
            ("POST", f"{one}/restore", WRITE_ACTION, self.restore, None, fact),
            ("POST", f"{one}/forget", FORGET_ACTION, self.preview, None, models.ForgetPreviewBody),
            ("POST", f"{one}/forget/{{code}}", FORGET_ACTION, self.forget, choice, receipt),
            ("DELETE", f"{one}/forget/{{code}}", FORGET_ACTION, self.cancel, None, None),
        ]
        return (
            *(
                Route(
                    method="GET",
                    path=path,
                    action=READ_ACTION,
                    handler=handler,
                    query=query,
                    reply=reply,
                )
                for path, handler, query, reply in reads
            ),
            Route(
                method="POST",
                path=f"{SPACES_PATH}/open",
                action=READ_ACTION,
                handler=self.open,
                query=space,
            ),
            *(
                Route(
                    method=method,
                    path=path,
                    action=action,
                    handler=guard_storage(handler),
                    body=body,
                    reply=reply,
                )
                for method, path, action, handler, body, reply in writes
            ),
        )

    async def spaces(self, _: Request) -> Response:
        """List whose memory there is; nothing of it is read."""
        accounts_of = {row.space: row.accounts for row in await self.store.people.load_people()}
        newest = {row.place.space: row for row in await self.store.conversations.newest_by_space()}
        names = await self.names()
        items: list[dict[str, Any]] = []
        for space, members in (await self.access.others()).items():
            accounts = sorted(
                {account for member in members for account in accounts_of.get(member, ())}
            )
            items.append(_space_json(space, accounts, newest.get(space), names))
        items.sort(key=lambda item: (item["whose"], item["name"].casefold()))
        return json_response(
            {"items": [{"space": "", "whose": "own", "name": "", "accounts": []}, *items]}
        )

    async def open(self, request: Request, query: models.SpaceQueryBody) -> Response:
        """Begin to read another's memory: a person asked for it, which is noted in the audit
        list.
        """
        await self.access.readable(query.space, request, pressed=True)
        return json_response({"ok": True})

    async def page(self, request: Request, query: models.FactQueryBody) -> Response:
        """Return a page of facts, newest first."""
        space = await self.access.readable(query.space, request)
        page = MemoryPage(
            former=query.former,
            category=query.category,
            importance=query.importance,
            words=query.q,
            before=query.cursor,
        )
        rows = await self.memories(space).page(page, query.limit + 1)
        shown = rows[: query.limit]
        more = shown[-1].id if len(rows) > len(shown) else None
        return json_response({"items": [_fact_json(row) for row in shown], "next": more})

    async def one(self, request: Request, query: models.SpaceQueryBody) -> Response:
        """Return a fact with the words that it rests on, what it superseded, and whether it can be
        put back.
        """
        space = await self.access.readable(query.space, request)
        row = await self._row(space, request)
        formers = await self.store.memories.chain(space, row.id)
        successor = await self._successor(row)
        source = row.source
        message = (
            await self.store.memories.source(space, source.message_id)
            if source.message_id
            else None
        )
        place = (
            await self.store.sessions.conversation(source.conversation)
            if source.conversation
            else None
        )
        return json_response(
            {
                **_fact_json(row),
                "conversation": conversation_name(place) if place else "",
                "title": shown_title(place) if place else "",
                "turn": message.turn if message and place else 0,
                "formers": [_fact_json(former) for former in formers],
                "successor": _fact_json(successor) if successor else None,
                "obstacle": restore_obstacle(row, successor),
            },
            headers={"etag": f'"{fact_tag(row)}"'},
        )

    async def change(self, request: Request, body: models.FactChangeBody) -> Response:
        """Correct a fact; with other words it becomes a new one that supersedes the former."""
        row = await self._expected(request)
        if row.state != "live":
            raise HttpRefusal(409, "state", Phrase("only a current fact can be corrected"))
        correction = Correction(
            norm=row.norm,
            text=body.text or row.text,
            category=body.category or row.category,
            importance=body.importance or row.importance,
        )
        try:
            return _fact_response(await self.memories(row.space).correct(correction))
        except LineMissing as err:
            raise HttpRefusal(
                412, "changed", Phrase("the line was changed in the file meanwhile; read it again")
            ) from err
        except LineExists as err:
            raise HttpRefusal(
                409, "exists", Phrase("another fact already says this"), field="text"
            ) from err

    async def restore(self, request: Request) -> Response:
        """Put a former fact back in place of the one that superseded it; what was forgotten stays
        forgotten.
        """
        row = await self._expected(request)
        successor = await self._successor(row)
        if obstacle := restore_obstacle(row, successor):
            raise HttpRefusal(409, obstacle, OBSTACLES[obstacle])
        return _fact_response(await self.memories(row.space).restore(row, successor))

    async def preview(self, request: Request) -> Response:
        """Find all that says a fact: the line, its former ones, its source, logs and messages;
        nothing is changed.
        """
        space = self.access.writable(request)
        row = await self._row(space, request)
        if row.state == "forgotten":
            raise HttpRefusal(409, "forgotten", Phrase("this fact is already forgotten"))
        items = await self.forgetter.find_fact(row, await self.store.memories.chain(space, row.id))
        code = await self.forgetter.ask(_requester(space, row.id), row.text, items)
        return json_response({"code": code, "items": [_place_json(item) for item in items]})

    async def forget(self, request: Request, body: models.ForgetChoiceBody) -> Response:
        """Forget what the preview showed; with the same code again, the same receipt."""
        space, id, code = (
            self.access.writable(request),
            _request_id(request),
            _request_code(request),
        )
        chosen, requester = body.chosen, _requester(space, id)
        row = await self.forgetter.find_request(requester, code)
        if row is None:
            receipt = await self.forgetter.find_receipt(requester, code)
            if receipt is None:
                raise HttpRefusal(
                    409,
                    "expired",
                    Phrase("nothing is waiting to be forgotten under this code; start again"),
                )
            return json_response(asdict(receipt))
        most = len(load_targets(row.targets).items)
        if chosen is not None and (not chosen or max(chosen) >= most):
            raise HttpRefusal(
                400,
                "chosen",
                Phrase("chosen must be positions from 0 to {most}, or null", most=most - 1),
                field="chosen",
            )
        receipt = await self.forgetter.confirm(row, sorted(set(chosen)) if chosen else None)
        return json_response(asdict(receipt))

    async def cancel(self, request: Request) -> Response:
        """Drop a request to forget, with the words it holds."""
        space, id, code = (
            self.access.writable(request),
            _request_id(request),
            _request_code(request),
        )
        row = await self.forgetter.find_request(_requester(space, id), code)
        if row is not None:
            await self.forgetter.drop(row)
        return json_response({"ok": row is not None})

    async def _row(self, space: str, request: Request) -> MemoryRow:
        id = _request_id(request)
        row = await self.store.memories.by_id(space, id)
        if row is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such fact"))
        return row

    async def _expected(self, request: Request) -> MemoryRow:
        """Return the fact that If-Match names as it is."""
        row = await self._row(self.access.writable(request), request)
        given = request.headers.get("if-match", "").strip()
        if not given:
            raise HttpRefusal(
                428,
                "precondition",
                Phrase("send If-Match with the ETag that the fact was read with"),
            )
        tag = fact_tag(row)
        if given != f'"{tag}"':
            raise HttpRefusal(
                412,
                "changed",
                Phrase("the fact was changed meanwhile; read it again"),
                {"etag": f'"{tag}"'},
            )
        return row

    async def _successor(self, row: MemoryRow) -> MemoryRow | None:
        return (
            await self.store.memories.by_id(row.space, row.superseded_by)
            if row.superseded_by
            else None
        )


def fact_tag(row: MemoryRow) -> str:
    """Return the ETag of a fact: it changes with its words, category, importance and state, not
    with its uses.

    Pure.
    """
    parts = (row.id, row.text, row.category, str(row.importance), row.state, row.superseded_by)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


def _space_json(
    space: str, accounts: list[str], newest: ConversationRow | None, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return an entry of the list of memories: a group is called by its title, a person by name or
    account.
    """
    if newest is not None and newest.place.kind == "group":
        whose, title = "group", shown_title(newest)
    else:
        known = [names[account] for account in accounts if names.get(account)]
        whose, title = "person", next(iter(known), newest.chat_name if newest else "")
    return {
        "space": space,
        "whose": whose,
        "name": title or next(iter(accounts), space),
        "accounts": accounts,
    }


def _fact_json(row: MemoryRow) -> dict[str, Any]:
    source, is_forgotten = row.source, row.state == "forgotten"
    return {
        "id": row.id,
        "text": "" if is_forgotten else row.text,
        "category": row.category,
        "importance": row.importance,
        "state": row.state,
        "origin": row.origin,
        "created_at": row.created.isoformat(),
        "used_at": row.used.isoformat() if row.used else None,
        "uses": row.uses,
        "until": row.valid_until.isoformat() if row.valid_until else None,
        "quote": "" if is_forgotten else source.quote,
        "said_at": source.said.isoformat() if source.said else None,
        "channel": source.channel,
        "etag": fact_tag(row),
    }


def _fact_response(row: MemoryRow) -> Response:
    return json_response(_fact_json(row), headers={"etag": f'"{fact_tag(row)}"'})


def _place_json(item: Mention) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "text": " … ".join(item.words),
        "path": item.path,
        "line": item.line,
        "date": item.date,
        "channel": item.channel,
        "mine": item.mine,
    }


def _request_id(request: Request) -> str:
    id = str(request.path_params["id"])
    if not _ID.fullmatch(id):
        raise HttpRefusal(404, "not_found", Phrase("there is no such fact"))
    return id


def _request_code(request: Request) -> str:
    code = str(request.path_params["code"])
    if not _CODE.fullmatch(code):
        raise HttpRefusal(
            409,
            "expired",
            Phrase("nothing is waiting to be forgotten under this code; start again"),
        )
    return code


def _requester(space: str, fact: str) -> ForgetRequester:
    """Name the request of one fact, so that looking at another fact does not drop it."""
    return ForgetRequester(space=space, conversation=f"console:{fact}", who=REQUESTER, row="")


def guard_storage(handler: Handler) -> Handler:
    """Respond to what may fail in files and store, with what to do."""

    @functools.wraps(handler)
    async def handle(request: Request, *fields: Any) -> ASGIApp:
        try:
            return await handler(request, *fields)
        # the file is not text, too large or no plain file; the words say nothing
        except ValueError as err:
            raise HttpRefusal(409, "refused", untranslated(err)) from err
        except (StoreError, OSError) as err:
            why = Phrase(
                "not everything could be written; what was confirmed continues at the next try: "
                "{why}",
                why=str(err),
            )
            raise HttpRefusal(503, "storage", why, {"retry-after": "2"}) from err

    return handle
