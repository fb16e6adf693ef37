"""The console's calls about channels: what one asks of its owner, its QR code, and what was typed for it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response

from bot.qr import Undrawable, svg
from channels.base import Asking, Channel, Prompt
from channels.web.calls import Call, answer
from channels.web.errors import Refused
from channels.web.strict import read_json

LOGIN = "console.write"
"""Whoever sees the code, or types the digits, decides whose account is logged in."""
MOST_DIGITS = 12
IMAGE = {"cache-control": "no-store", "content-disposition": "inline"}


class Channels:
    """The handlers. known: every channel by its name."""

    def __init__(self, known: Callable[[], Mapping[str, Channel]]) -> None:
        self._known = known

    def calls(self) -> tuple[Call, ...]:
        """Every route about channels."""
        under = "/api/channels/{name}"
        return (
            Call(method="GET", path=f"{under}/prompt", action=LOGIN, handler=self._prompt),
            Call(method="GET", path=f"{under}/qr.svg", action=LOGIN, handler=self._drawn),
            Call(method="POST", path=f"{under}/answer", action=LOGIN, handler=self._answer),
        )

    async def _prompt(self, request: Request) -> Response:
        prompt = self._asking(request).prompt()
        return answer({"prompt": _told(prompt) if prompt else None})

    async def _drawn(self, request: Request) -> Response:
        prompt = self._asking(request).prompt()
        if prompt is None or prompt.kind != "qr":
            raise Refused(404, "no_code", "this channel shows no QR code now")
        try:
            image = await asyncio.to_thread(svg, prompt.text)
        except Undrawable as err:
            raise Refused(500, "undrawable", str(err)) from err
        return Response(image, 200, IMAGE, "image/svg+xml")

    async def _answer(self, request: Request) -> Response:
        channel = self._asking(request)
        text = (await read_json(request, limit=4096)).get("text")
        said = text.strip() if isinstance(text, str) else "?"
        prompt = channel.prompt()
        if prompt is None or prompt.kind == "qr":
            raise Refused(409, "not_asked", "this channel asks for nothing to be typed now")
        fits = said.isascii() and said.isdigit() and len(said) <= MOST_DIGITS
        if not (fits or (prompt.kind == "wait" and not said)):
            raise Refused(400, "text", f"text must be the 1 to {MOST_DIGITS} digits that are shown on the telephone")
        channel.answer(said)
        return answer({}, 202)

    def _asking(self, request: Request) -> Asking:
        name = str(request.path_params["name"])
        channel = self._known().get(name)
        if channel is None:
            raise Refused(
                404,
                "not_found",
                f"there is no channel {name} here: channels.{name}.enabled in config.json must be true",
            )
        if not hasattr(channel, "prompt"):
            raise Refused(404, "no_login", f"{name} is not logged in by a person: its credentials are in config.json")
        return cast(Asking, channel)


def _told(prompt: Prompt) -> dict[str, Any]:
    return {"kind": prompt.kind, "zh": prompt.zh, "en": prompt.en, "text": prompt.text}
