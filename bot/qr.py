"""Draws a text as a QR code, for the page and for a terminal; whoever holds such a text may log in by it."""

from io import BytesIO, StringIO
from typing import Any

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
