"""The console's calls about channels: what one asks of its owner, its QR code, and what was typed for it."""

import asyncio
from collections.abc import Callable, Mapping
from io import BytesIO, StringIO
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response

from channels.base import Asking, Channel, Prompt
from channels.web.requests import Call, Refused, answer, read_json

# Draws a text as a QR code, for the page and for a terminal; whoever holds such a text may log in by it.

BORDER = 4
"""Light modules around the code. Source: ISO/IEC 18004, the quiet zone."""
THIN_BORDER = 2
"""What every reader of today is content with, where lines are scarce."""
ON_WHITE, RESET = "\x1b[97;40m", "\x1b[0m"


class Undrawable(ValueError):
    """The text is longer than any QR code holds."""


def svg(text: str) -> bytes:
    """An SVG image, dark on white whatever is around it. Raises Undrawable."""
    image = BytesIO()
    _code(text).save(image, kind="svg", scale=8, border=BORDER, dark="#000", light="#fff", xmldecl=False)
    return image.getvalue()


def blocks(text: str, *, coloured: bool = False) -> str:
    """Lines of block signs, two modules to a sign, for light letters on dark. Raises Undrawable.

    coloured: with colours of its own, so that it is right on a light terminal too.
    """
    drawn = StringIO()
    _code(text).terminal(out=drawn, compact=True, border=THIN_BORDER)
    lines = [line for line in drawn.getvalue().split("\n") if line]
    return "\n".join(f"{ON_WHITE}{line}{RESET}" if coloured else line for line in lines)


def _code(text: str) -> Any:
    import segno

    try:
        return segno.make(text, micro=False)
    except ValueError as err:
        raise Undrawable(f"a text of {len(text)} characters does not fit into a QR code") from err


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
