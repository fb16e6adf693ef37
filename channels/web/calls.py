"""One call of the HTTP API: its path, the action it needs, and how it answers."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from channels.web.backend import Conversation

Handler = Callable[[Request], Awaitable[ASGIApp]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A route of the API. action: what the caller must be allowed to do; handler: may raise Refused."""

    method: str
    path: str
    action: str
    handler: Handler


def answer(value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON that no cache keeps."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    return Response(body, status, {"cache-control": "no-store", **(headers or {})}, "application/json")


def refusal(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The one shape of every error."""
    return answer({"error": {"code": code, "message": message}}, status, headers)


def entry(one: Conversation) -> dict[str, Any]:
    """A conversation as the list shows it."""
    return {
        "id": one.id,
        "title": one.title,
        "channel": one.channel,
        "updated_at": one.updated.isoformat(),
        "turns": one.turns,
        "whose": one.whose,
    }
