"""Routes to what the model saw: past requests of a conversation, their texts and differences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from bot.agent.context.actions import clear_context, plan_older_half, undo_newest
from bot.agent.context.fitter import ContextFitter
from bot.agent.context.past_views import (
    RebuiltView,
    diff_views,
    rebuild_view,
    rebuilt_to_json,
    view_to_json,
)
from bot.agent.folding import FoldManager
from bot.config.schema import Config
from bot.console.models import ContextPartsBody, OutsideSourceBody, ViewPieceBody
from bot.console.transcripts import CONSOLE_ACTOR, TranscriptBackend
from bot.gateway.notifications import COMMAND_FOLD_REASON
from channels.errors import InvalidValue
from channels.phrases import Phrase
from channels.web.models import ApiModel
from channels.web.requests import HttpRefusal, Route, json_response
from channels.web.validation import NumberCursor, at_most
from memory.context.policies.policies import POLICIES
from memory.store.rows import ConversationRow
from memory.store.store import Store
from memory.workspace.files import Workspace

READ_ACTION, CHANGE_ACTION = "context.read", "context.change"
MAX_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextServices:
    """What reads and changes the context of conversations."""

    fitter: ContextFitter
    folding: FoldManager
    workspace: Workspace
    config: Callable[[], Config]


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
    broke: str = Field(
        "", description="Why it did not repeat the prefix of the call before; empty if it did."
    )


class PastViewPageBody(ApiModel):
    """A page of the calls, newest first."""

    items: list[PastViewBody]
    next: str | None = Field(description="Cursor of the next page; null on the last one.")


class PastViewQueryBody(ApiModel):
    """Which page is wanted."""

    cursor: NumberCursor = Field("", description="The `next` of the page before.")
    limit: Annotated[int, at_most(200)] = Field(50, ge=1, le=200)


class PastSegmentBody(ApiModel):
    """A part of a past request."""

    kind: Literal["system", "tools", "summary", "history", "running"]
    name: str
    tokens: int
    pieces: list[ViewPieceBody]
    cut: bool = Field(description="Its text is longer than what is shown.")
    turn: int | None = None
    tainted: bool = False
    sources: list[OutsideSourceBody] = Field(
        [], description="Of a turn: what from outside was in view, newest first."
    )


class PastViewTextBody(PastViewBody):
    """A past request with its texts."""

    exact: bool = Field(
        description="It is what was sent, byte for byte; not after something was forgotten."
    )
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
    """Where the newer request stops repeating the older one, so that the provider's cache ends
    there.
    """

    kind: Literal["system", "tools", "summary", "history", "running"]
    name: str
    turn: int | None
    why: str
    byte: int = Field(
        description="The first one that differs, in the texts of tools, system and messages."
    )
    tokens: int = Field(description="The same in both, and read again.")


class ViewDiffBody(ApiModel):
    """The difference of two requests of a conversation."""

    before: PastViewBody
    after: PastViewBody
    items: list[DiffItemBody]
    broke: BrokenPrefixBody | None = Field(
        description="Null if the older one's prefix is repeated whole."
    )


class CoverageBody(ApiModel):
    """Turns that were forgotten; each other one is live, folded or cleared, as the figures of the
    context tell.
    """

    forgotten: list[int]


def _check_policy(policy: str) -> str:
    if policy and policy not in POLICIES:
        raise InvalidValue(
            Phrase("policy must be one of {policies}, or empty", policies=", ".join(POLICIES))
        )
    return policy


class ContextActBody(ApiModel):
    """What to do to the context of a conversation."""

    act: Literal["fold", "undo", "clear", "policy"]
    policy: Annotated[str, AfterValidator(_check_policy)] = Field(
        "", description="Its new policy; empty for the configured one."
    )


class ContextActDoneBody(ApiModel):
    """What was done: a fold goes on in the background, its steps are events of the stream."""

    done: Literal["folding", "fold_undone", "clear_undone", "cleared", "policy"]
    from_turn: int = 0
    to_turn: int = 0


class ViewRoutes:
    """Handlers over a conversation's past requests.

    Reading another person's is audited as reading their chat is.
    """

    def __init__(
        self, services: ContextServices, store: Store, transcripts: TranscriptBackend
    ) -> None:
        self._services = services
        self._store = store
        self._transcripts = transcripts

    def calls(self) -> tuple[Route, ...]:
        """Return every route, with the action each one needs."""
        views = "/api/v1/conversations/{id}/views"
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
                method="GET",
                path=f"{views}/{{number}}",
                action=READ_ACTION,
                handler=self.one,
                reply=PastViewTextBody,
            ),
            Route(
                method="GET",
                path=f"{views}/{{number}}/diff/{{other}}",
                action=READ_ACTION,
                handler=self.diff,
                reply=ViewDiffBody,
            ),
            Route(
                method="GET",
                path="/api/v1/conversations/{id}/coverage",
                action=READ_ACTION,
                handler=self.coverage,
                reply=CoverageBody,
            ),
            Route(
                method="POST",
                path="/api/v1/conversations/{id}/folds",
                action=CHANGE_ACTION,
                handler=self.act,
                body=ContextActBody,
                reply=ContextActDoneBody,
            ),
        )

    async def page(self, request: Request, query: PastViewQueryBody) -> Response:
        """Return a page of the conversation's calls, newest first."""
        row, limit = await self._readable(request), query.limit
        rows = await self._store.views.page(row.id, before=int(query.cursor or 0), limit=limit + 1)
        earlier = [*rows[1:], None]
        items = [view_to_json(one, earlier[at]) for at, one in enumerate(rows[:limit])]
        return json_response(
            {"items": items, "next": str(items[-1]["number"]) if len(rows) > limit else None}
        )

    async def one(self, request: Request) -> Response:
        """Return one past request with its texts."""
        row = await self._readable(request)
        view = await self._rebuild(row, request.path_params["number"])
        return json_response(rebuilt_to_json(view, await self._services.fitter.counter()))

    async def diff(self, request: Request) -> Response:
        """Compare two past requests."""
        row = await self._readable(request)
        before = await self._rebuild(row, request.path_params["number"])
        after = await self._rebuild(row, request.path_params["other"])
        return json_response(diff_views(before, after, await self._services.fitter.counter()))

    async def coverage(self, request: Request) -> Response:
        """Return which turns of the conversation were forgotten."""
        row = await self._readable(request)
        return json_response({"forgotten": await self._store.line_details.forgotten(row.id)})

    async def act(self, request: Request, body: ContextActBody) -> Response:
        """Fold the older half, undo the newest fold or clear, clear, or choose the policy."""
        row = await self._readable(request)
        acts = {
            "fold": self._fold,
            "undo": self._undo,
            "clear": self._clear,
            "policy": self._choose,
        }
        act = acts[body.act]
        if act != self._choose and (await self._store.sessions.load(row.id)).running:
            raise HttpRefusal(
                409,
                "state",
                Phrase("an answer is being written here; wait for it, or stop it first"),
            )
        return json_response(await act(row, body))

    async def _fold(self, row: ConversationRow, _: ContextActBody) -> Mapping[str, Any]:
        session = await self._store.sessions.load(row.id)
        policy = row.policy or self._services.config().context_policy
        plan = plan_older_half(
            session, COMMAND_FOLD_REASON, policy, await self._services.fitter.counter()
        )
        if plan is None:
            raise HttpRefusal(409, "state", Phrase("there is too little here to fold yet"))
        if self._services.folding.is_folding(row.id):
            raise HttpRefusal(409, "state", Phrase("a fold is in progress already"))
        await self._services.folding.start(plan)
        await self._store.note("context.change", row.id, "fold", CONSOLE_ACTOR)
        return {"done": "folding", "from_turn": plan.from_turn, "to_turn": plan.to_turn}

    async def _undo(self, row: ConversationRow, _: ContextActBody) -> Mapping[str, Any]:
        services = self._services
        undone = await undo_newest(
            self._store, services.folding, services.workspace, row.id, CONSOLE_ACTOR
        )
        if undone is None:
            raise HttpRefusal(409, "state", Phrase("there is no fold or clear to undo"))
        if undone == "clear":
            return {"done": "clear_undone"}
        await self._store.note("context.change", row.id, "fold undone", CONSOLE_ACTOR)
        return {"done": "fold_undone", "from_turn": undone.from_turn, "to_turn": undone.to_turn}

    async def _clear(self, row: ConversationRow, _: ContextActBody) -> Mapping[str, Any]:
        await clear_context(self._store, self._services.folding, row.id, CONSOLE_ACTOR)
        return {"done": "cleared"}

    async def _choose(self, row: ConversationRow, body: ContextActBody) -> Mapping[str, Any]:
        await self._store.sessions.choose(row.id, policy=body.policy)
        await self._store.note(
            "context.change", row.id, f"policy {body.policy or 'as configured'}", CONSOLE_ACTOR
        )
        return {"done": "policy"}

    async def _readable(self, request: Request) -> ConversationRow:
        row = await self._transcripts.readable(
            str(request.path_params["id"]), request.state.visitor.id
        )
        if row is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such conversation"))
        return row

    async def _rebuild(self, row: ConversationRow, given: Any) -> RebuiltView:
        number = _parse_number(str(given))
        past = await self._store.views.past_view(row.id, number) if number else None
        if past is None or not past.messages:
            raise HttpRefusal(
                404,
                "not_found",
                Phrase(
                    "this request is not stored; console.views_days decides how long "
                    "requests are kept"
                ),
            )
        return rebuild_view(past, await self._services.fitter.counter())


def _parse_number(given: str) -> int | None:
    return int(given) if given.isascii() and given.isdigit() and len(given) <= MAX_DIGITS else None
