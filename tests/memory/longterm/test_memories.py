"""Each memory is once in the file and once in the store, through merges, contradictions, edits and
crashes.
"""

import asyncio
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import failpoints
from memory.longterm.memories import MemoryCandidate
from memory.longterm.memory_file import (
    MemoryEdit,
    MemoryFileUnreadable,
    MemoryLossRefused,
    MemoryRevision,
)
from memory.longterm.similarity import normalize_key
from memory.store.errors import StoreError
from memory.text.bullets import parse_bullets, remove_bullet
from memory.workspace.atomic_write import FileConflict
from tests.by_night import examples
from tests.memory.longterm.remembering import TEMPLATE, Place, facts, settled, wanted

# Literals, so that the product is not compared with itself.
HEADINGS = {
    "user_preference": "偏好 · Preferences",
    "project_context": "项目 · Projects",
    "skill": "技能 · Skills",
    "fact": "事实 · Facts",
}


def standing(place: Place) -> list[str]:
    return sorted(bullet.text for bullet in parse_bullets(place.text()))


async def test_seed_004_add_search_and_list(place: Place) -> None:
    memories = place.memories()
    row = await memories.add("user_preference", "用户喜欢使用 TypeScript", importance=7)
    await memories.add("fact", "女儿叫小雨")
    assert f"## {HEADINGS['user_preference']}\n\n- 用户喜欢使用 TypeScript\n" in place.text()
    found = await memories.search(
        "TypeScript", limit=3, min_similarity=0.6, category="user_preference"
    )
    assert [(one.row.id, one.similarity >= 0.6) for one in found] == [(row.id, True)]
    assert await memories.search("TypeScript", category="fact") == []
    assert await memories.search("好的") == []
    listed = await memories.list(limit=20, category="user_preference")
    assert [(one.text, one.importance, one.uses) for one in listed] == [
        ("用户喜欢使用 TypeScript", 7, 1)
    ]
    assert facts(await memories.list()) == ["女儿叫小雨", "用户喜欢使用 TypeScript"]


async def test_add_makes_a_line_of_its_own_but_never_the_same_one_twice(place: Place) -> None:
    memories = place.memories()
    await memories.add("fact", "用户住在柏林", importance=3)
    await memories.add("fact", "住在柏林", importance=4)
    await memories.add("fact", "用户住在 柏林。", importance=8)
    assert standing(place) == ["住在柏林", "用户住在柏林"]
    assert {row.text: row.importance for row in await memories.list()} == {
        "用户住在柏林": 8,
        "住在柏林": 4,
    }


@pytest.mark.parametrize("category", ["secret", ""])
async def test_an_unknown_category_or_nothing_is_refused_and_nothing_is_written(
    place: Place, category: str
) -> None:
    with pytest.raises(ValueError):
        await place.memories().add(category, "x")
    for content in (" \n", "x" * 10_001):
        with pytest.raises(ValueError):
            await place.memories().add("fact", content)
    assert place.text() == TEMPLATE
    assert await place.known("") == []


async def test_upsert_creates_then_leaves_alone_what_is_there(place: Place) -> None:
    memories = place.memories()
    first = await memories.upsert(wanted("The user lives in Berlin"))
    again = await memories.upsert(wanted("the user lives in berlin!", importance=9))
    assert (first.action, again.action) == ("created", "unchanged")
    assert (again.row.id, again.row.importance, again.row.source) == (
        first.row.id,
        9,
        first.row.source,
    )
    assert standing(place) == ["The user lives in Berlin"]
    assert len(await place.store.memories.changes("")) == 1


async def test_the_fuller_line_stays(place: Place) -> None:
    memories = place.memories()
    await memories.upsert(wanted("likes hiking in the high mountains of Austria", importance=8))
    done = await memories.upsert(
        wanted("likes hiking in the high mountains of Austria and often", importance=2)
    )
    assert (done.action, done.row.importance) == ("updated", 8)
    assert standing(place) == ["likes hiking in the high mountains of Austria and often"]
    assert facts(list(done.superseded)) == ["likes hiking in the high mountains of Austria"]
    assert facts(await place.store.memories.chain("", done.row.id)) == facts(list(done.superseded))


