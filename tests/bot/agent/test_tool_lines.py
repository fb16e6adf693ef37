"""Lines for old tool results: one call for many, only what is true is taken, and only what is still
wanted is kept.
"""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime

from bot.agent.folding import MAX_CONVERSATIONS, ToolLineWriter
from memory.context.policies.tool_lines import (
    MAX_RESULTS,
    SYSTEM,
    ToolResultRef,
    line_by_rule,
    make_line,
)
from memory.context.tokens import WEIGHTED
from memory.conversation import Message, ToolCall, ToolResult
from tests.cases import every_case

FILE = "The gate opens at 06:30 and the locker is 4711.\n" * 20


class Teller:
    """A model that answers with what it is given: text, lines by number, or an error; held back
    until `go_on`.
    """

    def __init__(self, *answers: str | dict[str, str] | Exception, held: bool = False) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, str]] = []
        self.go_on = asyncio.Event()
        if not held:
            self.go_on.set()

    async def __call__(self, system: str, prompt: str, most: int, conversation: str) -> str:
        self.asked.append((conversation, prompt))
        assert system == SYSTEM
        answer = self._answers.pop(0)
        await self.go_on.wait()
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def place(number: int, text: str = FILE) -> ToolResultRef:
    call = ToolCall(
        id=f"t{number}", name="read_file", input=json.dumps({"path": f"notes/{number}.txt"})
    )
    result = ToolResult(call_id=call.id, text=text, is_error=False)
    message = Message(
        id=f"m{number}",
        seq=number,
        turn=1,
        role="user",
        parts=(result,),
        at=datetime(2026, 11, 20, tzinfo=UTC),
        tokens=100,
        counter="weighted",
    )
    return ToolResultRef(message=message, part=0, result=result, call=call)


def shown(lines: ToolLineWriter, one: ToolResultRef) -> str:
    """The stand-in that the next request would show."""
    return make_line(one, lines.lines("c"), WEIGHTED).text


async def prepared(lines: ToolLineWriter, places: Sequence[ToolResultRef]) -> None:
    lines.begin("c", places)
    async with asyncio.timeout(8):
        await lines.settled()


async def test_all_lines_of_a_conversation_come_of_one_call() -> None:
    teller = Teller({"1": "read_file: the gate opens at 06:30", "2": "the locker is 4711"})
    lines = ToolLineWriter(teller)
    await prepared(lines, [place(1), place(2)])
    assert len(teller.asked) == 1
    assert '<data name="1"' in teller.asked[0][1]
    assert '<data name="2"' in teller.asked[0][1]
    assert lines.lines("c") == {
        ("m1", 0): "read_file: the gate opens at 06:30",
        ("m2", 0): "read_file: the locker is 4711",
    }
    await prepared(lines, [place(1), place(2)])
    assert len(teller.asked) == 1, "what is written is not asked for again"
    assert not lines.lines("another")


async def test_an_answer_in_a_fence_is_read() -> None:
    lines = ToolLineWriter(Teller('Here it is:\n```json\n{"1": "门在 06:30 开"}\n```\n'))
    await prepared(lines, [place(1)])
    assert "门在 06:30 开" in shown(lines, place(1))


async def test_a_line_with_an_invented_number_is_a_rules_and_is_not_asked_for_again() -> None:
    teller = Teller({"1": "The gate opens at 07:45", "2": "The gate opens at 06:30"})
    lines = ToolLineWriter(teller)
    for _ in range(2):
        await prepared(lines, [place(1), place(2)])
    assert "07:45" not in shown(lines, place(1))
    assert line_by_rule(place(1)) in shown(lines, place(1))
    assert "opens at 06:30" in shown(lines, place(2))
    assert len(teller.asked) == 1


@every_case(
    "answer", [RuntimeError("away"), "I cannot do that.", "[1, 2]", '{"1": 7}', "{" * 9_000]
)
async def test_without_an_answer_that_can_be_read_a_rule_writes_the_line(
    answer: str | Exception,
) -> None:
    lines = ToolLineWriter(Teller(answer))
    await prepared(lines, [place(1)])
    assert line_by_rule(place(1)) in shown(lines, place(1))


