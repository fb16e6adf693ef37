"""The console's calls about who may talk: seen, let in, refused, taken away."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.access.pairing import NotLetIn, Pairing
from channels.web.requests import Call, Refused, answer, read_json

PATH = "/api/access"
BY = "console"
LONGEST = 200
READ, WRITE = "access.read", "access.write"
Done = Callable[[Mapping[str, str]], Awaitable[tuple[str, str]]]


class AccessCalls:
    """Handlers over a house's pairing."""

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing

    def calls(self) -> tuple[Call, ...]:
        """The routes."""
        pairing = self._pairing
        acts: dict[str, Done] = {
            "approve": lambda given: pairing.approve(_need(given, "code"), BY, given["channel"]),
            "deny": lambda given: pairing.deny(_need(given, "code"), BY, given["channel"]),
            "revoke": lambda given: pairing.revoke(_need(given, "channel"), _need(given, "id"), BY),
            "group": lambda given: pairing.allow_group(_need(given, "channel"), _need(given, "id"), BY),
            "role": lambda given: pairing.set_role(
                _need(given, "channel"), _need(given, "id"), _need(given, "role"), BY, given["group"]
            ),
        }
        return (
            Call(method="GET", path=PATH, action=READ, handler=self._facts),
            Call(method="POST", path=f"{PATH}/owner", action=WRITE, handler=self._owner),
            *(
                Call(method="POST", path=f"{PATH}/{name}", action=WRITE, handler=_act(act))
                for name, act in acts.items()
            ),
        )

    async def _facts(self, _: Request) -> Response:
        return answer(await self._pairing.facts())

    async def _owner(self, request: Request) -> Response:
        await read_json(request)
        return answer({"code": await self._pairing.owner_code(BY)})


def _act(act: Done) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        body = await read_json(request)
        given = {name: _text(body, name) for name in ("code", "channel", "id", "role", "group")}
        try:
            zh, en = await act(given)
        except NotLetIn as err:
            raise Refused(400, "access", str(err)) from err
        return answer({"zh": zh, "en": en})

    return handle


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str) or len(value) > LONGEST:
        raise Refused(400, name, f"{name} must be a text of at most {LONGEST} characters")
    return value.strip()


def _need(given: Mapping[str, str], name: str) -> str:
    if not given[name]:
        raise Refused(400, name, f"{name} is missing")
    return given[name]