async def test_two_ways_to_say_it_stand_together_and_the_newer_alone_when_that_is_too_long(
    place: Place,
) -> None:
    memories = place.memories()
    await memories.upsert(wanted("我喜欢喝乌龙茶"))
    done = await memories.upsert(wanted("用户爱喝乌龙茶"))
    assert done.row.text == "我喜欢喝乌龙茶\n用户爱喝乌龙茶"
    assert "- 我喜欢喝乌龙茶\n  用户爱喝乌龙茶\n" in place.text()
    long = "爱喝乌龙茶" + "，".join(["喜欢乌龙茶"] * 330)
    other = place.memories("bob")
    await other.upsert(wanted(long, origin="person"))
    done = await other.upsert(wanted(f"用户{long}呢", origin="person"))
    assert done.row.text == f"用户{long}呢"


@pytest.mark.parametrize(
    ("one", "other"), [("喜欢咖啡", "不喜欢咖啡"), ("runs 5 km daily", "runs 10 km daily")]
)
async def test_contradictions_are_not_merged_and_a_replaced_line_leaves(
    place: Place, one: str, other: str
) -> None:
    memories = place.memories()
    old = await memories.upsert(wanted(one))
    assert facts(await memories.nearest(other)) == [one]
    both = await memories.upsert(wanted(other))
    assert (both.action, standing(place)) == ("created", sorted([one, other]))
    third = replace(
        wanted(f"{other} now", message="m2"), replaces=(normalize_key(one), normalize_key(other))
    )
    done = await memories.upsert(third)
    assert standing(place) == [f"{other} now"]
    assert sorted(facts(list(done.superseded))) == sorted([one, other])
    assert {row.id for row in await place.store.memories.chain("", done.row.id)} == {
        old.row.id,
        both.row.id,
    }
    assert all(row.valid_until for row in done.superseded)
    again = await memories.upsert(third)
    assert (again.action, again.row) == ("unchanged", done.row)


async def test_only_lines_of_the_same_category_are_merged(place: Place) -> None:
    memories = place.memories()
    await memories.upsert(wanted("用户在学日语", category="skill"))
    assert (await memories.upsert(wanted("正在学习日语", category="fact"))).action == "created"
    assert (await memories.upsert(wanted("用户在学日语。", category="fact"))).action == "unchanged"


async def test_I40_a_space_sees_and_changes_only_its_own_file(place: Place) -> None:
    await place.memories("bob").upsert(wanted("bob likes tea"))
    await place.memories().upsert(wanted("the owner likes tea"))
    assert facts(await place.memories("bob").list()) == ["bob likes tea"]
    assert [one.row.text for one in await place.memories().search("tea")] == ["the owner likes tea"]
    await place.memories("eve").remove(["bob likes tea"], "forget")
    assert "bob likes tea" in place.text("bob")


async def test_a_hand_edit_keeps_the_records_of_what_is_still_the_same(place: Place) -> None:
    memories = place.memories()
    for text in ("likes tea in the morning", "lives in Berlin", "has two cats"):
        await memories.upsert(wanted(text, message=text))
    edited = place.text().replace("likes tea in the morning", "Likes tea, in the mornings")
    edited = edited.replace("- lives in Berlin\n", "").replace(
        "## 技能 · Skills\n", "## 技能 · Skills\n- plays chess\n"
    )
    place.write(edited)
    rows = {row.text: row for row in await memories.list()}
    assert sorted(rows) == ["Likes tea, in the mornings", "has two cats", "plays chess"]
    assert rows["Likes tea, in the mornings"].source.message_id == "likes tea in the morning"
    assert (rows["plays chess"].origin, rows["plays chess"].category) == ("file", "skill")
    assert await place.known("gone") == ["lives in Berlin"]
    assert place.text() == edited


async def test_a_line_moved_under_another_heading_takes_its_category(place: Place) -> None:
    memories = place.memories()
    row = await memories.add("fact", "plays chess")
    place.write("## Skills\n\n- plays chess\n")
    [now] = await memories.list()
    assert (now.id, now.category) == (row.id, "skill")


