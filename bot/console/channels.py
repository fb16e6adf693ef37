"""The console's calls about channels: what one asks of its owner, its QR code, and what was typed for it."""

import asyncio
from collections.abc import Mapping
from io import BytesIO, StringIO
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response

from channels.base import Channel, HasLogin, LoginPrompt
from channels.web.requests import HttpRefusal, Route, json_response, read_json

# Draws a text as a QR code, for the page and for a terminal; whoever holds such a text may log in by it.

# Light modules around the code. Source: ISO/IEC 18004, the quiet zone.
QUIET_ZONE = 4
THIN_QUIET_ZONE = 2  # what every reader of today is content with, where lines are scarce
ANSI_BLACK_ON_WHITE, ANSI_RESET = "\x1b[97;40m", "\x1b[0m"


class QrCodeTooLong(ValueError):
    """The text is longer than any QR code holds."""


def draw_qr_svg(text: str) -> bytes:
    """An SVG image, dark on white whatever is around it. Raises Undrawable."""
    image = BytesIO()
    _encode_qr(text).save(image, kind="svg", scale=8, border=QUIET_ZONE, dark="#000", light="#fff", xmldecl=False)
    return image.getvalue()


def draw_qr_text(text: str, *, coloured: bool = False) -> str:
    """Lines of block signs, two modules to a sign, for light letters on dark. Raises Undrawable.

    coloured: with colours of its own, so that it is right on a light terminal too.
    """
    drawn = StringIO()
    _encode_qr(text).terminal(out=drawn, compact=True, border=THIN_QUIET_ZONE)
    lines = [line for line in drawn.getvalue().split("\n") if line]
    return "\n".join(f"{ANSI_BLACK_ON_WHITE}{line}{ANSI_RESET}" if coloured else line for line in lines)


def _encode_qr(text: str) -> Any:
    import segno

    try:
        return segno.make(text, micro=False)
    except ValueError as err:
        raise QrCodeTooLong(f"a text of {len(text)} characters does not fit into a QR code") from err


LOGIN_ACTION = "console.write"  # whoever sees the code, or types the digits, decides whose account is logged in
MAX_CODE_CHARS = 12
IMAGE_HEADERS = {"cache-control": "no-store", "content-disposition": "inline"}


class ChannelRoutes:
    """Handlers of a channel's login. channels: all running channels by name."""

    def __init__(self, channels: Mapping[str, Channel]) -> None:
        self._channels = channels

    def calls(self) -> tuple[Route, ...]:
        """Every route about channels."""
        under = "/api/channels/{name}"
        return (
            Route(method="GET", path=f"{under}/prompt", action=LOGIN_ACTION, handler=self._prompt),
            Route(method="GET", path=f"{under}/qr.svg", action=LOGIN_ACTION, handler=self._drawn),
            Route(method="POST", path=f"{under}/answer", action=LOGIN_ACTION, handler=self._answer),
        )

    async def _prompt(self, request: Request) -> Response:
        prompt = self._asking(request).prompt()
        return json_response({"prompt": _prompt_to_json(prompt) if prompt else None})

    async def _drawn(self, request: Request) -> Response:
        prompt = self._asking(request).prompt()
        if prompt is None or prompt.kind != "qr":
            raise HttpRefusal(404, "no_code", "this channel shows no QR code now")
        try:
            image = await asyncio.to_thread(draw_qr_svg, prompt.text)
        except QrCodeTooLong as err:
            raise HttpRefusal(500, "undrawable", str(err)) from err
        return Response(image, 200, IMAGE_HEADERS, "image/svg+xml")

    async def _answer(self, request: Request) -> Response:
        channel = self._asking(request)
        text = (await read_json(request, limit=4096)).get("text")
        said = text.strip() if isinstance(text, str) else "?"
        prompt = channel.prompt()
        if prompt is None or prompt.kind == "qr":
            raise HttpRefusal(409, "not_asked", "this channel asks for nothing to be typed now")
        fits = said.isascii() and said.isdigit() and len(said) <= MAX_CODE_CHARS
        if not (fits or (prompt.kind == "wait" and not said)):
            raise HttpRefusal(
                400, "text", f"text must be the 1 to {MAX_CODE_CHARS} digits that are shown on the telephone"
            )
        channel.answer(said)
        return json_response({}, 202)

    def _asking(self, request: Request) -> HasLogin:
        name = str(request.path_params["name"])
        channel = self._channels.get(name)
        if channel is None:
            raise HttpRefusal(
                404,
                "not_found",
                f"there is no channel {name} here: channels.{name}.enabled in config.json must be true",
            )
        if not hasattr(channel, "prompt"):
            raise HttpRefusal(
                404, "no_login", f"{name} is not logged in by a person: its credentials are in config.json"
            )
        return cast(HasLogin, channel)


def _prompt_to_json(prompt: LoginPrompt) -> dict[str, Any]:
    return {"kind": prompt.kind, "zh": prompt.zh, "en": prompt.en, "text": prompt.text}
