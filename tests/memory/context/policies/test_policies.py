"""The rules that no policy may break, over random lives of a conversation under each of the six."""

import os
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.context.message_rules import find_faults
from memory.context.policies.planner import ContextLimits, plan_ahead, plan_context
from memory.context.policies.policies import POLICIES, Policy, build_policy
from memory.context.tokens import WEIGHTED, TokenCounter, count_weighted
from memory.context.view import ContextView
from memory.conversation import Image, Part, Session, Text, Thinking, ToolCall, ToolResult
from tests.by_night import first_by_day
from tests.cases import every_case
from tests.memory.context.living import SOUL, Life
from tests.memory.context.making import chat, make_session, replied, said, used

EXAMPLES = int(os.environ.get("MNEMA_EXAMPLES", "60" if "MNEMA_NIGHT" in os.environ else "12"))
NAMES = sorted(POLICIES)
CODE = "```python\ndef size(items):\n    return sum(item.size for item in items)\n```\n"
SIZES = (1, 40, 400, 3_000, 30_000, 120_000)


def limits(tokens: int = 50_000, turns: int = 20, **others: int) -> ContextLimits:
    return ContextLimits(max_tokens=tokens, max_turns=turns, window=10_000_000, reserve=0, **others)


def words(kind: str, size: int, mark: str) -> str:
    body = {
        "latin": "the port is 8443 and ",
        "cjk": "我们把服务放在杭州的机房，",
        "code": CODE,
        "error": "Error: not found ",
    }
    return (mark + " " + body[kind] * (size // len(body[kind]) + 1))[: max(size, len(mark) + 2)]


texts = st.tuples(st.sampled_from(["latin", "cjk", "code", "error"]), st.sampled_from(SIZES))
steps = st.lists(st.lists(st.tuples(texts, st.booleans()), min_size=1, max_size=3), max_size=3)
turns = st.tuples(
    texts,
    st.booleans(),
    steps,
    texts,
    st.sampled_from([0.1, 1.0, 9.0]),
    st.sampled_from([0, 1, 2, 9]),
)
lives = st.lists(turns, min_size=1, max_size=14)
budgets = st.tuples(
    st.sampled_from([2_000, 2_500, 4_000, 9_000, 40_000, 250_000]), st.sampled_from([2, 4, 20])
)


def live(
    policy: Policy,
    life: list[tuple[object, ...]],
    room: int,
    most_turns: int,
    check: Callable[[Life], None],
) -> Life:
    """The life under the policy. check: called after every request."""
    now = Life(policy=policy, limits=limits())
    now.limits = limits(now.fixed + room, most_turns)
    for number, (asked, pictured, chain, answered, minutes, late) in enumerate(life):
        picture = (
            (Image(sha256="0" * 64, media_type="image/png", width=640, height=480),)
            if pictured
            else ()
        )
        now.ask((*picture, Text(text=words(*asked, f"ask{number}"))), minutes)
        for step, calls in enumerate(chain):
            request(now, check)
            if step >= late:
                now.arrive()
            ids = [f"t{number}s{step}c{place}" for place in range(len(calls))]
            thought = (
                (Thinking(text=words(*answered, "thought"), signature="s"),) if pictured else ()
            )
            asking = (ToolCall(id=id, name="read_file", input='{"path": "src/a.ts"}') for id in ids)
            now.say("assistant", (*thought, *asking))
            results = (
                ToolResult(call_id=id, text=words(*body, id), is_error=wrong)
                for id, (body, wrong) in zip(ids, calls, strict=True)
            )
            now.say("user", tuple(results))
        request(now, check)
        now.say("assistant", (Text(text=words(*answered, f"reply{number}")),))
        now.end()
        if late < 9:
            now.arrive()
    return now


def request(now: Life, check: Callable[[Life], None]) -> None:
    now.call()
    check(now)


def every_rule(now: Life) -> None:
    view, planned = now.requests[-1].view, now.requests[-1].planned
    assert planned.fits
    assert counted(view) <= view.tokens.total <= now.limits.budget
    assert find_faults(view.shown) == []
    assert view.system == (SOUL,)
    running = now.session.turns[-1]
    assert running.number == now.session.running
    own = [
        part.text
        for shown in view.shown[view.stable :]
        for part in shown.parts
        if isinstance(part, Text)
    ]
    first = next(part for part in running.messages[0].parts if isinstance(part, Text))
    assert any(text == first.text or "recall(handle=" in text for text in own)
    asked = [
        [p.id for p in message.parts if isinstance(p, ToolCall)] for message in running.messages
    ]
    newest = [ids for ids in asked if ids][-1:]
    shown = [
        part.id for message in view.shown for part in message.parts if isinstance(part, ToolCall)
    ]
    assert not newest or shown[len(shown) - len(newest[0]) :] == newest[0]
    if now.session.summary:
        assert any(now.session.summary.text in text for text in of_text(view))
    ledger_is_exact(now)
    prefix_is_kept(now)
    nothing_more_is_wanted(now)
    newest_words_are_whole(now)


def size(part: Part) -> int:
    """A part's tokens, by the published formula and not by the product's counter."""
    match part:
        case ToolCall():
            return 10 + count_weighted(part.name) + count_weighted(part.input)
        case ToolResult():
            return 5 + count_weighted(part.text)
        case Image():
            return -(-part.width * part.height // 750)
    return count_weighted(part.text)


def counted(view: ContextView) -> int:
    """All that the request costs, counted anew from what it shows."""
    shown = sum(7 + sum(map(size, message.parts)) for message in view.shown)
    return shown + sum(map(count_weighted, view.system))


def of_text(view: ContextView) -> list[str]:
    return [part.text for shown in view.shown for part in shown.parts if isinstance(part, Text)]


def ledger_is_exact(now: Life) -> None:
    folded = [seq for fold in now.folds for seq in range(fold.from_seq, fold.to_seq + 1)]
    held = [message.seq for turn in now.session.turns for message in turn.messages]
    assert folded + held == [message.seq for message in now.everything]


def prefix_is_kept(now: Life) -> None:
    """Unless something was recorded, a request repeats the one before: all of it within a turn,
    else its prefix.
    """
    if len(now.requests) > 1 and not now.requests[-1].events:
        before, after = now.requests[-2].view, now.requests[-1].view
        same = before.stable == after.stable
        kept = before.shown if same else before.shown[: before.stable]
        assert after.shown[: len(kept)] == kept


def nothing_more_is_wanted(now: Life) -> None:
    again = plan_context(now.session, now.policy, now.limits, now.fixed, now.counter)
    assert again.reductions == ()
    assert not again.must_fold_now


def newest_words_are_whole(now: Life) -> None:
    """While everything fits, the last three user messages and the last reply are shown word for
    word.
    """
    if not now.requests[-1].planned.fitted:
        return
    asked = [turn.messages[0] for turn in now.session.turns][-3:]
    replies = [m for turn in now.session.turns for m in turn.messages if m.role == "assistant"][-1:]
    new = {item.message_id: item for item in now.requests[-1].planned.reductions}
    for message in (*asked, *replies):
        item = new.get(message.id)
        assert item is None or not isinstance(message.parts[item.part], Text)


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(life=lives, budget=budgets)
def test_no_rule_is_broken_in_any_life(name, life, budget):
    live(POLICIES[name], life, *budget, every_rule)


def planned(
    name: str, session: Session, tokens: int = 50_000, max_turns: int = 20, **numbers: float
):
    policy = build_policy(name, {name: numbers})
    return plan_context(session, policy, limits(tokens, max_turns), 0, WEIGHTED)


def ahead(name: str, session: Session, tokens: int = 50_000, max_turns: int = 20, **numbers: float):
    return plan_ahead(
        session, build_policy(name, {name: numbers}), limits(tokens, max_turns), 0, WEIGHTED
    )


def spoken(count: int, tokens: int) -> list[list[tuple[str, tuple[Part, ...]]]]:
    """Turns of about so many tokens each, half of them the question's."""
    size = int((tokens - 14) / 2 / 0.3)
    return [
        [said(f"q{n} ".ljust(size, "x")), replied(f"a{n} ".ljust(size, "y"))] for n in range(count)
    ]


@pytest.mark.parametrize(("each", "count", "kept"), [(3_000, 11, 5), (300, 104, 50)])
def test_budget_keeps_five_heavy_turns_or_fifty_light_ones(each, count, kept):
    session = make_session(spoken(count, each))
    fold = ahead("budget", session).fold
    assert fold is not None
    assert len(session.turns) - fold.to_turn == pytest.approx(kept, abs=1)


def test_budget_waits_for_thirty_thousand_tokens_and_trims_what_tools_were_asked_and_answered():
    assert ahead("budget", make_session(spoken(9, 3_000))).fold is None
    turns = [
        [said("q"), *used("a", "r" * 1_200, '{"text": "' + "i" * 600 + '"}'), replied("done")],
        [said("now")],
    ]
    made = planned("budget", make_session(turns, running=True)).reductions
    assert [(item.message_id, item.form) for item in made] == [("m2", "trim"), ("m3", "trim")]
    assert all(item.tokens < 400 for item in made)
    shorter = [
        [said("q"), *used("a", "r" * 1_000, '{"text": "' + "i" * 400 + '"}'), replied("done")],
        [said("now")],
    ]
    assert planned("budget", make_session(shorter, running=True)).reductions == ()


def test_budget_over_forty_thousand_tokens_of_history_folds_at_once():
    session = make_session([*spoken(14, 3_000), [said("now")]], running=True)
    found = planned("budget", session, tokens=200_000)
    assert (found.must_fold_now, found.fold.to_turn) == (True, 9)


def reads(count: int, chars: int) -> list[list[tuple[str, tuple[Part, ...]]]]:
    return [
        [
            said(f"read {n}"),
            *used(f"c{n}", f"line {n}\n" * (chars // 8), f'{{"path": "src/f{n}.ts"}}'),
            replied("ok"),
        ]
        for n in range(count)
    ]


def test_layers_snips_at_ten_thousand_lines_at_sixty_and_folds_at_eighty_per_cent():
    assert {item.form for item in planned("layers", make_session(reads(2, 12_000))).reductions} == {
        "snip"
    }
    session = make_session(reads(20, 8_000))
    whole = sum(turn.tokens for turn in session.turns)
    assert planned("layers", session, tokens=int(whole / 0.59)).reductions == ()
    lines = planned("layers", session, tokens=int(whole / 0.61)).reductions
    assert {item.form for item in lines} == {"one_line"}
    assert max(int(item.message_id[1:]) for item in lines) <= 40
    assert (
        lines[0].text
        == '[read_file src/f0.ts: 1000 lines, TypeScript, line 0; recall(handle="3.0") shows it]'
    )
    assert ahead("layers", session, tokens=int(whole / 0.79)).fold is None
    room = int(whole / 0.81)
    fold = ahead("layers", session, tokens=room).fold
    assert fold is not None
    kept = sum(turn.tokens for turn in session.turns if turn.number > fold.to_turn)
    assert kept + 1_050 <= 0.4 * room


def test_layers_beyond_ninety_five_per_cent_drops_the_oldest_at_once():
    session = make_session([*spoken(10, 1_000), [said("now")]], running=True)
    found = planned("layers", session, tokens=10_200, keep_most=1.0)
    assert found.must_fold_now
    assert found.tokens <= 0.95 * 10_200


def test_boundary_folds_half_at_a_hundred_and_fifty_thousand_tokens_or_five_hundred_messages():
    assert ahead("boundary", make_session(spoken(14, 10_000)), tokens=200_000).fold is None
    fold = ahead("boundary", make_session(spoken(16, 10_000)), tokens=200_000).fold
    assert fold is not None
    assert fold.reason == "tokens"
    assert fold.why
    assert ahead("boundary", make_session(chat(250)), tokens=200_000).fold is None
    fold = ahead("boundary", make_session(chat(251)), tokens=200_000).fold
    assert fold is not None
    assert fold.reason == "messages"


def test_boundary_folds_nothing_under_ten_messages():
    assert ahead("boundary", make_session(spoken(4, 45_000)), tokens=200_000).fold is None


def test_rolling_rolls_after_ten_new_messages_or_three_thousand_new_tokens():
    assert ahead("rolling", make_session(chat(4))).fold is None
    fold = ahead("rolling", make_session(chat(5))).fold
    assert (fold.reason, fold.to_turn) == ("messages", 3)
    fold = ahead("rolling", make_session(spoken(3, 1_100))).fold
    assert (fold.reason, fold.to_turn) == ("tokens", 2)


def test_rolling_counts_only_what_is_new_since_the_last_fold():
    life = Life(policy=POLICIES["rolling"], limits=limits())
    folded_after = []
    for number in range(1, 21):
        life.ask((Text(text=f"q{number}"),))
        life.call()
        life.say("assistant", (Text(text=f"a{number}"),))
        life.end()
        if life.pending:
            folded_after.append(number)
        life.arrive()
    assert folded_after == [5, 10, 15, 20]


def test_balanced_prepares_the_oldest_half_when_a_turn_ends_with_as_many_turns_as_allowed():
    assert ahead("balanced", make_session(chat(19))).fold is None
    fold = ahead("balanced", make_session(chat(20))).fold
    assert fold.reason == "turns"
    assert 8 <= fold.to_turn <= 12
    assert fold.why


@every_case("name", ["balanced", "turns", "rolling", "boundary"])
def test_what_a_person_took_back_from_a_fold_stays_for_half_as_many_turns_as_are_shown(name):
    turns = chat(40)
    numbers = {"boundary": {"fold_messages": 30}}
    policy = build_policy(name, numbers)
    undone = replace(make_session(turns[:22]), held=45)
    assert plan_ahead(make_session(turns[:22]), policy, limits(), 0, WEIGHTED).fold
    assert plan_ahead(undone, policy, limits(), 0, WEIGHTED).fold is None
    assert (
        plan_ahead(replace(make_session(turns[:31]), held=45), policy, limits(), 0, WEIGHTED).fold
        is None
    )
    assert plan_ahead(
        replace(make_session(turns[:32]), held=45), policy, limits(), 0, WEIGHTED
    ).fold
    tight = replace(make_session([*turns[:22], [said("now")]], running=True), held=45)
    assert plan_context(tight, policy, limits(300), 0, WEIGHTED).must_fold_now


def test_balanced_prepares_a_fold_at_three_quarters_and_keeps_no_more_than_half():
    session = make_session(spoken(15, 2_400))
    assert ahead("balanced", session, tokens=50_000).fold is None
    session = make_session(spoken(16, 2_400))
    fold = ahead("balanced", session, tokens=50_000).fold
    assert fold.reason == "tokens"
    assert sum(turn.tokens for turn in session.turns if turn.number > fold.to_turn) <= 25_000


def test_balanced_shortens_before_it_drops():
    session = make_session([*reads(9, 9_000), [said("now")]], running=True)
    whole = sum(turn.tokens for turn in session.turns)
    found = planned("balanced", session, tokens=whole - 500, line_at=1.0, result_chars=10_000)
    assert found.fold is None
    assert {item.form for item in found.reductions} == {"one_line"}
    found = planned(
        "balanced", make_session([*spoken(9, 3_000), [said("now")]], running=True), tokens=18_000
    )
    assert found.must_fold_now
    assert found.fold.to_turn < 9


def test_failed_results_are_shortened_last_and_the_newest_five_never_to_a_line():
    turns = reads(8, 3_000)
    call, (role, (part,)) = turns[0][1], turns[0][2]
    turns[0][1:3] = [
        call,
        (role, (ToolResult(call_id=part.call_id, text=part.text, is_error=True),)),
    ]
    session = make_session([*turns, [said("now")]], running=True)
    whole = sum(turn.tokens for turn in session.turns)
    lines = planned(
        "balanced", session, tokens=whole - 1_200, line_at=1.0, result_chars=5_000
    ).reductions
    assert {item.message_id for item in lines} == {"m7", "m11"}
    lines = planned(
        "balanced", session, tokens=whole - 1_800, line_at=1.0, result_chars=5_000
    ).reductions
    assert {item.message_id for item in lines} >= {"m3", "m7", "m11"}
    assert max(int(item.message_id[1:]) for item in lines) <= 32 - 20


def test_a_models_line_stands_where_it_was_written_and_a_rules_elsewhere():
    session = make_session(reads(20, 8_000))
    policy = build_policy("balanced", {"balanced": {"result_chars": 10_000}})
    whole = sum(turn.tokens for turn in session.turns)
    wanted = plan_ahead(session, policy, limits(int(whole / 0.55)), 0, WEIGHTED).lines
    assert wanted
    assert plan_ahead(session, policy, limits(int(whole / 0.45)), 0, WEIGHTED).lines == ()
    first = wanted[0]
    lines = {(first.message.id, first.part): "read_file src/f0.ts: a thousand lines that count"}
    made = plan_context(session, policy, limits(int(whole / 0.65)), 0, WEIGHTED, lines).reductions
    assert (
        made[0].text
        == '[read_file src/f0.ts: a thousand lines that count; recall(handle="3.0") shows it]'
    )
    assert made[1].text.startswith("[read_file src/f1.ts: 1000 lines")


def test_balanced_trims_old_results_when_much_is_saved_at_once_and_not_the_newest_five():
    session = make_session([*reads(6, 8_000), [said("now")]], running=True)
    assert planned("balanced", session, tokens=50_000).reductions == ()
    session = make_session([*reads(9, 8_000), [said("now")]], running=True)
    made = planned("balanced", session, tokens=50_000).reductions
    assert {(item.message_id, item.form) for item in made} == {
        (f"m{4 * n + 3}", "trim") for n in range(4)
    }
    assert all(item.tokens < 700 for item in made)


def test_a_large_running_turn_is_no_reason_to_fold_what_is_light():
    chain = [message for step in range(12) for message in used(f"s{step}", "r" * 9_000)]
    session = make_session([*chat(10), [said("now"), *chain]], running=True)
    found = planned("balanced", session, tokens=42_000, line_at=1.0)
    assert found.fitted
    assert found.fold is None


def test_where_system_parts_take_most_of_the_room_not_every_turn_is_folded():
    session = make_session(chat(6))
    assert plan_ahead(session, POLICIES["balanced"], limits(10_000), 7_600, WEIGHTED).fold is None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("steps", "calls"), first_by_day(1, [(15, 3), (15, 10), (3, 40)]))
def test_a_long_running_turn_fits_with_its_newest_step(name, steps, calls):
    life = Life(policy=POLICIES[name], limits=limits())
    life.limits = limits(life.fixed + 6_000)
    life.ask((Text(text="please read all of it " + "very much " * 100),))
    for step in range(steps):
        life.call()
        every_rule(life)
        ids = [f"s{step}c{place}" for place in range(calls)]
        thought = Thinking(text="hm " * 900, signature="s")
        life.say(
            "assistant",
            (thought, *(ToolCall(id=id, name="read_file", input='{"path": "a"}') for id in ids)),
        )
        life.say("user", tuple(ToolResult(call_id=id, text=f"{id} " + "r" * 4_000) for id in ids))
    view = life.call()
    every_rule(life)
    assert any(text.startswith("please read all of it") for text in of_text(view))


def test_thoughts_of_finished_turns_cost_nothing_and_are_not_shown():
    life = Life(policy=POLICIES["balanced"], limits=limits())
    life.ask((Text(text="think"),))
    life.call()
    life.say("assistant", (Thinking(text="hm " * 3_000, signature="s"), Text(text="done")))
    life.end()
    life.ask((Text(text="and now"),))
    view = life.call()
    assert not any(isinstance(part, Thinking) for shown in view.shown for part in shown.parts)
    assert view.tokens.history < 50


@every_case("name", NAMES)
def test_work_grows_no_faster_than_the_history(name):
    """Twice the turns, at most about twice the characters that are counted and the parts that are
    looked at.
    """
    counted: list[int] = []
    counter = TokenCounter(
        name="weighted", text=lambda text: counted.append(len(text)) or count_weighted(text)
    )
    costs = []
    for count in (100, 200, 400):
        session = make_session([*reads(count, 4_000), [said("now")]], running=True)
        whole = sum(turn.tokens for turn in session.turns)
        counted.clear()
        plan_context(session, POLICIES[name], limits(int(whole * 0.9), 1_000), 0, counter)
        costs.append((sum(counted), len(counted)))
    for smaller, larger in pairwise(costs):
        assert larger[0] <= 2.4 * smaller[0] + 5_000
        assert larger[1] <= 2.4 * smaller[1] + 50
