"""What the asking model learns of a task: its last message, cut to size, with what was not looked
up said.
"""

from datetime import UTC, datetime

from bot.agent.subagents.outcome import NOTHING_LOOKED_UP, build_outcome
from memory.conversation import Message, Part, Text, ToolResult

MOST = 1_500  # tokens, a literal, so that the product is not compared with itself


def message(seq: int, part: Part) -> Message:
    return Message(
        id=f"m{seq}",
        seq=seq,
        turn=1,
        at=datetime(2026, 11, 20, tzinfo=UTC),
        role="user",
        parts=(part,),
    )


SEEN = (
    message(1, Text(text="Look it up.")),
    message(2, ToolResult(call_id="c", text="word " * 5_000)),
)


def outcome(answer: str, *messages: Message) -> str:
    return build_outcome(answer, messages, lambda text: len(text.split()), lambda path: "")


def test_an_outcome_has_1500_tokens_at_most_and_says_that_it_was_cut() -> None:
    assert outcome("word " * MOST, *SEEN).split() == ["word"] * MOST
    text, _, mark = outcome("word " * (MOST + 1), *SEEN).rpartition("\n")
    assert mark == "[cut]"
    assert 0.9 * MOST < len(text.split()) <= MOST


def test_where_nothing_was_looked_up_that_is_said() -> None:
    assert outcome("It is so.", SEEN[0]) == f"It is so.\n{NOTHING_LOOKED_UP}"
    assert NOTHING_LOOKED_UP not in outcome("It is so.", *SEEN)
