"""Cost of a request: counting, policies, the search for a cut, assembling the view, what its cache
leaves to pay.
"""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from benchmarks.measurement import Measurement, median
from bot.models.base import Request
from bot.models.providers.anthropic import encode_anthropic_request
from memory.context.policies.boundary import choose_cut
from memory.context.policies.planner import ContextLimits, plan_ahead, plan_context
from memory.context.policies.policies import POLICIES
from memory.context.tokens import load_o200k_counter
from memory.context.view import assemble_view
from memory.conversation import (
    Message,
    Part,
    Role,
    Session,
    ShownMessage,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from tests.emulators.model_rules import PromptCache, count, seen_by_model

MESSAGES = 500
WORDS = (
    "The quick survey of the northern harbour took three days and cost 4,200 crowns; "
    "港口的测量花了三天。 "
)
# 5,000 tokens by the emulator's count
STEPS, RESULT = 10, "one line of a page of a file that a tool has read\n" * 400
LIMITS = ContextLimits(max_tokens=200_000, max_turns=1_000, window=250_000, reserve=4_096)


async def planning() -> list[Measurement]:
    """Measure all of them."""
    session = long_session()
    counter = load_o200k_counter()
    costs = [message.tokens for turn in session.turns for message in turn.messages]
    adding = 1000 * _median(lambda: sum(costs))
    return [
        *(_plan(name, session, adding) for name in sorted(POLICIES)),
        _search(session),
        _counting(),
        Measurement(
            name=f"assemble a view of {MESSAGES} messages",
            ours=1000 * _median(lambda: assemble_view(session, ("system",), (), counter)),
            floor=adding,
            unit="ms",
            must=2,
            aim=2,
            floor_is="adding up the cached counts",
        ),
        _uncached_input(),
    ]


def _plan(name: str, session: Session, adding: float) -> Measurement:
    counter, policy = load_o200k_counter(), POLICIES[name]
    before = _median(lambda: plan_context(session, policy, LIMITS, 1_000, counter))
    after = _median(lambda: plan_ahead(session, policy, LIMITS, 1_000, counter))
    return Measurement(
        name=f"plan over {MESSAGES} cached messages, {name}",
        ours=1000 * max(before, after),
        floor=adding,
        unit="ms",
        must=1,
        aim=1,
        floor_is="adding up 500 cached counts",
    )


def _search(session: Session) -> Measurement:
    turns = session.turns
    costs = [turn.tokens for turn in turns]
    found = 1000 * _median(lambda: choose_cut(turns, costs, len(turns), 0.5))
    bare = 1000 * _median(
        lambda: [
            part.text.split()
            for turn in turns
            for message in turn.messages
            for part in message.parts
            if isinstance(part, Text)
        ]
    )
    return Measurement(
        name=f"boundary search over {MESSAGES} messages",
        ours=found,
        floor=bare,
        unit="ms",
        must=5,
        aim=5,
        floor_is="splitting all texts at spaces, once",
    )


def _counting() -> Measurement:
    counter = load_o200k_counter()
    texts = [f"{at} " + WORDS * 6 for at in range(MESSAGES)]
    ours = 1000 * _median(lambda: [counter.message((Text(text=text),)) for text in texts], 7)
    bare = 1000 * _median(lambda: [counter.text(text) for text in texts], 7)
    return Measurement(
        name=f"count {MESSAGES} new messages of {counter.text(texts[0])} tokens",
        ours=ours,
        floor=bare,
        unit="ms",
        must=1.5 * bare,
        aim=1.1 * bare,
        floor_is="tiktoken alone on the same texts",
    )


def _uncached_input() -> Measurement:
    """What the requests of one turn pay that no cache gives, by the rules of Anthropic's cache as
    emulated.
    """
    messages = [
        _shown("user", Text(text="earlier " * 2_000)),
        _shown("assistant", Text(text="Yes.")),
    ]
    stable, cache, paid = len(messages), PromptCache(), 0
    messages.append(_shown("user", Text(text="Compare them.")))
    for step in range(STEPS + 1):
        request = Request(
            model="claude-sonnet-5-5", system=("system",), messages=tuple(messages), stable=stable
        )
        body = json.loads(encode_anthropic_request(request, lambda _: b"").content)
        floor = count(seen_by_model(body))
        paid += floor - cache.account(body)[0]
        messages.append(_shown("assistant", ToolCall(id=f"c{step}", name="read_file", input="{}")))
        messages.append(_shown("user", ToolResult(call_id=f"c{step}", text=f"{step}. {RESULT}")))
    return Measurement(
        name=f"uncached input of a turn of {STEPS} results",
        ours=paid / 1000,
        floor=floor / 1000,
        unit="ktok",
        must=1.05 * floor / 1000,
        aim=1.02 * floor / 1000,
        floor_is="its last request: each result once",
    )


def _shown(role: Role, part: Part) -> ShownMessage:
    return ShownMessage(role=role, parts=(part,))


def long_session() -> Session:
    """Return a conversation of MESSAGES messages, all in view."""
    counter, now = load_o200k_counter(), datetime(2026, 1, 1, tzinfo=UTC)
    parts = [(Text(text=f"{at}. " + WORDS * 5),) for at in range(MESSAGES)]
    counted = [counter.message(each) for each in parts]
    messages = [
        Message(
            id=f"m{at}",
            seq=at + 1,
            turn=at // 2 + 1,
            role="assistant" if at % 2 else "user",
            parts=parts[at],
            at=now + timedelta(minutes=at),
            tokens=counted[at],
            counter=counter.name,
        )
        for at in range(MESSAGES)
    ]
    turns = tuple(
        Turn(number=at + 1, messages=tuple(messages[2 * at : 2 * at + 2]))
        for at in range(MESSAGES // 2)
    )
    return Session(
        conversation="c",
        space="",
        epoch=1,
        next_seq=MESSAGES + 1,
        next_turn=len(turns) + 1,
        view_from=1,
        fold_head="",
        summary=None,
        turns=turns,
        reductions=(),
        zone=ZoneInfo("Asia/Shanghai"),
    )


def _median(work: Callable[[], object], times: int = 100) -> float:
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return median(found)
