"""Separates a model's thinking from its answer where a server sends both as one text with tags. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_OPENING = re.compile(r"<(think(?:ing)?)>", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_OPENING_TAGS = ("<think>", "<thinking>")
LONGEST_TAG = len("</thinking>")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
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

    Thinking is what stands between a leading `<think>` or `<thinking>` and its end tag, or before a closing tag without
    an opening one: the templates of DeepSeek and Qwen put the opening tag into the prompt. Tags in a code fence, in
    quotes, or later in the answer are part of it.

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
        """Pass on text as the answer, or hold it, until a closing tag shows that it was thinking."""
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
            yield SplitPiece("thinking", text[: end.start()])
            self.has_thought = self.closes_only = True
            self._state, self._rest = "start", text[end.end() :]
        elif not self._holds:
            yield SplitPiece("answer", piece)


def find_lone_end(text: str) -> re.Match[str] | None:
    """Find the first closing tag that has no opening one before it, outside code and quotes.

    Only what stands before a tag decides, so that pieces of a text give what the whole gives.
    """
    fence, start = "", 0
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not line[found.end() :].strip():
            fence = ""
        elif not fence:
            for tag in _TAG.finditer(text, start, start + len(line)):
                before = text[start : tag.start()]
                if not tag[1] and not before.strip():
                    return None
                if not tag[1]:
                    break  # of a pair within this line
                if _ends_thinking(before):
                    return tag
        start += len(line) + 1
    return None


def _ends_thinking(before: str) -> bool:
    """Tell whether a closing tag after this part of its line is one: it begins the line, or a word ends right there."""
    return not before.strip() or not (before[-1].isspace() or before[-1] in _QUOTING)


def split_thinking(text: str) -> tuple[str, str]:
    """Return the thinking and the answer of a whole text."""
    splitter, thinking, answer = ThinkingSplitter(holds=True), list[str](), list[str]()
    for piece in (*splitter.feed(text), *splitter.finish(cut=False)):
        (thinking if piece.kind == "thinking" else answer).append(piece.text)
    return "".join(thinking), "".join(answer)
