"""Everyone can distinguish the colours of the context bar, on light and on dark."""

import itertools
import math
import re
from pathlib import Path

import pytest

PARTS = ("system", "tools", "summary", "history", "running")
# How each kind of eye sees linear light. Source: Machado, Oliveira and Fernandes 2009, severity 1.
KINDS = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
LEAST_DISTANCE, LEAST_CONTRAST = 15.0, 3.0

Light = tuple[float, float, float]


def themes() -> list[dict[str, str]]:
    """The colours of the light theme, and of the dark one."""
    style = (Path(__file__).parents[3] / "channels/web/ui/src/app.css").read_text("utf-8")
    found = re.findall(r"--([a-z]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", style)
    return [{name: light for name, light, _ in found}, {name: dark for name, _, dark in found}]


def linear(colour: str) -> Light:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return red, green, blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted(
        0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(linear, (one, other))
    )
    return (light + 0.05) / (dark + 0.05)


def lab(light: Light, eye: tuple[Light, Light, Light]) -> Light:
    r, g, b = (
        min(1.0, max(0.0, sum(a * c for a, c in zip(row, light, strict=True)))) for row in eye
    )
    x, y, z = (
        root(0.4124 * r + 0.3576 * g + 0.1805 * b, 0.95047),
        root(0.2126 * r + 0.7152 * g + 0.0722 * b, 1.0),
        root(0.0193 * r + 0.1192 * g + 0.9505 * b, 1.08883),
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def root(value: float, white: float) -> float:
    share = value / white
    return float(share ** (1 / 3)) if share > 0.008856 else 7.787 * share + 16 / 116


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_any_two_parts_differ_for_every_kind_of_eye(theme: dict[str, str], kind: str) -> None:
    seen = {part: lab(linear(theme[part]), KINDS[kind]) for part in PARTS}  # type: ignore[arg-type]
    for one, other in itertools.combinations(PARTS, 2):
        assert math.dist(seen[one], seen[other]) >= LEAST_DISTANCE, (one, other)


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
def test_every_part_stands_out_from_the_sheet(theme: dict[str, str]) -> None:
    for part in PARTS:
        assert contrast(theme[part], theme["sheet"]) >= LEAST_CONTRAST, part


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "dim", "accent", "warn"])
@pytest.mark.parametrize("ground", ["paper", "sheet", "soft", "mine"])
def test_words_are_read_on_every_ground(theme: dict[str, str], ink: str, ground: str) -> None:
    assert contrast(theme[ink], theme[ground]) >= 4.5
