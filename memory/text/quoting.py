"""Quoting texts of others in prompts and logs: their markup made harmless, speakers named, lengths limited. Pure."""

import hashlib
import re
import unicodedata

MAX_NAME = 40  # characters
UNNAMED_SPEAKER = "member"
# Before each line of a speaker after the first, so that it does not look like a new speaker.
INDENT = "    "
_MARK_LETTERS = 4
_MARK = re.compile(rf" #[0-9a-f]{{{_MARK_LETTERS}}}$")
_SPEAKER_LINE = re.compile(rf"\[|[^:：]{{0,60}}[#＃]\s?[0-9a-fA-F]{{{_MARK_LETTERS}}}\s?[:：]")
# Characters that end a speaker's name or start a mark, and their look-alikes.
_NAME_FORBIDDEN = frozenset(":#[]<>∶ː꞉׃։፡᛬⁚⁝")
_DATA_TAG = re.compile(r"<(?=/?data\b)", re.IGNORECASE)


def neutralize_data_tags(text: str) -> str:
    """Replace the bracket of every `<data` and `</data`, so that a quotation cannot end its block in a prompt."""
    return _DATA_TAG.sub("‹", text)


def shorten(text: str, limit: int) -> str:
    """The text, or its first characters and an ellipsis: at most `limit` characters in all."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def first_line(text: str) -> str:
    """The first line that is not blank, with single spaces; "" for none."""
    return next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")


def speaker_name(name: str, id: str, conversation: str) -> str:
    """Format a name for a group: cleaned, with the person's mark, such as `Li Wei #3f9c`.

    The mark is stable per person and conversation and does not reveal the platform id.

    Args:
        id: "" when the person is unknown; then there is no mark.
    """
    plain = plain_name(name)
    if not id:
        return plain
    mark = hashlib.sha256(f"{conversation}\0{id}".encode("utf-8", "replace")).hexdigest()[:_MARK_LETTERS]
    return f"{plain or UNNAMED_SPEAKER} #{mark}"


def plain_name(name: str) -> str:
    """Clean a self-chosen name: one line, without invisible characters and those used as markup."""
    folded = unicodedata.normalize("NFKC", name)
    plain = "".join(" " if sign in _NAME_FORBIDDEN or not sign.isprintable() else sign for sign in folded)
    return " ".join(plain.split())[:MAX_NAME].strip()


def display_name(speaker: str) -> str:
    """A speaker's name without the mark."""
    return _MARK.sub("", speaker)


def neutralize_speakers(words: str) -> str:
    """Indent lines of a file that look like the start of a speaker's words."""
    if "#" not in words and "＃" not in words and "[" not in words:
        return words
    return "".join(
        f"{INDENT}{line}" if _SPEAKER_LINE.match(line.lstrip()) else line for line in words.splitlines(keepends=True)
    )


def indent_words(words: str) -> str:
    """Indent all lines but the first, for any kind of line end."""
    first, *others = words.splitlines() or [""]
    return "\n".join((first, *(f"{INDENT}{line}" for line in others)))


def fence_text(text: str) -> str:
    """Put a text into a code block whose fences are longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
