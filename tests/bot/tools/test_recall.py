"""Recall shows originals of this conversation and of those of its space that a handle names, and
nothing else.
"""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import ToolFailed
from bot.tools.base import ToolContext
from bot.tools.recall import RecallArguments, RecallTool, paginate_text
from memory.context.reductions import conversation_key, name_handles, parse_handle
from memory.conversation import Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
PAGE_CHARS = 8000

AT = datetime(2026, 11, 20, 18, 3, tzinfo=UTC)


class Kept:
    """The three methods of the sessions door that recall needs, over lists."""

    def __init__(
        self, cleared_before: int = 0, **conversations: list[tuple[int, tuple[Part, ...]]]
    ) -> None:
        self.cleared_before = cleared_before
        self.asked = 0
        self.spaces: dict[str, str] = {}
        self._kept = {
            name: [
                Message(id=f"{name}{seq}", seq=seq, turn=turn, role="user", parts=parts, at=AT)
                for seq, (turn, parts) in enumerate(messages, start=1)
            ]
            for name, messages in conversations.items()
        }

    async def conversation(self, id: str) -> Any:
        kept = self._kept.get(id)
        return (
            SimpleNamespace(cleared_before=self.cleared_before, next_seq=len(kept) + 1)
            if kept
            else None
        )

    async def tagged(self, space: str, tag: str) -> list[str]:
        return [id for id in self._kept if id.endswith(tag) and self.spaces.get(id, "") == space]

    async def messages(
        self, conversation: str, from_seq: int = 1, to_seq: int = 0, limit: int = 0
    ) -> list[Message]:
        self.asked += 1
        found = [
            m
            for m in self._kept[conversation]
            if m.seq >= from_seq and (not to_seq or m.seq <= to_seq)
        ]
        return found[:limit] if limit else found


async def recall(kept: Kept, conversation: str = "a", **arguments: Any) -> str:
    context = ToolContext(conversation=conversation, space="", now=lambda: AT, idem_key="")
    return await RecallTool(kept, SimpleNamespace()).run(RecallArguments.parse(arguments), context)  # type: ignore[arg-type]


def talk() -> list[tuple[int, tuple[Part, ...]]]:
    return [
        (1, (Text(text="hello"),)),
        (1, (Thinking(text="hmm"), Text(text="hi"))),
        (2, (Text(text="look"), Image(sha256="0" * 64, media_type="image/png", width=3, height=4))),
        (2, (ToolCall(id="1", name="read_file", input='{"path":"a"}'),)),
        (2, (ToolResult(call_id="1", text="R" * 20_000),)),
        (2, (Text(text="done"),)),
        (4, (Text(text="after a gap"),)),
    ]


async def test_a_handle_shows_one_part_whole_by_pages() -> None:
    kept = Kept(a=talk())
    first = await recall(kept, handle="5.0")
    assert first.startswith("[turn 2, message 5, user, 2026-11-20 18:03]\nRRR")
    assert first.endswith("[page 1 of 3; next: page=2]\n[this holds words from outside]")
    whole = "".join(
        [(await recall(kept, handle="5.0", page=n)).split("\n[page")[0] for n in (1, 2, 3)]
    )
    assert whole.count("R") == 20_000
    with pytest.raises(ToolFailed, match="3 pages"):
        await recall(kept, handle="5.0", page=4)


async def test_a_turn_is_shown_whole_without_thoughts() -> None:
    kept = Kept(a=talk())
    first = await recall(kept, turn=1)
    assert "hello" in first
    assert "hi" in first
    assert "hmm" not in first
    second = await recall(kept, turn=2)
    assert "[picture, image/png, 3x4]" in second
    assert '[called read_file with {"path":"a"}]' in second
    assert "hello" not in second
    assert "after a gap" in await recall(kept, turn=4)


@every_case(
    "arguments", [{"turn": 3}, {"turn": 9}, {"handle": "9.0"}, {"handle": "1.7"}, {"handle": "0"}]
)
async def test_what_is_not_there_is_told(arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolFailed, match="There is no"):
        await recall(Kept(a=talk()), **arguments)


@every_case("arguments", [{}, {"turn": 1, "handle": "1.0"}, {"handle": "x"}, {"handle": "1.0; b"}])
async def test_a_question_that_is_none_is_told(arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolFailed):
        await recall(Kept(a=talk()), **arguments)


async def test_what_was_cleared_is_not_there() -> None:
    kept = Kept(cleared_before=3, a=talk())
    for arguments in ({"turn": 1}, {"handle": "1.0"}):
        with pytest.raises(ToolFailed):
            await recall(kept, **arguments)
    assert "look" in await recall(kept, turn=2)


