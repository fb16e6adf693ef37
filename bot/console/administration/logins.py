"""Routes of the logins of browsers: listed without anything that lets somebody in, and ended."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.console.administration import models
from bot.console.administration.passkeys import Passkey
from bot.console.transcripts import CONSOLE_ACTOR
from channels.phrases import Phrase
from channels.web.auth import RequestGuard
from channels.web.models import DoneBody
from channels.web.requests import HttpRefusal, Route, json_response
from channels.web.sessions import BrowserSession
from memory.store.rows import to_iso
from memory.store.store import Store

UNKNOWN_BROWSER = "?"  # in the audit list


class LoginRoutes:
    """Handlers of the logins of browsers."""

    def __init__(
        self, gate: RequestGuard, store: Store, passkeys: Callable[[], Mapping[str, Passkey]]
    ) -> None:
        self._gate = gate
        self._store = store
        self._passkeys = passkeys

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path = "/api/v1/sessions"
        return (
            Route(
                method="GET",
                path=path,
                action="console.read",
                handler=self.list,
                reply=models.LoginListBody,
            ),
            Route(
                method="DELETE",
                path=f"{path}/{{id}}",
                action="console.write",
                handler=self.end,
                reply=DoneBody,
            ),
        )

    async def list(self, request: Request) -> Response:
        """Return the logins, the last used one first."""
        current = request.state.visitor.id
        passkeys = {id: passkey.name for id, passkey in self._passkeys().items()}
        sessions = sorted(self._gate.sessions().items(), key=lambda pair: -pair[1].seen)
        rows = [
            {
                **_session_json(session),
                "id": id,
                "passkey": passkeys.get(session.passkey, ""),
                "current": id == current,
            }
            for id, session in sessions
        ]
        return json_response({"items": rows})

    async def end(self, request: Request) -> Response:
        """End a login; its browser is signed out and its streams close at once.

        It needs no fresh login: an owner who finds a stranger in the list must be able to act.
        """
        id = str(request.path_params["id"])
        session = self._gate.sessions().get(id)
        if session is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such login"))
        self._gate.end_session(id)
        browser = session.browser or UNKNOWN_BROWSER
        await self._store.note("login", browser, "ended", CONSOLE_ACTOR)
        return json_response({"ok": True})


def _session_json(session: BrowserSession) -> dict[str, Any]:
    return {
        "browser": session.browser,
        "began": to_iso(session.began),
        "seen": to_iso(session.seen),
    }