@pytest.mark.parametrize("text", [None, "", "# nothing\n"])
async def test_a_file_that_is_gone_or_emptied_deletes_no_record(
    place: Place, text: str | None
) -> None:
    memories = place.memories()
    row = await memories.upsert(wanted("lives in Berlin"))
    held = place.text()
    place.path().unlink() if text is None else place.write(text)
    assert await memories.list() == []
    assert await place.known("gone") == ["lives in Berlin"]
    place.write(held)
    [back] = await memories.list()
    assert (back.id, back.source, back.created) == (row.row.id, row.row.source, row.row.created)


@pytest.mark.parametrize(
    "data", ["## Facts\n- 喜欢茶\n".encode("gbk"), "- a\n".encode("utf-16"), b"- caf\xe9\n"]
)
async def test_a_file_that_is_not_utf8_is_never_rewritten_and_says_nothing_of_the_records(
    place: Place, data: bytes
) -> None:
    memories = place.memories()
    await memories.upsert(wanted("lives in Berlin"))
    place.write(data)
    for act in (
        lambda: memories.upsert(wanted("x")),
        lambda: memories.add("fact", "x"),
        lambda: memories.remove(["x"], "forget"),
    ):
        with pytest.raises(MemoryFileUnreadable):
            await act()
    assert facts(await memories.list()) == ["lives in Berlin"]
    assert place.path().read_bytes() == data


async def test_a_byte_order_mark_and_windows_line_ends_stay(place: Place) -> None:
    place.write("\ufeff## Facts\r\n* a\r\n")
    await place.memories().add("fact", "b\nc")
    assert place.text() == "\ufeff## Facts\r\n* a\r\n* b\r\n  c\r\n"


async def test_no_write_halves_the_file_without_a_persons_word(place: Place) -> None:
    memories = place.memories()
    long = "lives in Berlin, in a house by the river with a garden and a boat"
    place.write(f"- {long}\n")
    with pytest.raises(MemoryLossRefused):
        await memories.apply(MemoryEdit(kind="dream", revise=lambda text: MemoryRevision(text="")))
    with pytest.raises(MemoryLossRefused):
        await memories.remove([normalize_key(long)], "tool", by_person=False)
    short = MemoryCandidate(
        category="fact", text="in Rome", origin="extraction", replaces=(normalize_key(long),)
    )
    place.write(f"- {long}\n" + "- x\n" * 3)
    await memories.upsert(replace(short, replaces=(normalize_key(long), "x")))
    assert place.text().startswith(f"- {long}\n")
    await memories.remove([normalize_key(long)], "forget")
    assert long not in place.text()


async def test_I44_the_record_of_a_forgetting_holds_no_words(place: Place) -> None:
    memories = place.memories()
    await memories.upsert(wanted("canary likes seeds"))
    [row] = await memories.remove([normalize_key("canary likes seeds")], "forget")
    [forgot, _] = await place.store.memories.changes("")
    assert (row.state, forgot.kind, forgot.added, forgot.removed, forgot.before) == (
        "gone",
        "forget",
        (),
        (),
        "",
    )


async def test_an_edit_is_recorded_with_what_it_brought_and_took(place: Place) -> None:
    memories = place.memories()
    await memories.add("fact", "one")
    before = place.text()
    change = await memories.apply(
        MemoryEdit(
            kind="dream",
            revise=lambda t: MemoryRevision(text=t.replace("one", "two")),
            about="d1",
            stores_previous=True,
        )
    )
    assert change
    assert (change.kind, change.about, change.added, change.removed) == (
        "dream",
        "d1",
        ("two",),
        ("one",),
    )
    assert change.before == before
    [row] = await memories.list()
    assert (row.text, row.origin) == ("two", "dream")
    assert (
        await memories.apply(MemoryEdit(kind="dream", revise=lambda t: MemoryRevision(text=t)))
        is None
    )


async def test_every_change_begins_where_the_one_before_ended(place: Place) -> None:
    memories = place.memories()
    for number in range(5):
        await memories.upsert(wanted(f"fact number {number} of {number * 7}"))
    newest_first = await place.store.memories.changes("")
    pairs = pairwise(newest_first)
    assert [new.before_sha256 for new, _ in pairs] == [old.after_sha256 for old in newest_first[1:]]


