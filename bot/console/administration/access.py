"""Routes of access: who may talk to the bot, and who asks to."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.access.pairing import PairingRefused, PairingService
from bot.console import models
from bot.console.transcripts import CONSOLE_ACTOR
from channels.web.requests import HttpRefusal, Route, json_response, read_json

MAX_FIELD_CHARS = 200
ACCESS_PATH = "/api/access"
READ_ACCESS_ACTION, WRITE_ACCESS_ACTION = "access.read", "access.write"
PairingAction = Callable[[Mapping[str, str]], Awaitable[tuple[str, str]]]


def access_routes(pairing: PairingService) -> tuple[Route, ...]:
    """Return the routes, with the action each one needs."""

    async def facts(_: Request) -> Response:
        return json_response(await pairing.facts())

    async def owner_code(request: Request) -> Response:
        await read_json(request)
        return json_response({"code": await pairing.owner_code(CONSOLE_ACTOR)})

    return (
        Route(
            method="GET",
            path=ACCESS_PATH,
            action=READ_ACCESS_ACTION,
            handler=facts,
            reply=models.AccessFactsBody,
        ),
        Route(
            method="POST",
            path=f"{ACCESS_PATH}/owner",
            action=WRITE_ACCESS_ACTION,
            handler=owner_code,
            needs_fresh_login=True,
        ),
        *(
            Route(
                method="POST",
                path=f"{ACCESS_PATH}/{name}",
                action=WRITE_ACCESS_ACTION,
                handler=_pairing_handler(act),
                needs_fresh_login=name == "role",
                body=models.AccessActBody,
                reply=models.ToldBody,
            )
            for name, act in _actions(pairing).items()
        ),
    )


def _actions(pairing: PairingService) -> dict[str, PairingAction]:
    return {
        "approve": lambda body: pairing.approve(_required_field(body, "code"), CONSOLE_ACTOR, body["channel"]),
        "deny": lambda body: pairing.deny(_required_field(body, "code"), CONSOLE_ACTOR, body["channel"]),
        "revoke": lambda body: pairing.revoke(
            _required_field(body, "channel"), _required_field(body, "id"), CONSOLE_ACTOR
        ),
        "group": lambda body: pairing.allow_group(
            _required_field(body, "channel"), _required_field(body, "id"), CONSOLE_ACTOR
        ),
        "role": lambda body: pairing.set_role(
            _required_field(body, "channel"),
            _required_field(body, "id"),
            _required_field(body, "role"),
            CONSOLE_ACTOR,
            body["group"],
        ),
    }


def _pairing_handler(act: PairingAction) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        body = await read_json(request)
        fields = {name: _text_field(body, name) for name in ("code", "channel", "id", "role", "group")}
        try:
            zh, en = await act(fields)
        except PairingRefused as err:
            raise HttpRefusal(400, "access", str(err)) from err
        return json_response({"zh": zh, "en": en})

    return handle


def _text_field(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str) or len(value) > MAX_FIELD_CHARS:
        raise HttpRefusal(400, name, f"{name} must be a text of at most {MAX_FIELD_CHARS} characters")
    return value.strip()


def _required_field(fields: Mapping[str, str], name: str) -> str:
    if not fields[name]:
        raise HttpRefusal(400, name, f"{name} is missing")
    return fields[name]
