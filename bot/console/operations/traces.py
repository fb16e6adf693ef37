"""Traces in the page: the list of turns, and each step of one with its start and its length."""

import base64
import binascii
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.console.operations import models
from bot.console.transcripts import TranscriptBackend
from bot.runtime.bot import Bot
from bot.telemetry.recorder import Span
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response
from memory.store.conversations.traces import Trace, TraceEvent, TraceFilter

MAX_NAME_CHARS = 200
NEWEST = "newest"  # as a message: the newest one that had a turn
# Kinds of stored events whose spans, where they are still known, say more.
SPANNED = {
    "received": "receive",
    "model": "model",
    "tool": "tool",
    "part": "send",
    "ended": "turn",
    "claimed": "claim",
}


class TraceRoutes:
    """Handlers of traces."""

    def __init__(self, bot: Bot, transcripts: TranscriptBackend) -> None:
        self._bot = bot
        self._transcripts = transcripts

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        return (
            Route(
                method="GET",
                path="/api/v1/traces",
                action="console.read",
                handler=self.list,
                query=models.TraceQueryBody,
                reply=models.TraceListBody,
            ),
            Route(
                method="GET",
                path="/api/v1/conversations/{id}/trace/{message}",
                action="console.read",
                handler=self.waterfall,
                reply=models.WaterfallBody,
            ),
        )

    async def list(self, _: Request, query: models.TraceQueryBody) -> Response:
        """Return turns, newest first: of one conversation, in one state, or slower than so many
        seconds.
        """
        name, row = query.conversation, None
        if name and (row := await self._transcripts.find(name)) is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such conversation"))
        wanted = TraceFilter(conversation=row.id if row else "", state=query.state, slow=query.slow)
        before = {"before": _parse_cursor(query.cursor)} if query.cursor else {}
        found, following = await self._bot.store.sessions.traces(wanted, query.limit, **before)
        entries = {
            id: await self._transcripts.conversation(id)
            for id in {one.conversation for one in found}
        }
        items = []
        for one in found:
            entry = entries[one.conversation]
            items.append(
                {
                    "id": one.id,
                    "conversation": entry.id if entry else "",
                    "title": entry.title if entry else "",
                    "channel": entry.channel if entry else "",
                    "whose": entry.whose if entry else "own",
                    "state": one.state,
                    "at": one.started.isoformat(),
                    "seconds": round(one.seconds, 3),
                    "attempts": one.attempts,
                }
            )
        return json_response(
            {"items": items, "next": _format_cursor(following) if following else None}
        )

    async def waterfall(self, request: Request) -> Response:
        """Return each step of a message's turn; `message` is its id, its reply's, its trace id, or
        `newest`.
        """
        row = await self._transcripts.readable(
            str(request.path_params["id"]), request.state.visitor.id
        )
        message = str(request.path_params["message"])[:MAX_NAME_CHARS]
        message = "" if message == NEWEST else message
        found = await self._bot.store.sessions.trace(row.id, of=message) if row else None
        if found is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such message"))
        spans = self._bot.telemetry.spans.of(found.id)
        return json_response(
            {
                "trace": found.id,
                "message": found.message,
                "state": found.state,
                "exact": bool(spans),
                "steps": list_steps(found, spans),
            }
        )


def list_steps(trace: Trace, spans: Sequence[Span]) -> list[dict[str, Any]]:
    """Return the steps by their start: those measured by this process, the others as they are
    stored.

    Pure.
    """
    measured = {span.kind for span in spans}
    steps = [_span_to_json(span) for span in spans]
    states = [event.state for event in trace.events if event.kind == "tool"]
    for step, state in zip(
        (step for step in steps if step["kind"] == "tool"), states, strict=False
    ):
        step["state"] = state
    steps += _stored_steps(
        event for event in trace.events if SPANNED.get(event.kind, event.kind) not in measured
    )
    return sorted(steps, key=lambda step: (step["start"], -step["seconds"]))


def _stored_steps(events: Iterable[TraceEvent]) -> list[dict[str, Any]]:
    steps = []
    for event in events:
        if event.at is None:
            continue
        seconds = event.seconds
        fields = {
            "input": event.input,
            "output": event.output,
            "cached": event.cached,
            "attempts": event.attempts,
        }
        steps.append(
            {
                "kind": SPANNED.get(event.kind, event.kind),
                "name": event.name,
                "state": event.state,
                "why": event.why,
                "start": round(event.at.timestamp() - seconds, 4),
                "seconds": round(seconds, 4),
                "first": 0.0,
                **fields,
            }
        )
    return steps


def _span_to_json(span: Span) -> dict[str, Any]:
    return {
        "kind": span.kind,
        "name": span.name,
        "state": "",
        "why": span.error,
        "start": round(span.start, 4),
        "seconds": round(max(0.0, span.end - span.start), 4),
        "first": round(span.first - span.start, 6) if span.first else 0.0,
        "input": span.input,
        "output": span.output,
        "cached": span.cached,
        "attempts": 0,
    }


def _format_cursor(before: tuple[float, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(before).encode()).decode().rstrip("=")


def _parse_cursor(text: str) -> tuple[float, str]:
    try:
        before = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        started, id = before
        if (
            isinstance(started, int | float)
            and math.isfinite(started)
            and isinstance(id, str)
            and "\0" not in id
        ):
            return float(started), id
    except (binascii.Error, ValueError, TypeError, RecursionError):
        pass
    raise HttpRefusal(400, "cursor", Phrase("cursor is not one that this list gave as next"))