@pytest.mark.parametrize("spot", ["upsert.file_written", "upsert.in_txn", "upsert.committed"])
@pytest.mark.parametrize("looked_at", [False, True])
async def test_I22_what_a_crash_cuts_short_the_next_try_completes(
    place: Place, spot: str, looked_at: bool
) -> None:
    await place.memories().upsert(wanted("lives in Berlin", message="m0"))
    candidate = replace(wanted("lives in Munich"), replaces=(normalize_key("lives in Berlin"),))
    failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{spot}:raise"})
    try:
        with pytest.raises((failpoints.FailpointError, StoreError)):
            await place.memories().upsert(candidate)
    finally:
        failpoints.arm({})
    if looked_at:
        assert facts(await place.memories().list()) == ["lives in Munich"]
    done = await place.memories().upsert(candidate)
    assert standing(place) == ["lives in Munich"]
    assert (done.row.source, done.row.origin, done.row.state) == (
        candidate.source,
        "extraction",
        "live",
    )
    assert facts(await place.store.memories.chain("", done.row.id)) == ["lives in Berlin"]
    assert await place.known() == ["lives in Munich"]


async def test_two_keepers_of_one_file_lose_nothing(place: Place) -> None:
    keepers = [place.memories() for _ in range(3)]
    wishes = [wanted(f"item {number} costs {number * 13} euros") for number in range(12)]
    await asyncio.gather(*(keepers[at % 3].upsert(wish) for at, wish in enumerate(wishes)))
    assert standing(place) == sorted(wish.text for wish in wishes)
    assert await place.known() == standing(place)


ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["upsert", "replace", "remove", "hand add", "hand drop", "hand rewrite", "restart"]
        ),
        st.integers(0, 9),
    ),
    max_size=12,
)
WISHES = tuple(f"{name} weighs {number * 11 + 3} kilos" for number, name in enumerate("abcdefghij"))


@settings(max_examples=examples(45), deadline=None)
@given(ACTS)
def test_I23_whatever_the_order_no_line_of_a_person_is_lost_and_the_records_follow(
    acts: list[tuple[str, int]],
) -> None:
    asyncio.run(_interleaved(acts))


async def _interleaved(acts: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = await settled(Path(folder))
        memories, theirs = place.memories(), []
        for number, (act, which) in enumerate(acts):
            line = f"手写 {number}"
            match act:
                case "upsert":
                    await memories.upsert(wanted(WISHES[which]))
                case "replace":
                    old = normalize_key(WISHES[(which + 1) % 10])
                    await memories.upsert(replace(wanted(WISHES[which]), replaces=(old,)))
                case "remove":
                    await memories.remove([normalize_key(WISHES[which])], "forget")
                case "hand add":
                    theirs.append(line)
                    place.write(f"{place.text()}\n- {line}\n")
                case "hand drop" if found := [
                    b for b in parse_bullets(place.text()) if b.text in WISHES
                ]:
                    place.write(remove_bullet(place.text(), found[which % len(found)]))
                case "hand rewrite":
                    theirs.append(line)
                    place.write(f"{line}\r\n* {line}\r\n{place.text()}")
                case _:
                    memories = place.memories()
        assert all(line in place.text() for line in theirs)
        await memories.reconcile()
        assert await place.known() == sorted(
            {bullet.text for bullet in parse_bullets(place.text())}
        )
        await place.store.close()


async def test_I23_an_edit_made_while_we_think_is_kept(place: Place) -> None:
    memories = place.memories()
    tries = []

    def meanwhile(text: str) -> MemoryRevision:
        tries.append(text)
        if len(tries) < 3:
            place.write(f"{text}- by hand {len(tries)}\n")
        return MemoryRevision(text=f"{text}- by us\n")

    await memories.apply(MemoryEdit(kind="api", revise=meanwhile))
    assert standing(place) == ["by hand 1", "by hand 2", "by us"]
    assert await place.known() == ["by hand 1", "by hand 2", "by us"]


async def test_a_file_that_never_rests_is_given_up_with_an_error(place: Place) -> None:
    def meanwhile(text: str) -> MemoryRevision:
        place.write(f"{text}.")
        return MemoryRevision(text=f"{text}- by us\n")

    with pytest.raises(OSError, match="faster") as caught:
        await place.memories().apply(MemoryEdit(kind="api", revise=meanwhile))
    assert not isinstance(caught.value, FileConflict)
    assert "by us" not in place.text()
