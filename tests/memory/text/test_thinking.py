"""Thinking that comes as tags in the text of an answer, in whatever pieces it arrives."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.text.quoting import ThinkingSplitter, split_thinking

SECRET = "She is probably lonely. Do not mention it."
FENCED = "Write it so:\n```xml\n<think>\na\n</think>\n```\nand no other way."
# Whole text, thinking, answer.
CASES = {
    "tags": (f"<think>{SECRET}</think>Hello!", SECRET, "Hello!"),
    "longer tags": (f"\n <Thinking>{SECRET}</thinking>\n\nHello!", SECRET, "Hello!"),
    "twice": ("<think>a</think>\n<think>b</think>\nc", "ab", "c"),
    "nothing thought": ("<think>\n\n</think>\n\nHello!", "\n\n", "Hello!"),
    "unclosed": (f"<think>{SECRET}", SECRET, ""),
    "another tag inside": ("<think>a</thinking>b<think></think>c", "a</thinking>b<think>", "c"),
    "closing tag on its line": (f"{SECRET}\n</think>\n\nHello!", f"{SECRET}\n", "Hello!"),
    "closing tag after a word": (
        f"{SECRET} So: Paris</think>Paris",
        f"{SECRET} So: Paris",
        "Paris",
    ),
    "closing tag first": ("</think>Hello!", "", "Hello!"),
    "it thought of tags": (
        "The user asks about <think> tags.\n</think>\nYes.",
        "The user asks about <think> tags.\n",
        "Yes.",
    ),
    "the first one counts": ("a\n</think>\nb\n</think>\nc", "a\n", "b\n</think>\nc"),
    "later in an answer": ("So:\n<think>\na\n</think>\nb", "", "So:\n<think>\na\n</think>\nb"),
    "a later pair in a line": ("Use <think>a</think> there.", "", "Use <think>a</think> there."),
    "after thinking": ("<think>a</think>b\n</think>\nc", "a", "b\n</think>\nc"),
    "spoken of": (
        "It ends with </think> and `</think>`.",
        "",
        "It ends with </think> and `</think>`.",
    ),
    "in a fence": (FENCED, "", FENCED),
    "in a fence of tildes": ("~~~~\n```\n</think>\n~~~~", "", "~~~~\n```\n</think>\n~~~~"),
    "after a fence": (f"{FENCED}\n</think>\nc", f"{FENCED}\n", "c"),
    "no tag": ("1 < 2\n</thin", "", "1 < 2\n</thin"),
    "blank": (" \n", "", " \n"),
}


class Read:
    """What a reader of the pieces has at the end, and what they saw meanwhile."""

    def __init__(self, pieces: list[str], *, holds: bool = False, cut: bool = False) -> None:
        self.splitter = ThinkingSplitter(holds=holds)
        self.thinking, self.answer, self.seen = "", "", ""
        for piece in pieces:
            self._take(self.splitter.feed(piece))
        self._take(self.splitter.finish(cut=cut))

    def _take(self, split: object) -> None:
        for piece in split:  # type: ignore[attr-defined]
            if piece.kind == "thinking":
                self.thinking += piece.text
            elif piece.kind == "withdrawn":
                self.answer = ""
            else:
                self.answer += piece.text
                self.seen += piece.text


def pieces_of(text: str, cuts: set[int]) -> list[str]:
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_what_comes_after_the_thinking(name: str) -> None:
    text, thinking, answer = CASES[name]
    assert split_thinking(text) == (thinking, answer)


@pytest.mark.parametrize("holds", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_every_split_in_two_and_each_letter_alone_give_the_same(name: str, holds: bool) -> None:
    text, thinking, answer = CASES[name]
    for cuts in [*({at} for at in range(len(text))), set(range(len(text)))]:
        read = Read(pieces_of(text, cuts), holds=holds)
        assert (read.thinking, read.answer) == (thinking, answer)


PARTS = [
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "```",
    "~~~",
    "\n",
    " ",
    "`",
    "a",
    "<",
    ".",
    "想",
    "</",
]


@given(
    st.lists(st.sampled_from(PARTS), max_size=24).map("".join),
    st.sets(st.integers(1, 200)),
    st.booleans(),
)
@example("a</think>b</think>c", {2}, True)
def test_pieces_give_what_the_whole_gives(text: str, cuts: set[int], holds: bool) -> None:
    read, whole = Read(pieces_of(text, cuts), holds=holds), Read([text], holds=holds)
    assert (read.thinking, read.answer) == (whole.thinking, whole.answer)
    assert (read.splitter.has_thought, read.splitter.closes_only) == (
        whole.splitter.has_thought,
        whole.splitter.closes_only,
    )
    assert read.answer.strip() in text


@given(
    st.text("ab .\n", max_size=30),
    st.sets(st.integers(1, 60)),
    st.sampled_from(["think", "thinking"]),
)
def test_nothing_between_leading_tags_is_ever_shown(answer: str, cuts: set[int], tag: str) -> None:
    read = Read(pieces_of(f"<{tag}>{SECRET}</{tag}>{answer}", cuts))
    assert read.seen == answer.lstrip()
    assert read.thinking == SECRET


@given(st.sets(st.integers(1, 60)))
def test_a_model_that_is_known_to_send_only_the_closing_tag_shows_nothing_before_it(
    cuts: set[int],
) -> None:
    read = Read(pieces_of(f"{SECRET}\n</think>\nHello!", cuts), holds=True)
    assert read.seen == "Hello!"
    assert read.splitter.closes_only


@pytest.mark.parametrize("text", [f"<think>{SECRET}", "<thi"])
def test_what_the_output_limit_cuts_in_its_thinking_has_no_answer(text: str) -> None:
    read = Read([text], cut=True)
    assert read.answer == ""
    assert read.splitter.has_thought


def test_held_text_without_any_tag_is_the_answer_unless_it_was_cut() -> None:
    assert Read(["Hel", "lo"], holds=True).seen == "Hello"
    assert Read(["Hel", "lo"], holds=True, cut=True).answer == ""


def test_many_tags_that_are_spoken_of_cost_little() -> None:
    text = "It is </think> here. " * 5_000
    assert Read(pieces_of(text, set(range(0, len(text), 7)))).answer == text