async def test_another_conversation_is_out_of_reach() -> None:
    kept = Kept(a=[(1, (Text(text="mine"),))], b=[(1, (Text(text="canary"),))])
    assert "canary" not in await recall(kept, turn=1)
    with pytest.raises(ToolFailed):
        await recall(kept, conversation="unknown", turn=1)


HERE, THERE, THEIRS = (
    "01m7xbmmrc6c4s58gffv1as452",
    "01m7xbmmrc6c4s58gffv1as453",
    "01m7xbmmrc6c4s58gffv1as454",
)


def neighbours(view_from: int = 1) -> Kept:
    """Two conversations of one space and one of another; each has a turn with a result from
    outside.
    """

    def of(name: str) -> list[tuple[int, tuple[Part, ...]]]:
        call, result = (
            ToolCall(id="1", name="fetch", input="{}"),
            ToolResult(call_id="1", text=f"{name} page"),
        )
        return [
            (1, (Text(text=f"{name} one"),)),
            (2, (Text(text=f"{name} two"),)),
            (2, (call,)),
            (2, (result,)),
        ]

    kept = Kept(view_from, **{HERE: of("here"), THERE: of("there"), THEIRS: of("theirs")})
    kept.spaces = {THEIRS: "p-ann"}
    return kept


def named(id: str, place: str) -> str:
    return f"{conversation_key('web', 'c2', id)}#{place}"


async def test_a_handle_with_a_name_shows_that_conversation() -> None:
    kept = neighbours()
    assert (await recall(kept, HERE, handle=named(THERE, "1.0"))).endswith("there one")
    assert "there two" in await recall(kept, HERE, handle=named(THERE, "t2"))
    assert (await recall(kept, HERE, handle=named(HERE, "1.0"))).endswith("here one")
    assert "here two" in await recall(kept, HERE, handle=named(HERE, "t2"))
    assert (await recall(kept, HERE, handle="1.0")).endswith("here one")


async def test_what_another_conversation_saw_from_outside_is_labelled() -> None:
    kept = neighbours()
    for place in ("4.0", "t2"):
        assert (await recall(kept, HERE, handle=named(THERE, place))).endswith(
            "[this holds words from outside]"
        )
    assert "outside" not in await recall(kept, HERE, handle=named(THERE, "1.0"))


@pytest.mark.parametrize("place", ["1.0", "2", "t1"])
async def test_another_space_is_refused_like_what_is_not_there(place: str) -> None:
    kept = neighbours()
    for handle in (named(THEIRS, place), f"web:c2~zzzzzzzz#{place}"):
        with pytest.raises(ToolFailed) as refused:
            await recall(kept, HERE, handle=handle)
        assert str(refused.value) == f"There is nothing at {handle}."


async def test_what_was_cleared_in_another_conversation_is_not_there() -> None:
    kept = neighbours(view_from=2)
    for place in ("1.0", "t1"):
        with pytest.raises(ToolFailed, match="There is no"):
            await recall(kept, HERE, handle=named(THERE, place))
    assert (await recall(kept, HERE, handle=named(THERE, "2.0"))).endswith("there two")


@given(st.text(alphabet='web:c1~#t0123456789. "', max_size=30))
def test_a_handle_names_a_conversation_or_is_bare_or_is_none(text: str) -> None:
    found = parse_handle(text)
    if found is not None:
        assert bool(found.tag) == ("~" in text)
        assert bool(found.turn) + bool(found.seq) <= 1
        assert found.tag or not found.turn


@given(st.integers(1, 10**9), st.integers(0, 999), st.text(max_size=40))
def test_a_bare_handle_in_a_text_is_named_once(seq: int, part: int, chat: str) -> None:
    key = conversation_key("telegram", chat, HERE)
    text = name_handles(f'see recall(handle="{seq}.{part}") and recall(turn={seq})', key)
    assert text == f'see recall(handle="{key}#{seq}.{part}") and recall(handle="{key}#t{seq}")'
    assert name_handles(text, key) == text
    found = parse_handle(f"{key}#{seq}.{part}")
    assert found is not None
    assert (found.tag, found.seq, found.part) == (HERE[-8:], seq, part)


async def test_a_turn_in_a_long_conversation_is_found_in_few_looks() -> None:
    kept = Kept(a=[(seq // 2 + 1, (Text(text=f"m{seq}"),)) for seq in range(20_000)])
    assert "m14000" in await recall(kept, turn=7001)
    assert kept.asked < 40


@given(st.text(max_size=3 * PAGE_CHARS), st.integers(1, 4))
def test_pages_make_up_the_whole(text: str, page: int) -> None:
    pages = max(1, -(-len(text) // PAGE_CHARS))
    if page <= pages:
        assert paginate_text(text, page).startswith(
            text[(page - 1) * PAGE_CHARS : page * PAGE_CHARS]
        )