async def test_who_could_not_be_asked_is_asked_again_the_next_time() -> None:
    teller = Teller(RuntimeError("away"), {"1": "The gate opens at 06:30"})
    lines = ToolLineWriter(teller)
    for _ in range(2):
        await prepared(lines, [place(1)])
    assert len(teller.asked) == 2
    assert "opens at 06:30" in shown(lines, place(1))


async def test_a_model_that_hangs_is_waited_for_until_the_deadline_and_stands_in_nobodys_way() -> (
    None
):
    teller = Teller({"1": "The gate opens at 06:30"}, {"1": "The locker is 4711"}, held=True)
    lines = ToolLineWriter(teller, deadline=0.05)
    lines.begin("c", [place(1)])
    assert line_by_rule(place(1)) in shown(lines, place(1))
    async with asyncio.timeout(8):
        await lines.settled()
    assert line_by_rule(place(1)) in shown(lines, place(1))
    teller.go_on.set()
    await prepared(lines, [place(1)])
    assert "locker is 4711" in shown(lines, place(1))


async def test_only_lines_of_what_is_still_wanted_are_kept() -> None:
    teller = Teller(
        {"1": "The gate opens at 06:30", "2": "The locker is 4711"}, {"1": "The locker is 4711"}
    )
    lines = ToolLineWriter(teller)
    await prepared(lines, [place(1), place(2)])
    await prepared(lines, [place(2), place(3)])
    assert set(lines.lines("c")) == {("m2", 0), ("m3", 0)}
    assert "notes/3.txt" in teller.asked[1][1]
    assert "notes/2.txt" not in teller.asked[1][1]
    await prepared(lines, [])
    assert not lines.lines("c")


async def test_a_line_that_comes_when_it_is_wanted_no_more_is_dropped() -> None:
    teller = Teller({"1": "The gate opens at 06:30", "2": "The gate opens at 06:30"}, held=True)
    lines = ToolLineWriter(teller)
    lines.begin("c", [place(1), place(2)])
    lines.begin("c", [place(2)])
    teller.go_on.set()
    await prepared(lines, [place(2)])
    assert set(lines.lines("c")) == {("m2", 0)}
    assert len(teller.asked) == 1, "one call at a time"


async def test_one_call_asks_for_so_many_and_the_next_one_for_the_rest() -> None:
    many = [place(number) for number in range(MAX_RESULTS + 2)]
    teller = Teller(
        {str(n): "The gate opens at 06:30" for n in range(1, 99)}, {"1": "The locker is 4711"}
    )
    lines = ToolLineWriter(teller)
    await prepared(lines, many)
    assert len(lines.lines("c")) == MAX_RESULTS
    await prepared(lines, many)
    assert [prompt.count("<data name") for _, prompt in teller.asked] == [MAX_RESULTS, 2]
    assert len(lines.lines("c")) == MAX_RESULTS + 1


async def test_of_so_many_conversations_the_oldest_lines_are_dropped() -> None:
    async def tell(system: str, prompt: str, most: int, conversation: str) -> str:
        return '{"1": "The gate opens at 06:30"}'

    lines, names = ToolLineWriter(tell), [f"c{number}" for number in range(MAX_CONVERSATIONS + 1)]
    result = place(1, "The gate opens at 06:30.")
    for start in range(0, len(names), 100):
        for name in names[start : start + 100]:
            lines.begin(name, [result])
        await lines.settled()
    assert [name for name in names if not lines.lines(name)] == ["c0"]


async def test_closing_waits_for_no_line() -> None:
    teller = Teller({"1": "The gate opens at 06:30"}, held=True)
    lines = ToolLineWriter(teller)
    lines.begin("c", [place(1)])
    await asyncio.sleep(0)
    async with asyncio.timeout(8):
        await lines.close()
        await lines.settled()
    assert not lines.lines("c")
