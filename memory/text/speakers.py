"""What speakers are called where several people are, so that nobody passes for another. Pure."""

import hashlib
import re
import unicodedata

MAX_NAME = 40
UNNAMED_SPEAKER = "member"
# Before each further line of somebody's words, so that none looks like the first line of somebody else's.
INDENT = "    "
_MARK_LETTERS = 4
_MARK = re.compile(rf" #[0-9a-f]{{{_MARK_LETTERS}}}$")
_SPEAKER_LINE = re.compile(rf"\[|[^:：]{{0,60}}[#＃]\s?[0-9a-fA-F]{{{_MARK_LETTERS}}}\s?[:：]")
# Signs that end a speaker's name or begin a mark, and what looks like them.
_NAME_FORBIDDEN = frozenset(":#[]<>∶ː꞉׃։፡᛬⁚⁝")


def speaker_name(name: str, id: str, conversation: str) -> str:
    """A name as it is shown in a group: cleaned, and with a mark of its person, such as `Li Wei #3f9c`.

    The mark is the same for one person in one conversation for ever, and says nothing of their platform id. id: ""
    where nobody knows whose name it is, and it has no mark then.
    """
    plain = plain_name(name)
    if not id:
        return plain
    told = hashlib.sha256(f"{conversation}\0{id}".encode("utf-8", "replace")).hexdigest()[:_MARK_LETTERS]
    return f"{plain or UNNAMED_SPEAKER} #{told}"


def plain_name(name: str) -> str:
    """A name that people give themselves, on one line, without signs that nobody sees or that mean something here."""
    shown = "".join(sign if sign.isprintable() else " " for sign in unicodedata.normalize("NFKC", name))
    return " ".join("".join(" " if sign in _NAME_FORBIDDEN else sign for sign in shown).split())[:MAX_NAME].strip()


def display_name(speaker: str) -> str:
    """What a speaker calls themselves: without their mark."""
    return _MARK.sub("", speaker)


def neutralize_speakers(words: str) -> str:
    """The words of a file, in which no line looks like the first one of what somebody said."""
    if "#" not in words and "＃" not in words and "[" not in words:
        return words
    return "".join(
        f"{INDENT}{line}" if _SPEAKER_LINE.match(line.lstrip()) else line for line in words.splitlines(keepends=True)
    )


def indent_words(words: str) -> str:
    """Words of which only the first line stands at the margin, whatever ends their lines."""
    first, *others = words.splitlines() or [""]
    return "\n".join((first, *(f"{INDENT}{line}" for line in others)))
