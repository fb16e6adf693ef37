"""Names of speakers in groups, with a mark so that nobody can impersonate another. Pure."""

import hashlib
import re
import unicodedata

MAX_NAME = 40
UNNAMED_SPEAKER = "member"
# Before each further line of a speaker, so that it does not look like a new speaker.
INDENT = "    "
_MARK_LETTERS = 4
_MARK = re.compile(rf" #[0-9a-f]{{{_MARK_LETTERS}}}$")
_SPEAKER_LINE = re.compile(rf"\[|[^:：]{{0,60}}[#＃]\s?[0-9a-fA-F]{{{_MARK_LETTERS}}}\s?[:：]")
# Characters that end a speaker's name or start a mark, and their look-alikes.
_NAME_FORBIDDEN = frozenset(":#[]<>∶ː꞉׃։፡᛬⁚⁝")


def speaker_name(name: str, id: str, conversation: str) -> str:
    """Format a name for a group: cleaned, with the person's mark, such as `Li Wei #3f9c`.

    The mark is stable per person and conversation and does not reveal the platform id.

    Args:
        id: "" when the person is unknown; then there is no mark.
    """
    plain = plain_name(name)
    if not id:
        return plain
    told = hashlib.sha256(f"{conversation}\0{id}".encode("utf-8", "replace")).hexdigest()[:_MARK_LETTERS]
    return f"{plain or UNNAMED_SPEAKER} #{told}"


def plain_name(name: str) -> str:
    """Clean a self-chosen name: one line, without invisible characters and the ones we use as markup."""
    shown = "".join(sign if sign.isprintable() else " " for sign in unicodedata.normalize("NFKC", name))
    return " ".join("".join(" " if sign in _NAME_FORBIDDEN else sign for sign in shown).split())[:MAX_NAME].strip()


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
