"""A text drawn as a QR code: the picture and the lines of blocks hold the same modules."""

from xml.etree import ElementTree

import pytest
import segno
from hypothesis import given
from hypothesis import strategies as st

from bot.console.channels import QrCodeTooLong, draw_qr_svg, draw_qr_text

TEXT = "https://login.example/q?code=s3cret-of-a-login"
UPPER = {"█": 1, "▀": 1, "▄": 0, " ": 0}
LOWER = {"█": 1, "▄": 1, "▀": 0, " ": 0}


def modules(drawn: str) -> list[list[int]]:
    """Rows of 0 (dark) and 1 (light), as they stand in lines of two."""
    return [[half[sign] for sign in line] for line in drawn.split("\n") for half in (UPPER, LOWER)]


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300))
def test_the_blocks_are_the_modules_of_the_code(text: str) -> None:
    wanted = [
        [1 - bit for bit in row] for row in segno.make(text, micro=False).matrix_iter(border=2)
    ]
    assert modules(draw_qr_text(text))[: len(wanted)] == wanted


def test_on_a_light_terminal_the_blocks_bring_their_colours() -> None:
    plain, coloured = draw_qr_text(TEXT).split("\n"), draw_qr_text(TEXT, coloured=True).split("\n")
    assert coloured == [f"\x1b[97;40m{line}\x1b[0m" for line in plain]


def test_the_picture_is_dark_on_white_with_its_quiet_zone() -> None:
    image = ElementTree.fromstring(draw_qr_svg(TEXT))
    ground, lines = image[0]
    side = segno.make(TEXT, micro=False).symbol_size(border=4)[0]
    assert int(image.attrib["width"]) == side * 8
    assert (ground.attrib["fill"], lines.attrib["stroke"]) == ("#fff", "#000")
    assert lines.attrib["d"].startswith("M4 4.5")


@pytest.mark.parametrize("draw", [draw_qr_svg, draw_qr_text])
def test_a_text_beyond_any_code_is_refused(draw: object) -> None:
    with pytest.raises(QrCodeTooLong, match="4000 characters"):
        draw("x" * 4_000)  # type: ignore[operator]
