"""Routes of access: who may talk to the bot, and who asks to."""

from collections.abc import Awaitable

import structlog
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from bot.access.pairing import PairingRefused, PairingService
from bot.console import models
from bot.console.transcripts import CONSOLE_ACTOR
from channels.phrases import AnyPhrase
from channels.web.auth import RequestGuard
from channels.web.requests import Handler, HttpRefusal, Route, json_response

log = structlog.get_logger(__name__)
ACCESS_PATH = "/api/v1/access"
READ_ACCESS_ACTION, WRITE_ACCESS_ACTION = "access.read", "access.write"


def access_routes(pairing: PairingService, gate: RequestGuard) -> tuple[Route, ...]:
    """Return the routes, with the action each one needs."""

    async def facts(_: Request) -> Response:
        return json_response(await pairing.facts())

    async def owner_code(_: Request) -> Response:
        return json_response({"code": await pairing.owner_code(CONSOLE_ACTOR)})

    async def login_code(_: Request) -> Response:
        log.info("login link made")
        return json_response({"code": gate.create_login_code()})

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
        Route(
            method="POST",
            path="/api/v1/login-codes",
            action=WRITE_ACCESS_ACTION,
            handler=login_code,
            needs_fresh_login=True,
            reply=models.LoginCodeBody,
        ),
        *(
            Route(
                method="POST",
                path=f"{ACCESS_PATH}/{name}",
                action=WRITE_ACCESS_ACTION,
                handler=handler,
                needs_fresh_login=name == "role",
                body=body,
                reply=models.ShownTextBody,
            )
            for name, (handler, body) in _actions(pairing).items()
        ),
    )


def _actions(pairing: PairingService) -> dict[str, tuple[Handler, type[BaseModel]]]:
    """Return the handler of each act on access, with the model of its body."""

    async def approve(_: Request, body: models.AccessCodeBody) -> Response:
        return await _respond(pairing.approve(body.code, CONSOLE_ACTOR, body.channel))

    async def deny(_: Request, body: models.AccessCodeBody) -> Response:
        return await _respond(pairing.deny(body.code, CONSOLE_ACTOR, body.channel))

    async def revoke(_: Request, body: models.AccessAccountBody) -> Response:
        return await _respond(pairing.revoke(body.channel, body.id, CONSOLE_ACTOR))

    async def allow_group(_: Request, body: models.AccessAccountBody) -> Response:
        return await _respond(pairing.allow_group(body.channel, body.id, CONSOLE_ACTOR))

    async def set_role(_: Request, body: models.AccessRoleBody) -> Response:
        return await _respond(
            pairing.set_role(body.channel, body.id, body.role, CONSOLE_ACTOR, body.group)
        )

    return {
        "approve": (approve, models.AccessCodeBody),
        "deny": (deny, models.AccessCodeBody),
        "revoke": (revoke, models.AccessAccountBody),
        "group": (allow_group, models.AccessAccountBody),
        "role": (set_role, models.AccessRoleBody),
    }


async def _respond(act: Awaitable[AnyPhrase]) -> Response:
    try:
        outcome = await act
    except PairingRefused as err:
        raise HttpRefusal(400, "access", err.phrase) from err
    return json_response({"zh": outcome.text("zh"), "en": outcome.text("en")})
