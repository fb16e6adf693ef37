"""Ways to count a request as providers with other tokenizers than the bot's would.

Named as on the emulator's command line: "bytes" (a quarter of the JSON's bytes),
"characters:RATE[:NOISE]" and "pieces:RANKS[:NOISE]". noise: the largest share by which a count is
off, always the same for the same request.
"""

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import tiktoken
from PIL import Image, UnidentifiedImageError

from memory.context.tokens import _PATTERN, _read_ranks
from tests.emulators.model_rules import bare, count

Count = Callable[[Any], int]  # takes a request's body, a part of it, or bare text

PER_MESSAGE, PER_BLOCK, PER_TOOL, PIXELS, UNREAD_PICTURE = 4, 9, 14, 750, 1_600
WIDE = 3.4  # how many Latin characters a Chinese one weighs
_WIDE = re.compile("[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_UNSEEN = frozenset(
    {
        "type",
        "role",
        "id",
        "tool_use_id",
        "tool_call_id",
        "signature",
        "media_type",
        "cache_control",
    }
)
_WRITTEN = frozenset({"input", "input_schema", "parameters"})


def named(text: str) -> Count:
    """The way to count of that name.

    Raises:
        ValueError: there is none.
    """
    kind, *numbers = text.split(":")
    if kind == "bytes" and not numbers:
        return count
    if kind == "characters" and 1 <= len(numbers) <= 2:
        return by_characters(*map(float, numbers))
    if kind == "pieces" and 1 <= len(numbers) <= 2:
        return by_pieces(int(numbers[0]), *map(float, numbers[1:]))
    raise ValueError(f"no way to count is called {text!r}")


def by_characters(rate: float, noise: float = 0.02) -> Count:
    """`rate` tokens a character, a Chinese one as much as 3.4 others."""

    def words(text: str) -> float:
        wide = len(_WIDE.findall(text))
        return rate * (len(text) - wide + WIDE * wide)

    return _counting(words, noise)


def by_pieces(ranks: int, noise: float = 0.0) -> Count:
    """A vocabulary that stopped growing at its first `ranks` entries, so that rare words and
    Chinese cost more.
    """
    encoding = _small(ranks)
    return _counting(lambda text: len(encoding.encode_ordinary(text)), noise)


@cache
def _small(ranks: int) -> tiktoken.Encoding:
    first = {token: rank for token, rank in _read_ranks().items() if rank < ranks}
    return tiktoken.Encoding(
        f"first-{ranks}", pat_str=_PATTERN, mergeable_ranks=first, special_tokens={}
    )


def _counting(words: Callable[[str], float], noise: float) -> Count:
    def counted(value: Any) -> int:
        exact = sum(words(piece) if isinstance(piece, str) else piece for piece in _pieces(value))
        return max(1, round(exact * (1 + noise * _chance(value)))) if exact else 0

    return counted


def _chance(value: Any) -> float:
    """From -1 to 1, drawn from the value itself."""
    drawn = hashlib.sha256(
        json.dumps(bare(value), ensure_ascii=False).encode(errors="replace")
    ).digest()
    return int.from_bytes(drawn[:4], "big") / 0x7FFF_FFFF - 1


def _pieces(value: Any) -> Iterator[str | int]:
    """What a model reads of a request: its texts, and what pictures and structure cost, in
    tokens.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _pieces(item)
    elif isinstance(value, dict):
        yield from _of_object(value)


def _of_object(value: dict[str, Any]) -> Iterator[str | int]:
    kind = value.get("type")
    if kind in ("image", "image_url"):
        yield _picture(value)
        return
    if "role" in value:
        yield PER_MESSAGE
    elif kind in ("tool_use", "tool_result"):
        yield PER_BLOCK
    elif "input_schema" in value or kind == "function":
        yield PER_TOOL
    for name, item in value.items():
        if name in _WRITTEN:
            yield json.dumps(bare(item), ensure_ascii=False)
        elif name not in _UNSEEN:
            yield from _pieces(item)


def _picture(block: dict[str, Any]) -> int:
    data = (
        block["source"].get("data", "")
        if "source" in block
        else block["image_url"]["url"].partition(",")[2]
    )
    try:
        with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
            return round(picture.width * picture.height / PIXELS)
    except (UnidentifiedImageError, ValueError):
        return UNREAD_PICTURE
