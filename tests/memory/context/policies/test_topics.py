"""A change of topic is seen in the words, in Chinese, in English and in both, and one topic is not
taken for two.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.policies.topics import split_gain, topic_changes, topic_words
from memory.conversation import Text, Turn
from tests.cases import every_case
from tests.memory.context.making import make_session, replied, said, used

# Chats with their changes marked. The measure's numbers were chosen on the "tuned" ones, not on the
# "held" ones.
CHATS = Path(__file__).with_name("chats.txt")


@dataclass(frozen=True)
class Labelled:
    """A chat. changes: before which turns its topic changes."""

    name: str
    held: bool
    turns: tuple[Turn, ...]
    changes: frozenset[int]


def read_chats() -> list[Labelled]:
    return [_read(block.splitlines()) for block in CHATS.read_text("utf-8").strip().split("\n\n")]


def _read(lines: list[str]) -> Labelled:
    kind, name = lines[0].removeprefix("# ").split(" ", 1)
    turns, places = [], set()
    for line in lines[1:]:
        if line == "---":
            places.add(len(turns))
        else:
            asked, answered = line.split(" | ", 1)
            turns.append([said(asked), replied(answered)])
    return Labelled(
        name=name, held=kind == "held", turns=make_session(turns).turns, changes=frozenset(places)
    )


LABELLED = read_chats()


def judged(chats):
    """Precision, recall, and the share of the other places that were taken for a change."""
    hits = found = wanted = places = 0
    for chat in chats:
        got = topic_changes(chat.turns, range(1, len(chat.turns)))
        hits += len(got & chat.changes)
        found += len(got)
        wanted += len(chat.changes)
        places += len(chat.turns) - 1
    return hits / found, hits / wanted, (found - hits) / (places - wanted)


def test_the_labelled_chats_are_many_and_of_all_kinds():
    assert sum(len(chat.changes) > 0 for chat in LABELLED) >= 12
    assert sum(not chat.changes for chat in LABELLED) >= 8
    for kind in ("zh", "en", "mixed"):
        assert sum(chat.name.startswith(kind) and bool(chat.changes) for chat in LABELLED) >= 4


@pytest.mark.parametrize("held", [False, True], ids=["tuned", "held back"])
def test_most_changes_are_found_and_hardly_anything_else(held):
    precision, recall, false = judged([chat for chat in LABELLED if chat.held == held])
    assert precision >= 0.9
    assert recall >= 0.8
    assert false <= 0.02


@pytest.mark.parametrize("language", ["zh", "en", "mixed"])
def test_each_language_does_as_well(language):
    precision, recall, _ = judged([chat for chat in LABELLED if chat.name.startswith(language)])
    assert precision >= 0.9
    assert recall >= 0.7


@every_case("chat", [chat for chat in LABELLED if not chat.changes])
def test_a_chat_on_one_topic_has_no_change(chat):
    assert topic_changes(chat.turns, range(1, len(chat.turns))) == frozenset()


def test_it_is_in_the_words_and_not_in_what_announces_them():
    (chat,) = (chat for chat in LABELLED if chat.name.startswith("en: a job interview"))
    same = [
        [said(f"By the way, new topic: {_text(turn)}"), replied("ok")] for turn in chat.turns[:6]
    ]
    assert topic_changes(make_session(same * 2).turns, [6]) == frozenset()
    shuffled = [turn for pair in zip(chat.turns[:5], chat.turns[6:], strict=True) for turn in pair]
    assert topic_changes(shuffled, range(1, len(shuffled))) == frozenset()


def _text(turn):
    return " ".join(
        part.text for message in turn.messages for part in message.parts if isinstance(part, Text)
    )


def test_a_change_is_told_by_tools_too():
    """The person says the same little thing each time: files and results differ."""
    orders = ("total", "discount", "cart", "tax", "shipping", "coupon")
    avatars = ("resize", "crop", "thumbnail", "jpeg", "exif", "palette")
    turns = [_with_tool("shop/orders", orders, n) for n in range(6)]
    turns += [_with_tool("media/avatars", avatars, n) for n in range(6)]
    assert topic_changes(make_session(turns).turns, range(1, 12)) == {6}


def _with_tool(folder, things, number):
    one, two, three = (things[(number + step) % len(things)] for step in range(3))
    result = (
        f"def {one}_of(request):\n    {two} = read_{two}(request)\n    return apply_{one}({two}, "
        f"request.{three})"
    )
    chain = used(f"{folder}{number}", result, f'{{"path": "{folder}/{one}.py"}}')
    return [said("go on"), *chain, replied("Done.")]


def test_words_are_stems_parts_of_identifiers_and_pairs_of_characters():
    (turn,) = make_session(
        [
            [
                said("parseExpr in src/order_items.py 的番茄盆"),
                replied("The parser is ＦＩＸＥＤ 3 times"),
            ]
        ]
    ).turns
    assert topic_words(turn) == {
        "pars",
        "parser",
        "expr",
        "src",
        "order",
        "item",
        "py",
        "番茄",
        "茄盆",
        "fix",
        "tim",
    }


def test_two_vocabularies_gain_and_one_does_not():
    apples = [frozenset("abcdef"), frozenset("cdefgh"), frozenset("efghab")]
    boats = [frozenset("stuvwx"), frozenset("uvwxyz"), frozenset("wxyzst")]
    assert split_gain(apples, boats)[0] > 8
    assert split_gain(apples, apples)[0] < 0
    assert split_gain(apples, boats)[1] == 36
    assert split_gain([], apples)[0] == pytest.approx(0)
    assert split_gain([frozenset("a")], [frozenset("b")]) == (0.0, 0)


def test_words_that_every_turn_has_decide_nothing():
    apples, boats = [frozenset("abcdef")] * 3, [frozenset("uvwxyz")] * 3
    also = frozenset("0123456789")
    assert split_gain(
        [turn | also for turn in apples], [turn | also for turn in boats]
    ) == split_gain(apples, boats)


def test_words_that_come_once_decide_nothing():
    before = [frozenset({f"w{n}{k}" for k in range(40)}) for n in range(5)]
    after = [frozenset({f"v{n}{k}" for k in range(40)}) for n in range(5)]
    assert split_gain(before, after) == (0.0, 0)


def test_a_long_talk_that_moves_on_little_by_little_has_no_change():
    """Every turn brings ten new words and drops ten of its eighty."""
    names = [f"{''.join('bcdfghjkmp'[int(digit)] for digit in f'{n:03d}')}x" for n in range(300)]
    turns = [[said(" ".join(names[n * 10 : n * 10 + 80])), replied("ok")] for n in range(22)]
    assert topic_changes(make_session(turns).turns, range(1, 22)) == frozenset()
    ends = [*turns[:6], *turns[14:20]]
    assert topic_changes(make_session(ends).turns, range(1, 12)) == {6}


def test_only_the_turns_around_are_read():
    (chat,) = (chat for chat in LABELLED if chat.name.startswith("mixed: 番茄钟"))
    far = make_session(
        [[said(f"something about topic {n}"), replied("x" * n)] for n in range(40)]
    ).turns
    (place,) = chat.changes
    assert topic_changes((*far, *chat.turns, *far), [len(far) + place]) == {len(far) + place}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=14), st.data())
def test_whatever_is_said_a_change_is_one_of_the_cuts_and_the_same_each_time(texts, data):
    turns = make_session([[said(text), replied(text[::-1])] for text in texts]).turns
    cuts = data.draw(st.sets(st.integers(0, len(turns))))
    found = topic_changes(turns, cuts)
    assert found <= cuts & set(range(1, len(turns)))
    assert found == topic_changes(turns, sorted(cuts))
    assert found == {cut for cut in cuts if topic_changes(turns, [cut])}
