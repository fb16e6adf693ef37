"""A view shows the kept turns, the summary at their head and what moves at their end."""

from dataclasses import replace

import pytest

from memory.context.message_rules import find_faults
from memory.context.tokens import WEIGHTED
from memory.context.view import assemble_view, fixed_tokens, summary_text, turn_views
from memory.conversation import Reduction, Summary, Text, Thinking, ToolResult, ToolSpec
from tests.memory.context.making import chat, make_session, replied, said, used

SYSTEM = ("You are kind.", "Memory: likes tea.")
TOOLS = (ToolSpec(name="now", description="the time", schema="{}", effect="pure", action="clock"),)
SUMMARY = Summary(fold_id="f1", turns=7, text="They planned a trip.", tokens=9, last_turn=9)
FRAMED = (
    "[Summary of 7 earlier turns. Turns 3–9; recall(turn=N) shows one in full. Newer messages "
    "win.]\nThey planned a trip.\n[End of summary]"
)


def test_the_summary_is_its_own_part_before_the_first_kept_user_message():
    view = assemble_view(
        make_session([*chat(2), [said("now?")]], running=True, summary=SUMMARY),
        SYSTEM,
        TOOLS,
        WEIGHTED,
    )
    assert view.shown[0].parts[0] == Text(text=FRAMED)
    assert view.shown[0].parts[1].text.startswith("question 1")
    assert view.stable == 4


@pytest.mark.parametrize(
    ("turns", "last_turn", "told"),
    [
        (
            1,
            1,
            (
                "[Summary of 1 earlier turn. Turn 1; recall(turn=N) shows one in full. Newer "
                "messages win.]"
            ),
        ),
        (
            2,
            14,
            (
                "[Summary of 2 earlier turns. Turns 13–14; recall(turn=N) shows one in full. Newer "
                "messages win.]"
            ),
        ),
        (2, 0, "[Summary of 2 earlier turns. Newer messages win.]"),
    ],
)
def test_the_summary_names_the_turns_that_recall_shows(turns: int, last_turn: int, told: str):
    summary = replace(SUMMARY, turns=turns, last_turn=last_turn)
    assert summary_text(summary).splitlines()[0] == told


def test_an_empty_view_carries_the_summary_before_the_running_users_message():
    view = assemble_view(
        make_session([[said("now?")]], running=True, summary=SUMMARY),
        SYSTEM,
        TOOLS,
        WEIGHTED,
        "it is 9",
    )
    assert [part.text for part in view.shown[0].parts] == [FRAMED, "now?", "it is 9"]
    assert view.stable == 0


def test_what_moves_is_the_last_text_of_the_running_turns_first_message():
    session = make_session([*chat(1), [said("read it"), *used("c1", "words")]], running=True)
    first = assemble_view(session, SYSTEM, TOOLS, WEIGHTED, "it is 9:00")
    later = assemble_view(session, SYSTEM, TOOLS, WEIGHTED, "it is 9:05")
    assert first.shown[: first.stable] == later.shown[: later.stable]
    assert first.shown[2].parts[-1] == Text(text="it is 9:00")
    assert find_faults(first.shown) == []


def test_nothing_moves_into_a_view_without_a_running_turn():
    view = assemble_view(make_session(chat(2)), SYSTEM, TOOLS, WEIGHTED, "it is 9:00")
    assert "it is" not in repr(view.shown)


def test_reductions_show_the_stand_in_and_leave_out_what_is_empty():
    turns = [[said("read"), *used("c1", "x" * 50), replied("done")], [said("and?")]]
    session = make_session(turns, running=True)
    snip = Reduction(message_id="m3", part=0, form="snip", text="[short]", tokens=8)
    view = assemble_view(replace(session, reductions=(snip,)), (), (), WEIGHTED)
    assert view.shown[2].parts == (ToolResult(call_id="c1", text="[short]"),)
    gone = tuple(
        Reduction(message_id=id, part=0, form="text_only", text="", tokens=0) for id in ("m2", "m3")
    )
    view = assemble_view(replace(session, reductions=gone), (), (), WEIGHTED)
    assert [message.role for message in view.shown] == ["user", "assistant", "user"]


def test_a_turn_that_ended_without_a_reply_is_no_part_of_the_stable_prefix():
    view = assemble_view(
        make_session([*chat(1), [said("hello?")], [said("are you there?")]], running=True),
        (),
        (),
        WEIGHTED,
    )
    assert find_faults(view.shown) == []
    assert view.stable == 2
    assert [part.text for part in view.shown[2].parts] == ["hello?", "are you there?"]


def test_tokens_add_up_by_part():
    session = make_session([*chat(3), [said("now?")]], running=True, summary=SUMMARY)
    tokens = assemble_view(session, SYSTEM, TOOLS, WEIGHTED, "tail words").tokens
    fixed = fixed_tokens(SYSTEM, TOOLS, "tail words", WEIGHTED)
    assert tokens.total == fixed + tokens.summary + sum(turn.tokens for turn in session.turns)
    assert tokens.history == sum(turn.tokens for turn in session.turns[:3])


def test_I39_tools_cost_what_is_told_of_them():
    told = WEIGHTED.text(TOOLS[0].name + TOOLS[0].description + TOOLS[0].schema)
    assert fixed_tokens((), TOOLS * 3, "", WEIGHTED) >= 3 * told > 0


def test_thoughts_are_kept_with_their_signature_while_their_turn_runs():
    thought = Thinking(text="hm", signature="sig", model="m")
    asking, (role, parts) = used("a", "r")[0], used("a", "r")[1]
    thinking = ("assistant", (thought, *asking[1]))
    session = make_session([[said("q"), thinking, (role, parts)]], running=True)
    assert assemble_view(session, (), (), WEIGHTED).shown[1].parts[0] == thought
    done = make_session(
        [[said("q"), thinking, (role, parts), replied("a")], [said("next")]], running=True
    )
    assert assemble_view(done, (), (), WEIGHTED).shown[1].parts == asking[1]


def test_a_conversation_with_nothing_in_it_is_an_empty_view():
    view = assemble_view(make_session([]), SYSTEM, TOOLS, WEIGHTED)
    assert view.shown == ()
    assert view.tokens.total == view.tokens.system + view.tokens.tools


def test_the_turns_of_a_view_are_what_it_shows_of_them():
    session = make_session(
        [*chat(3), [said("read it"), *used("c1", "words")]], running=True, summary=SUMMARY
    )
    view, turns = assemble_view(session, SYSTEM, TOOLS, WEIGHTED), turn_views(session, WEIGHTED)
    parts = [part for message in view.shown for part in message.parts]
    assert parts == [
        Text(text=FRAMED),
        *(part for turn in turns for shown in turn.shown for part in shown.parts),
    ]
    assert [turn.running for turn in turns] == [False, False, False, True]
    assert sum(turn.tokens for turn in turns if not turn.running) == view.tokens.history
    assert turns[-1].tokens == view.tokens.running
