"""Texts of others and of models: markup made harmless, speakers named, lengths limited, thinking
left out.

Pure.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memory.text.bullets import fence_after

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
    """Replace the bracket of every `<data` and `</data`, so that a quotation cannot end its block
    in a prompt.
    """
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
    mark = hashlib.sha256(f"{conversation}\0{id}".encode("utf-8", "replace")).hexdigest()[
        :_MARK_LETTERS
    ]
    return f"{plain or UNNAMED_SPEAKER} #{mark}"


def plain_name(name: str) -> str:
    """Clean a self-chosen name: one line, without invisible characters and those used as markup."""
    folded = unicodedata.normalize("NFKC", name)
    plain = "".join(
        " " if sign in _NAME_FORBIDDEN or not sign.isprintable() else sign for sign in folded
    )
    return " ".join(plain.split())[:MAX_NAME].strip()


def display_name(speaker: str) -> str:
    """A speaker's name without the mark."""
    return _MARK.sub("", speaker)


def neutralize_speakers(words: str) -> str:
    """Indent lines of a file that look like the start of a speaker's words."""
    if "#" not in words and "＃" not in words and "[" not in words:
        return words
    return "".join(
        f"{INDENT}{line}" if _SPEAKER_LINE.match(line.lstrip()) else line
        for line in words.splitlines(keepends=True)
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


# A model's thinking, where a server sends it and the answer as one text with tags

_OPENING = re.compile(r"<(think(?:ing)?)>", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_OPENING_TAGS = ("<think>", "<thinking>")
LONGEST_TAG = len("</thinking>")
# Before a tag that is quoted or spoken of, not one that ends the thinking.
_QUOTING = "`'\"([{“‘「（"
MAX_SCANS = 64  # of one answer for a closing tag: an answer about such tags may hold many


@dataclass(frozen=True, slots=True)
class SplitPiece:
    """More of the answer or of the thinking; "withdrawn": all of the answer so far was thinking."""

    kind: Literal["answer", "thinking", "withdrawn"]
    text: str = ""


class ThinkingSplitter:
    """Splits one answer that arrives in pieces, wherever these begin and end.

    Thinking is what stands between a leading `<think>` or `<thinking>` and its end tag, or before a
    closing tag without an opening one: the templates of DeepSeek and Qwen put the opening tag into
    the prompt. Tags in a code fence, in quotes, or later in the answer are part of it.

    Args:
        holds: the model is known to send only the closing tag, so no text is returned before it.
    """

    def __init__(self, *, holds: bool = False) -> None:
        self._holds = holds
        self._state: Literal["start", "thinking", "before_end", "answer"] = "start"
        self._rest = ""
        self._end_tag = ""
        #: What is answer unless a closing tag follows.
        self._unsure: list[str] = []
        self._tail, self._scans = "", 0
        #: Whether any thinking was found.
        self.has_thought = False
        #: A closing tag without an opening one ended the thinking.
        self.closes_only = False

    def feed(self, piece: str) -> Iterator[SplitPiece]:
        """Add a piece of the text; yield what it makes sure of."""
        self._rest += piece
        before = None
        while self._rest and before != (self._state, self._rest):
            before = (self._state, self._rest)
            match self._state:
                case "start":
                    self._start()
                case "thinking":
                    yield from self._think()
                case "before_end":
                    yield from self._find_end()
                case "answer":
                    yield SplitPiece("answer", self._take_rest())

    def finish(self, *, cut: bool) -> Iterator[SplitPiece]:
        """Yield what is left at the end. cut: the answer was ended by the output limit."""
        held = "".join(self._unsure) if self._holds and self._state == "before_end" else ""
        left = held + self._take_rest()
        is_thinking = self._state == "thinking" or (cut and bool(left.strip()))
        if is_thinking:
            self.has_thought = True
        if left and (is_thinking or not self.has_thought):
            yield SplitPiece("thinking" if is_thinking else "answer", left)
        self._state = "answer"

    def _take_rest(self) -> str:
        rest, self._rest = self._rest, ""
        return rest

    def _start(self) -> None:
        """Look for an opening tag before any other text."""
        begun = self._rest.lstrip()
        if opening := _OPENING.match(begun):
            self._state, self.has_thought = "thinking", True
            self._end_tag = f"</{opening[1].lower()}>"
            self._rest = begun[opening.end() :]
        elif any(tag.startswith(begun.lower()) for tag in _OPENING_TAGS):
            return
        elif self.has_thought:
            self._state, self._rest = "answer", begun
        else:
            self._state = "before_end"

    def _think(self) -> Iterator[SplitPiece]:
        """Pass on thinking up to its end tag, and hold back what may be the beginning of that."""
        text = self._rest.lower()
        end = text.find(self._end_tag)
        if end >= 0:
            thought, self._rest = self._rest[:end], self._rest[end + len(self._end_tag) :]
            self._state = "start"
        else:
            at = text.rfind("<")
            held_from = at if at >= 0 and self._end_tag.startswith(text[at:]) else len(text)
            thought, self._rest = self._rest[:held_from], self._rest[held_from:]
        if thought:
            yield SplitPiece("thinking", thought)

    def _find_end(self) -> Iterator[SplitPiece]:
        """Pass on text as the answer, or hold it, until a closing tag shows that it was
        thinking.
        """
        piece = self._take_rest()
        self._unsure.append(piece)
        recent = self._tail + piece
        self._tail = recent[1 - LONGEST_TAG :]
        end, text = None, ""
        if self._scans < MAX_SCANS and _CLOSING.search(recent):
            self._scans += 1
            text = "".join(self._unsure)
            self._unsure = [text]
            end = find_lone_end(text)
        if end is not None:
            if not self._holds:
                yield SplitPiece("withdrawn")
            yield SplitPiece("thinking", text[: end[0]])
            self.has_thought = self.closes_only = True
            self._state, self._rest = "start", text[end[1] :]
        elif not self._holds:
            yield SplitPiece("answer", piece)


def find_lone_end(text: str) -> tuple[int, int] | None:
    """Find the first closing tag that has no opening one before it, outside code and quotes; return
    where it stands.

    Only what stands before a tag decides, so that pieces of a text give what the whole gives.
    """
    fence, start = "", 0
    for line in text.split("\n"):
        for tag in _TAG.finditer(line) if not fence else ():
            before = line[: tag.start()]
            if not tag[1] and not before.strip():
                return None
            if not tag[1] or fence_after("", before):
                break  # a pair within this line, or the line of a fence
            if _ends_thinking(before):
                return start + tag.start(), start + tag.end()
        fence = fence_after(fence, line)
        start += len(line) + 1
    return None


def _ends_thinking(before: str) -> bool:
    """Tell whether a closing tag after this part of its line is one: it begins the line, or a word
    ends right there.
    """
    return not before.strip() or not (before[-1].isspace() or before[-1] in _QUOTING)


def split_thinking(text: str) -> tuple[str, str]:
    """Return the thinking and the answer of a whole text."""
    splitter, thinking, answer = ThinkingSplitter(holds=True), list[str](), list[str]()
    for piece in (*splitter.feed(text), *splitter.finish(cut=False)):
        (thinking if piece.kind == "thinking" else answer).append(piece.text)
    return "".join(thinking), "".join(answer)
