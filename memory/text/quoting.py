"""Foreign text inside prompts and one-line items: delimiters made harmless, long texts cut. Pure."""

import re

_DATA_TAG = re.compile(r"<(?=/?data\b)", re.IGNORECASE)


def neutralize_data_tags(text: str) -> str:
    """Replace the bracket of every `<data` and `</data`, so that quoted material cannot end its block in a prompt."""
    return _DATA_TAG.sub("‹", text)


def shorten(text: str, limit: int) -> str:
    """The text, or its first characters and an ellipsis: at most `limit` characters in all."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def first_line(text: str) -> str:
    """The first line that is not blank, with single spaces; "" for none."""
    return next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")
