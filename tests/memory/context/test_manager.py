"""The context manager keeps the rules of every policy, whatever is added and whenever it is
compacted.
"""

import asyncio
from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.manager import Compaction, ContextManager
from memory.context.message_rules import find_faults
from memory.context.policies.policies import POLICIES
from memory.context.summary.prompt import FoldTexts
from memory.context.summary.validation import FoldSource, SummaryLimit
from memory.context.tokens import WEIGHTED
from memory.conversation import Text, ToolCall, ToolResult
from memory.folding.writer import SummaryWriter
from tests.bot.talk import folded
from tests.memory.context.policies.test_policies import counted

SYSTEM = ("You are a test. " * 20,)
SMALLEST = 2_100
steps = st.lists(
    st.tuples(
        st.sampled_from(["ask", "reply", "call", "result", "compact", "look"]),
        st.sampled_from([1, 300, 4_000, 40_000]),
    ),
    min_size=1,
    max_size=40,
)


def filler(mark: str, chars: int) -> str:
    return (f"{mark} the port is 8443, 我们把它放在杭州; " * (chars // 20 + 1))[
        : max(chars, len(mark) + 1)
    ]


class Play:
    """A manager, and what was put into it."""

    def __init__(self, manager: ContextManager) -> None:
        self.manager = manager
        self.added: list[str] = []
        self.folded: list[str] = []
        self.question = ""
        self.open: list[str] = []

    async def step(self, number: int, act: str, size: int) -> None:
        text = filler(f"{act}{number}", size)
        match act:
            case "ask":
                self.add("user", Text(text=text))
                self.question, self.open = text, []
            case "reply" if self.question:
                self.add("assistant", Text(text=text))
                self.open, self.question = [], ""
            case "call" if self.question:
                self.open = [f"c{number}a", f"c{number}b"]
                self.add(
                    "assistant", *(ToolCall(id=id, name="read", input="{}") for id in self.open)
                )
            case "result" if self.open:
                self.add(
                    "user", ToolResult(call_id=self.open.pop(), text=text, is_error=size == 300)
                )
            case "compact":
                done = await self.manager.compact()
                self.folded += [message.id for fold in done.folds for message in fold.messages]
                assert done.tokens_after <= self.manager.usage().max_tokens
            case "look":
                self.check()

    def add(self, role: str, *parts: Text | ToolCall | ToolResult) -> None:
        self.manager.add(role, *parts)  # type: ignore[arg-type]

    def check(self) -> None:
        view = self.manager.view()
        usage = self.manager.usage()
        assert max(counted(view), view.tokens.total) <= usage.max_tokens
        # Repairs, and a summary without any turn, are messages of their own.
        assert counted(view) <= view.tokens.total or view.repaired or not usage.turns
        assert not view.shown or find_faults(view.shown) == []
        assert view.system == SYSTEM
        texts = [
            part.text for shown in view.shown for part in shown.parts if isinstance(part, Text)
        ]
        if self.question:
            head = self.question[:60]
            assert any(
                text == self.question or (text.startswith(head) and "recall(handle=" in text)
                for text in texts
            )
        if self.manager.summary:
            assert any(self.manager.summary in text for text in texts)


@pytest.mark.parametrize("policy", POLICIES)
@given(life=steps, room=st.sampled_from([0, 3_000, 30_000]))
@settings(max_examples=15, deadline=None)
def test_every_view_fits_is_valid_and_holds_the_running_question(
    policy: str, life: list[tuple[str, int]], room: int
) -> None:
    async def play() -> None:
        manager = ContextManager(
            policy=policy, max_tokens=SMALLEST + room, max_turns=4, system=SYSTEM, counter=WEIGHTED
        )
        it = Play(manager)
        for number, (act, size) in enumerate(life):
            await it.step(number, act, size)
        it.check()

    asyncio.run(play())


def chat(manager: ContextManager, turns: int, start: int = 0) -> None:
    for number in range(start, start + turns):
        manager.add(
            "user", f"Fact {number}: the gate of platform {number} opens at 0{number % 10}:30."
        )
        manager.add("assistant", f"Noted, 0{number % 10}:30.")


async def test_compacting_folds_by_the_policy_and_returns_what_left() -> None:
    manager = ContextManager(policy="turns", max_turns=6, counter=WEIGHTED)
    chat(manager, 5)
    assert (await manager.compact()).folds == ()
    chat(manager, 3, 5)
    before = manager.usage()
    done = await manager.compact()
    (fold,) = done.folds
    assert (fold.first_turn, fold.reason, fold.method) == (1, "turns", "extract")
    assert [message.turn for message in fold.messages] == [
        n for n in range(1, fold.last_turn + 1) for _ in range(2)
    ]
    assert "Fact 0: the gate of platform 0 opens at 00:30." in fold.log
    assert manager.usage().turns == before.turns - fold.last_turn
    (first,) = manager.messages()[0].parts[:1]
    assert manager.summary in first.text  # type: ignore[union-attr]
    assert before.roles == {"user": 8, "assistant": 8}
    assert done.tokens_before == before.tokens
    assert done.tokens_after == manager.usage().tokens


async def test_nothing_is_lost_between_the_view_and_the_folds() -> None:
    manager, left = ContextManager(policy="turns", max_turns=4, counter=WEIGHTED), list[str]()
    added = []
    for number in range(20):
        added += [
            manager.add("user", f"question {number}").id,
            manager.add("assistant", f"answer {number}").id,
        ]
        left += [
            message.id for fold in (await manager.compact()).folds for message in fold.messages
        ]
    assert left == added[: len(left)]
    live = [
        part.text for shown in manager.messages() for part in shown.parts if isinstance(part, Text)
    ]
    asked = [text for text in live if text.startswith("question")]
    assert asked == [f"question {number}" for number in range(len(left) // 2, 20)]


async def test_a_model_writes_the_summary_and_what_it_invents_is_dropped() -> None:
    async def complete(system: str, prompt: str, most: int, charged: str) -> str:
        return folded(
            "- The gate of platform 0 opens at 00:30.",
            "## Facts and preferences\n- The gate opens at 00:30.",
        )

    async def invent(source: FoldSource) -> FoldTexts:
        return FoldTexts(
            log="- The gate is at 77.12.", summary="- Code 99-XK-4711 opens /etc/gate."
        )

    limit = SummaryLimit(counter=WEIGHTED, summary_tokens=1_000, zone=UTC)
    writer = SummaryWriter(
        complete=complete, conversation="", limit=limit, prompt_tokens=lambda: 60_000
    )

    async def write(source: FoldSource) -> FoldTexts:
        return (await writer.write(source)).texts

    for summarise, method in ((write, "model"), (invent, "extract")):
        manager = ContextManager(policy="turns", max_turns=4, counter=WEIGHTED, summarise=summarise)
        chat(manager, 5)
        (fold,) = (await manager.compact()).folds
        assert fold.method == method
        assert "4711" not in manager.summary
        assert "00:30" in manager.summary


async def test_a_slow_summary_holds_up_nothing_and_changes_nothing_when_it_is_late() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(source: FoldSource) -> FoldTexts:
        begun.set()
        await go_on.wait()
        return FoldTexts(log="- late", summary="- Fact 0: late")

    manager = ContextManager(
        policy="turns", max_turns=4, max_tokens=2_500, counter=WEIGHTED, summarise=wait
    )
    chat(manager, 5)
    late = asyncio.create_task(manager.compact())
    await begun.wait()
    manager.add("user", filler("long", 12_000))
    assert find_faults(manager.messages()) == []
    assert manager.usage().tokens <= 2_500
    summary = manager.summary
    assert summary
    second: Compaction = await manager.compact()
    assert second.folds == ()
    go_on.set()
    await late
    assert manager.summary == summary


def test_what_cannot_be_a_conversation_is_refused() -> None:
    with pytest.raises(ValueError, match="balanced, turns"):
        ContextManager(policy="clever")
    with pytest.raises(ValueError, match="at least"):
        ContextManager(max_tokens=1_000, counter=WEIGHTED)
    manager = ContextManager(counter=WEIGHTED)
    for role, content in (("assistant", "first"), ("user", ToolResult(call_id="c", text="?"))):
        with pytest.raises(ValueError, match=r"turn begins|open calls"):
            manager.add(role, content)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="content"):
        manager.add("user")
