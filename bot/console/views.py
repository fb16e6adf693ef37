"""Routes to what the model saw: past requests of a conversation, their texts and differences."""

from typing import Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from bot.agent.context_fitter import ContextFitter
from bot.console.models import ContextPartsBody, ViewPieceBody
from bot.console.transcripts import TranscriptBackend
from bot.memory.past_views import RebuiltView, diff_views, rebuild_view, rebuilt_to_json, view_to_json
from channels.web.models import ApiModel
from channels.web.requests import HttpRefusal, Route, json_response
from channels.web.routes import parse_bounded
from memory.store.rows import ConversationRow
from memory.store.store import Store

READ_ACTION = "context.read"
MAX_VIEWS, DEFAULT_VIEWS = 200, 50
MAX_DIGITS = 9


class PastViewBody(ApiModel):
    """A call of the model: what its request showed, in figures."""

    number: int = Field(description="Of the call in its conversation.")
    turn: int
    at: str
    model: str
    answered: str = Field(description="The model that answered; empty if none did.")
    policy: str
    budget: int
    tokens: int = Field(description="By our count.")
    parts: ContextPartsBody
    input: int = Field(description="Tokens as the provider counted them; 0 without an answer.")
    output: int
    cache_read: int
    cache_write: int
    ms: int
    forgotten: bool = Field(description="Something that it showed was forgotten since.")
    tainted: bool
    broke: str = Field("", description="Why it did not repeat the prefix of the call before; empty if it did.")


class PastViewPageBody(ApiModel):
    """A page of the calls, newest first."""

    items: list[PastViewBody]
    next: str | None = Field(description="Cursor of the next page; null on the last one.")


class PastViewQueryBody(ApiModel):
    """Which page is wanted."""

    cursor: str = Field("", description="The `next` of the page before.")
    limit: int = Field(DEFAULT_VIEWS, ge=1, le=MAX_VIEWS)


class PastSegmentBody(ApiModel):
    """A part of a past request."""

    kind: Literal["system", "tools", "summary", "history", "running"]
    name: str
    tokens: int
    pieces: list[ViewPieceBody]
    cut: bool = Field(description="Its text is longer than what is shown.")
    turn: int | None = None
    tainted: bool = False


class PastViewTextBody(PastViewBody):
    """A past request with its texts."""

    exact: bool = Field(description="It is what was sent, byte for byte; not after something was forgotten.")
    items: list[PastSegmentBody]


class DiffItemBody(ApiModel):
    """A part of one or both of two requests."""

    kind: Literal["system", "tools", "summary", "history", "running"]
    name: str
    turn: int | None
    state: Literal["kept", "added", "left_out", "changed"]
    tokens_before: int
    tokens_after: int


class BrokenPrefixBody(ApiModel):
    """Where the newer request stops repeating the older one, so that the provider's cache ends there."""

    kind: Literal["system", "tools", "summary", "history", "running"]
    name: str
    turn: int | None
    why: str
    byte: int = Field(description="The first one that differs, in the texts of tools, system and messages.")
    tokens: int = Field(description="The same in both, and read again.")


class ViewDiffBody(ApiModel):
    """The difference of two requests of a conversation."""

    before: PastViewBody
    after: PastViewBody
    items: list[DiffItemBody]
    broke: BrokenPrefixBody | None = Field(description="Null if the older one's prefix is repeated whole.")


class ViewRoutes:
    """Handlers over a conversation's past requests. Reading another person's is audited as reading their chat is."""

    def __init__(self, store: Store, fitter: ContextFitter, transcripts: TranscriptBackend) -> None:
        self._store = store
        self._fitter = fitter
        self._transcripts = transcripts

    def calls(self) -> tuple[Route, ...]:
        """Return every route, with the action each one needs."""
        views = "/api/conversations/{id}/views"
        return (
            Route(
                method="GET",
                path=views,
                action=READ_ACTION,
                handler=self.page,
                query=PastViewQueryBody,
                reply=PastViewPageBody,
            ),
            Route(
                method="GET", path=f"{views}/{{number}}", action=READ_ACTION, handler=self.one, reply=PastViewTextBody
            ),
            Route(
                method="GET",
                path=f"{views}/{{number}}/diff/{{other}}",
                action=READ_ACTION,
                handler=self.diff,
                reply=ViewDiffBody,
            ),
        )

    async def page(self, request: Request) -> Response:
        """Return a page of the conversation's calls, newest first."""
        row = await self._readable(request)
        cursor = request.query_params.get("cursor", "")
        before = _parse_number(cursor) if cursor else 0
        if before is None:
            raise HttpRefusal(400, "cursor", "cursor is not one that this list gave as next")
        limit = parse_bounded(request.query_params.get("limit"), DEFAULT_VIEWS, MAX_VIEWS)
        rows = await self._store.views.page(row.id, before=before, limit=limit + 1)
        earlier = [*rows[1:], None]
        items = [view_to_json(one, earlier[at]) for at, one in enumerate(rows[:limit])]
        return json_response({"items": items, "next": str(items[-1]["number"]) if len(rows) > limit else None})

    async def one(self, request: Request) -> Response:
        """Return one past request with its texts."""
        row = await self._readable(request)
        view = await self._rebuild(row, request.path_params["number"])
        return json_response(rebuilt_to_json(view, await self._fitter.counter()))

    async def diff(self, request: Request) -> Response:
        """Compare two past requests."""
        row = await self._readable(request)
        before = await self._rebuild(row, request.path_params["number"])
        after = await self._rebuild(row, request.path_params["other"])
        return json_response(diff_views(before, after, await self._fitter.counter()))

    async def _readable(self, request: Request) -> ConversationRow:
        row = await self._transcripts.readable(str(request.path_params["id"]), request.state.visitor.id)
        if row is None:
            raise HttpRefusal(404, "not_found", "there is no such conversation")
        return row

    async def _rebuild(self, row: ConversationRow, given: Any) -> RebuiltView:
        number = _parse_number(str(given))
        past = await self._store.views.past_view(row.id, number) if number else None
        if past is None or not past.messages:
            raise HttpRefusal(
                404, "not_found", "no such request is kept; console.views_days says for how long they are"
            )
        return rebuild_view(past, await self._fitter.counter())


def _parse_number(given: str) -> int | None:
    return int(given) if given.isascii() and given.isdigit() and len(given) <= MAX_DIGITS else None
