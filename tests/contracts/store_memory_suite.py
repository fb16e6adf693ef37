"""What every store must do with what is known of memory: lines, what took their place, changes of
files.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from memory.store.longterm.rows import (
    MemoryPage,
    MemoryRow,
    MemorySource,
    NewMemory,
    NewMemoryChange,
)
from memory.store.store import Store
from tests.contracts.store_words import Record, folded, talk

SAID = MemorySource(
    conversation="c",
    message_id="m1",
    channel="web",
    quote="我喜欢茶",
    said=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
)


def line(
    text: str,
    *,
    importance: int = 5,
    source: MemorySource = MemorySource(),  # noqa: B008
    category: str = "fact",  # noqa: B008, RUF100
) -> NewMemory:  # noqa: B008, RUF100
    return NewMemory(
        norm=text.casefold(),
        category=category,
        text=text,
        importance=importance,
        origin="extraction",
        source=source,
    )


def change(was: str, became: str, **more: str) -> NewMemoryChange:
    return NewMemoryChange(
        path="MEMORY.md",
        kind="extract",
        before_sha256=was,
        after_sha256=became,
        added=("Tea",),
        **more,
    )


def texts(rows: list[MemoryRow]) -> list[str]:
    return [row.text for row in rows]


class MemoryRecordSuite:
    async def test_a_line_is_kept_with_all_that_is_known_of_it(self, record: Record) -> None:
        store = await record.open()
        [row] = await store.memories.put(
            "bob", change("", "1"), [line("Tea", importance=7, source=SAID)]
        )
        assert (row.space, row.norm, row.text, row.importance) == ("bob", "tea", "Tea", 7)
        assert (row.state, row.origin, row.source, row.uses, row.used) == (
            "live",
            "extraction",
            SAID,
            0,
            None,
        )
        store = await record.open()
        assert await store.memories.row("bob", "tea") == row
        assert await store.memories.rows("bob") == [row]
        [noted] = await store.memories.changes("bob")
        assert (noted.added, noted.removed, noted.before_sha256, noted.after_sha256) == (
            ("Tea",),
            (),
            "",
            "1",
        )

    async def test_I40_nothing_of_one_space_is_seen_or_changed_from_another(
        self, record: Record
    ) -> None:
        store = await record.open()
        [row] = await store.memories.put("bob", change("", "1"), [line("Tea", source=SAID)])
        for other in ("", "bo", "bobby", "BOB"):
            assert await store.memories.rows(other, state="") == []
            assert await store.memories.row(other, "tea") is None
            assert await store.memories.chain(other, row.id) == []
            assert await store.memories.changes(other) == []
            await store.memories.put(other, None, gone=["tea"], superseded=[("tea", "tea")])
            await store.memories.rename(other, [("tea", line("Coffee"))])
            await store.memories.count_uses(other, ["tea"])
            await store.memories.undo_change(other, (await store.memories.changes("bob"))[0].id)
        assert await store.memories.rows("bob", state="") == [row]
        assert not (await store.memories.changes("bob"))[0].undone

    async def test_a_page_is_of_one_space_filtered_and_goes_on_where_the_last_ended(
        self, record: Record
    ) -> None:
        store = await record.open()
        for text, importance in (("Tea 100%", 9), ("喜欢乌龙茶", 3), ("Coffee", 5)):
            await store.memories.put("bob", change("", text), [line(text, importance=importance)])
        await store.memories.put("bob", None, gone=["coffee"])

        async def page(space: str = "bob", limit: int = 9, **wanted: Any) -> list[str]:
            return texts(await store.memories.page(space, MemoryPage(**wanted), limit))

        rows = sorted(await store.memories.rows("bob"), key=lambda row: row.id, reverse=True)
        assert set(texts(rows)) == {"喜欢乌龙茶", "Tea 100%"}
        assert await store.memories.page("bob", MemoryPage(), 9) == rows
        assert await store.memories.page("bob", MemoryPage(), 1) == rows[:1]
        assert await store.memories.page("bob", MemoryPage(before=rows[0].id), 9) == rows[1:]
        assert await page(former=True) == ["Coffee"]
        assert await page(words="TEA", norm="tea") == ["Tea 100%"]
        assert await page(words="乌龙", norm="乌龙") == ["喜欢乌龙茶"]
        assert await page(words="0_", norm="0_") == []
        assert await page(importance=4) == ["Tea 100%"]
        assert await page(category="skill") == []
        assert await page("") == []
        first = rows[0]
        assert await store.memories.by_id("bob", first.id) == first
        assert await store.memories.by_id("", first.id) is None
        await store.memories.set_importance("bob", first.norm, 10)
        assert await page(importance=10) == [first.text]

    async def test_a_second_time_changes_nothing(self, record: Record) -> None:
        store = await record.open()
        for _ in range(2):
            await store.memories.put("", change("", "0"), [line("Coffee", source=SAID)])
            record.now += 60
        first = []
        for _ in range(2):
            await store.memories.put(
                "", change("0", "1"), [line("Tea", source=SAID)], [("coffee", "tea")], ["milk"]
            )
            first.append(
                (await store.memories.rows("", state=""), await store.memories.changes(""))
            )
            record.now += 60
        assert first[0] == first[1]

    async def test_the_greater_importance_and_the_first_source_stay(self, record: Record) -> None:
        store = await record.open()
        later = replace(SAID, message_id="m2", quote="later")
        await store.memories.put("", None, [replace(line("Tea", importance=8), origin="file")])
        await store.memories.put("", None, [line("TEA", importance=3, source=SAID)])
        [row] = await store.memories.put("", None, [line("Tea", importance=4, source=later)])
        assert (row.importance, row.source, row.origin, row.text) == (8, SAID, "extraction", "Tea")

    async def test_what_took_a_lines_place_is_known_through_all_its_forms(
        self, record: Record
    ) -> None:
        store = await record.open()
        await store.memories.put("", None, [line("one")])
        await store.memories.count_uses("", ["one"])
        for old, new in (("one", "two"), ("two", "three")):
            record.now += 60
            await store.memories.put("", None, [line(new)], [(old, new)])
        [row] = await store.memories.rows("")
        assert (row.text, row.uses) == ("three", 1)
        chain = await store.memories.chain("", row.id)
        assert [(old.text, old.state, old.superseded_by) for old in chain] == [
            ("two", "superseded", row.id),
            ("one", "superseded", chain[0].id),
        ]
        assert chain[0].valid_until == datetime.fromtimestamp(record.now, UTC)

    async def test_a_line_that_was_found_missing_before_its_heir_was_noted_is_superseded(
        self, record: Record
    ) -> None:
        store = await record.open()
        await store.memories.put("", None, [line("old")])
        await store.memories.put("", None, [replace(line("new"), origin="file")], gone=["old"])
        await store.memories.put("", None, [line("new", source=SAID)], [("old", "new")])
        [row] = await store.memories.rows("")
        assert row.source == SAID
        assert texts(await store.memories.chain("", row.id)) == ["old"]

    async def test_a_line_that_comes_back_has_its_record_back(self, record: Record) -> None:
        store = await record.open()
        [row] = await store.memories.put("", None, [line("Tea", source=SAID)])
        await store.memories.put("", None, gone=["tea"])
        gone = await store.memories.row("", "tea")
        assert gone
        assert (gone.id, gone.state, gone.source) == (row.id, "gone", SAID)
        [back] = await store.memories.put("", None, [line("Tea")])
        assert (back.id, back.state, back.source, back.valid_until) == (row.id, "live", SAID, None)

    async def test_a_renamed_line_keeps_its_record(self, record: Record) -> None:
        store = await record.open()
        [row] = await store.memories.put("", None, [line("Tea", importance=9, source=SAID)])
        await store.memories.rename(
            "", [("tea", line("Green tea", category="skill")), ("nothing", line("x"))]
        )
        [now] = await store.memories.rows("")
        assert (now.id, now.text, now.norm, now.category) == (
            row.id,
            "Green tea",
            "green tea",
            "skill",
        )
        assert (now.importance, now.source) == (9, SAID)

    async def test_two_lines_that_became_one_leave_one_live_record(self, record: Record) -> None:
        store = await record.open()
        await store.memories.put("", None, [line("Tea"), line("Green tea")])
        await store.memories.rename("", [("tea", line("Green tea"))])
        assert texts(await store.memories.rows("")) == ["Green tea"]
        assert texts(await store.memories.rows("", state="gone")) == ["Tea"]

    async def test_lists_are_newest_first_and_kept_short(self, record: Record) -> None:
        store = await record.open()
        await store.memories.put("", None, [line("a"), line("b", category="skill"), line("c")])
        record.now += 1
        await store.memories.put("", None, [line("d")])
        assert texts(await store.memories.rows("")) == ["d", "c", "b", "a"]
        assert texts(await store.memories.rows("", limit=2)) == ["d", "c"]
        assert texts(await store.memories.rows("", category="skill")) == ["b"]

    async def test_uses_are_counted_for_live_lines(self, record: Record) -> None:
        store = await record.open()
        await store.memories.put("", None, [line("a"), line("b")])
        await store.memories.put("", None, gone=["b"])
        record.now += 5
        await store.memories.count_uses("", ["a", "b", "unknown"])
        await store.memories.count_uses("", [])
        uses = {row.text: (row.uses, row.used) for row in await store.memories.rows("", state="")}
        assert uses == {"a": (1, datetime.fromtimestamp(record.now, UTC)), "b": (0, None)}

    async def test_changes_keep_their_order_and_one_can_be_taken_back(self, record: Record) -> None:
        store = await record.open()
        for before, after in (("", "1"), ("1", "2"), ("1", "2"), ("2", "1")):
            await store.memories.put("", change(before, after, before="text", about="dream"))
        changes = await store.memories.changes("")
        assert [one.after_sha256 for one in changes] == ["1", "2", "1"]
        assert (changes[0].before, changes[0].about) == ("text", "dream")
        await store.memories.undo_change("", changes[1].id)
        assert [one.undone for one in await store.memories.changes("")] == [False, True, False]
        assert len(await store.memories.changes("", limit=2)) == 2

    async def test_the_source_is_found_in_its_own_space(self, record: Record) -> None:
        store: Store = await record.open()
        session = await store.sessions.load(await talk(store, "I like tea"))
        message = session.turns[0].messages[0]
        assert await store.memories.source("", message.id) == message
        assert await store.memories.source("bob", message.id) is None
        assert await store.memories.source("", "unknown") is None

    async def test_what_held_at_a_moment_is_known_also_in_its_former_wording(
        self, record: Record
    ) -> None:
        store = await record.open()
        began = record.now

        async def held(days: float) -> list[str]:
            moment = datetime.fromtimestamp(began + days * 86_400, UTC)
            return sorted(texts(await store.memories.as_of("", moment, 10)))

        def pass_days(days: int) -> None:
            record.now = began + days * 86_400

        await store.memories.put("", None, [line("tea"), line("bread")])
        pass_days(2)
        await store.memories.put("", None, [line("coffee")], [("tea", "coffee")])
        pass_days(4)
        await store.memories.rename("", [("bread", line("Rye bread"))])
        pass_days(6)
        await store.memories.put("", None, gone=["rye bread"])
        pass_days(8)
        await store.memories.put("", None, [line("Rye bread")])
        assert [await held(days) for days in (0, 1, 3, 5, 7, 9)] == [
            [],
            ["bread", "tea"],
            ["bread", "coffee"],
            ["Rye bread", "coffee"],
            ["coffee"],
            ["Rye bread", "coffee"],
        ]
        assert await store.memories.as_of("bob", datetime.fromtimestamp(record.now, UTC), 10) == []
        assert len(await store.memories.as_of("", datetime.fromtimestamp(began + 1, UTC), 1)) == 1
        everything = texts(await store.memories.rows("", state=""))
        assert sorted(everything) == ["Rye bread", "coffee", "tea"], "a wording is no line"

    async def test_what_replaced_the_fact_of_a_message_or_a_fold_is_found(
        self, record: Record
    ) -> None:
        store = await record.open()
        conversation = await talk(store, "I like tea", "And now?")
        message = (await store.sessions.load(conversation)).turns[0].messages[0]
        source = replace(SAID, message_id=message.id)
        await store.memories.put("", None, [line("tea", source=source)])
        fold = await folded(store, conversation, 1)
        memories = store.memories
        asked = ([""], [message.id], [fold.id], ["coffee"])
        assert (await memories.histories(*asked)).replaced == ()
        await memories.put("", None, [line("coffee")], [("tea", "coffee")])
        known = await memories.histories(*asked)
        assert {(fact.fold, fact.text, fact.newer) for fact in known.replaced} == {
            ("", "tea", "coffee"),
            (fold.id, "tea", "coffee"),
        }
        assert [(one.norm, one.former) for one in known.lines] == [("coffee", "tea")]
        await memories.put("", None, [line("cocoa")], [("coffee", "cocoa")])
        known = await memories.histories(*asked)
        assert {fact.newer for fact in known.replaced} == {"cocoa"}
        await memories.put("", None, gone=["cocoa"])
        assert (await memories.histories(*asked)).replaced == (), "no line is in force"
        assert (await memories.histories(["bob"], *asked[1:])).replaced == ()
