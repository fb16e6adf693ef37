"""The console's calls about who may talk: seen, let in, refused, taken away."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.access.pairing import PairingRefused, PairingService
from channels.web.requests import HttpRefusal, Route, json_response, read_json

ACCESS_PATH = "/api/access"
CONSOLE_ACTOR = "console"
MAX_FIELD_CHARS = 200
READ_ACTION, WRITE_ACTION = "access.read", "access.write"
PairingAction = Callable[[Mapping[str, str]], Awaitable[tuple[str, str]]]


class AccessRoutes:
    """Handlers over a bot's pairing."""

    def __init__(self, pairing: PairingService) -> None:
        self._pairing = pairing

    def calls(self) -> tuple[Route, ...]:
        """The routes."""
        pairing = self._pairing
        acts: dict[str, PairingAction] = {
            "approve": lambda given: pairing.approve(_required_field(given, "code"), CONSOLE_ACTOR, given["channel"]),
            "deny": lambda given: pairing.deny(_required_field(given, "code"), CONSOLE_ACTOR, given["channel"]),
            "revoke": lambda given: pairing.revoke(
                _required_field(given, "channel"), _required_field(given, "id"), CONSOLE_ACTOR
            ),
            "group": lambda given: pairing.allow_group(
                _required_field(given, "channel"), _required_field(given, "id"), CONSOLE_ACTOR
            ),
            "role": lambda given: pairing.set_role(
                _required_field(given, "channel"),
                _required_field(given, "id"),
                _required_field(given, "role"),
                CONSOLE_ACTOR,
                given["group"],
            ),
        }
        return (
            Route(method="GET", path=ACCESS_PATH, action=READ_ACTION, handler=self._facts),
            Route(method="POST", path=f"{ACCESS_PATH}/owner", action=WRITE_ACTION, handler=self._owner),
            *(
                Route(method="POST", path=f"{ACCESS_PATH}/{name}", action=WRITE_ACTION, handler=_pairing_handler(act))
                for name, act in acts.items()
            ),
        )

    async def _facts(self, _: Request) -> Response:
        return json_response(await self._pairing.facts())

    async def _owner(self, request: Request) -> Response:
        await read_json(request)
        return json_response({"code": await self._pairing.owner_code(CONSOLE_ACTOR)})


def _pairing_handler(act: PairingAction) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        body = await read_json(request)
        given = {name: _text_field(body, name) for name in ("code", "channel", "id", "role", "group")}
        try:
            zh, en = await act(given)
        except PairingRefused as err:
            raise HttpRefusal(400, "access", str(err)) from err
        return json_response({"zh": zh, "en": en})

    return handle


def _text_field(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str) or len(value) > MAX_FIELD_CHARS:
        raise HttpRefusal(400, name, f"{name} must be a text of at most {MAX_FIELD_CHARS} characters")
    return value.strip()


def _required_field(given: Mapping[str, str], name: str) -> str:
    if not given[name]:
        raise HttpRefusal(400, name, f"{name} is missing")
    return given[name]
