"""Routes for the login of channels: the prompt, its QR code, and the typed code; also QR codes for
terminals.
"""

import asyncio
from collections.abc import Mapping
from io import BytesIO, StringIO
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response

from bot.console import models
from channels.base import Channel, HasLogin, LoginPrompt
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response

QUIET_ZONE = 4  # light modules around the code. Source: ISO/IEC 18004
THIN_QUIET_ZONE = 2  # in terminals, where lines are scarce; every current reader accepts it
ANSI_BLACK_ON_WHITE, ANSI_RESET = "\x1b[97;40m", "\x1b[0m"


class QrCodeTooLong(ValueError):
    """The text is too long for a QR code."""

    def __init__(self, count: int) -> None:
        self.phrase = Phrase(
            "a text of {count} characters does not fit into a QR code", count=count
        )
        super().__init__(str(self.phrase))


def draw_qr_svg(text: str) -> bytes:
    """Return an SVG image, dark on white.

    Raises:
        QrCodeTooLong: the text does not fit.
    """
    image = BytesIO()
    _encode_qr(text).save(
        image, kind="svg", scale=8, border=QUIET_ZONE, dark="#000", light="#fff", xmldecl=False
    )
    return image.getvalue()


def draw_qr_text(text: str, *, coloured: bool = False) -> str:
    """Return lines of block characters, two modules each, for a dark terminal.

    Args:
        coloured: set colours, so that it works on a light terminal too.

    Raises:
        QrCodeTooLong: the text does not fit.
    """
    out = StringIO()
    _encode_qr(text).terminal(out=out, compact=True, border=THIN_QUIET_ZONE)
    lines = [line for line in out.getvalue().split("\n") if line]
    return "\n".join(
        f"{ANSI_BLACK_ON_WHITE}{line}{ANSI_RESET}" if coloured else line for line in lines
    )


def _encode_qr(text: str) -> Any:
    import segno

    try:
        return segno.make(text, micro=False)
    except ValueError as err:
        raise QrCodeTooLong(len(text)) from err


# the person who scans the code or types the digits decides which account logs in
LOGIN_ACTION = "console.write"
MAX_CODE_CHARS = 12
IMAGE_HEADERS = {"cache-control": "no-store", "content-disposition": "inline"}


class ChannelRoutes:
    """Handlers of a channel's login. channels: all running channels by name."""

    def __init__(self, channels: Mapping[str, Channel]) -> None:
        self._channels = channels

    def calls(self) -> tuple[Route, ...]:
        """Return the routes."""
        base = "/api/v1/channels/{name}"
        return (
            Route(method="GET", path=f"{base}/prompt", action=LOGIN_ACTION, handler=self._prompt),
            Route(method="GET", path=f"{base}/qr.svg", action=LOGIN_ACTION, handler=self._qr_code),
            Route(
                method="POST",
                path=f"{base}/answer",
                action=LOGIN_ACTION,
                handler=self._answer,
                body=models.TypedCodeBody,
                max_body=4096,
            ),
        )

    async def _prompt(self, request: Request) -> Response:
        prompt = self._channel_with_login(request).prompt()
        return json_response({"prompt": _prompt_to_json(prompt) if prompt else None})

    async def _qr_code(self, request: Request) -> Response:
        prompt = self._channel_with_login(request).prompt()
        if prompt is None or prompt.kind != "qr":
            raise HttpRefusal(404, "no_code", Phrase("this channel shows no QR code now"))
        try:
            image = await asyncio.to_thread(draw_qr_svg, prompt.text)
        except QrCodeTooLong as err:
            raise HttpRefusal(500, "undrawable", err.phrase) from err
        return Response(image, 200, IMAGE_HEADERS, "image/svg+xml")

    async def _answer(self, request: Request, body: models.TypedCodeBody) -> Response:
        channel = self._channel_with_login(request)
        code = body.text.strip()
        prompt = channel.prompt()
        if prompt is None or prompt.kind == "qr":
            raise HttpRefusal(
                409, "not_asked", Phrase("this channel does not ask for any input now")
            )
        is_code = code.isascii() and code.isdigit() and len(code) <= MAX_CODE_CHARS
        if not (is_code or (prompt.kind == "wait" and not code)):
            raise HttpRefusal(
                400,
                "text",
                Phrase(
                    "text must be the 1 to {max_code_chars} digits shown on the phone",
                    max_code_chars=MAX_CODE_CHARS,
                ),
            )
        channel.answer(code)
        return json_response({}, 202)

    def _channel_with_login(self, request: Request) -> HasLogin:
        name = str(request.path_params["name"])
        channel = self._channels.get(name)
        if channel is None:
            raise HttpRefusal(
                404,
                "not_found",
                (
                    Phrase(
                        "there is no channel {name} here: channels.{name}.enabled in config.json "
                        "must be true",
                        name=name,
                    )
                ),
            )
        if not hasattr(channel, "prompt"):
            raise HttpRefusal(
                404,
                "no_login",
                Phrase(
                    "{name} needs no login by a person: its credentials are in config.json",
                    name=name,
                ),
            )
        return cast(HasLogin, channel)


def _prompt_to_json(prompt: LoginPrompt) -> dict[str, Any]:
    return {
        "kind": prompt.kind,
        "zh": prompt.about.text("zh"),
        "en": prompt.about.text("en"),
        "text": prompt.text,
        "expires": prompt.expires,
    }
