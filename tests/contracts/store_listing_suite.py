"""What any record keeps of the list of conversations: pages that miss and repeat nothing, and what
has changed.
"""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest

from memory.store.automation.approvals import NewApproval
from memory.store.console.conversation_list import ListFilter, StaleChoice, choice_tag
from memory.store.console.line_details import LineFile
from memory.store.errors import WrongState
from memory.store.longterm.rows import AccountIdentity
from memory.store.longterm.views import RecalledPlace, ViewBatch
from memory.store.rows import NewOutboxRow, Notice, Party
from memory.store.store import Store
from tests.contracts.store_words import (
    SPENT,
    Record,
    arrival,
    call,
    place,
    reply,
    results,
    talk,
    words,
)


async def listed(store: Store, limit: int, *, own: bool = False) -> list[list[str]]:
    """Chat ids, page by page."""
    pages, cursor = [], ""
    while True:
        rows, cursor = await store.conversations.page(cursor, limit, own=own)
        pages.append([row.place.chat_id for row in rows])
        if not cursor:
            return pages


class ListingSuite:
    async def test_pages_show_each_conversation_once_though_many_are_of_one_moment(
        self, record: Record
    ) -> None:
        store = await record.open()
        chats = [f"chat-{number:03d}" for number in range(7)]
        await store.delivery.accept([arrival(chat, at=place(chat)) for chat in chats])
        record.now += 1
        await store.delivery.accept([arrival("later", at=place("later"))])
        pages = await listed(store, 3)
        assert [len(page) for page in pages] == [3, 3, 2]
        assert pages[0][0] == "later"
        assert sorted(chain(*pages)) == [*chats, "later"]
        assert sorted(chain(*await listed(store, 8))) == [*chats, "later"]
        assert [len(page) for page in await listed(store, 7)] == [7, 1]

    async def test_what_arrives_between_two_pages_makes_nothing_else_vanish_or_stand_twice(
        self, record: Record
    ) -> None:
        store = await record.open()
        for number in range(6):
            record.now += 1
            await store.delivery.accept([arrival(f"k{number}", at=place(f"c{number}"))])
        first, cursor = await store.conversations.page("", 2)
        record.now += 1
        await store.delivery.accept(
            [arrival("again", at=place("c1")), arrival("new", at=place("c6"))]
        )
        second, cursor = await store.conversations.page(cursor, 2)
        third, cursor = await store.conversations.page(cursor, 2)
        seen = [[row.place.chat_id for row in page] for page in (first, second, third)]
        assert seen == [["c5", "c4"], ["c3", "c2"], ["c0"]]
        assert cursor == ""
        moved = await store.conversations.changed(record.now - 0.5)
        assert {row.place.chat_id for row in moved} == {"c1", "c6"}
        assert len(await store.conversations.changed(record.now - 0.5, 1)) == 1

    async def test_the_owners_own_are_those_in_private_whatever_the_channel(
        self, record: Record
    ) -> None:
        store = await record.open()
        others = [
            place("web"),
            place("mine", "telegram"),
            place("ann", "telegram", "telegram-ann"),
            replace(place("group", "telegram", "telegram-group-g"), kind="group"),
        ]
        await store.delivery.accept([arrival(at.chat_id, at=at) for at in others])
        assert sorted(chain(*await listed(store, 1, own=True))) == ["mine", "web"]
        assert sorted(chain(*await listed(store, 9))) == ["ann", "group", "mine", "web"]

    async def test_words_find_titles_and_of_other_peoples_private_chats_only_ids(
        self, record: Record
    ) -> None:
        store = await record.open()
        told = {
            "c1": ("Green tea", "dm", ""),
            "c2": ("green TEA 100%_/", "group", "telegram:1:g"),
            "tea-9": ("x", "dm", "s"),
        }
        for chat, (text, kind, space) in {
            **told,
            "c4": ("tea that nobody may search", "dm", "s"),
        }.items():
            record.now += 1
            at = replace(place(chat), kind=kind, space=space)
            await store.delivery.accept([arrival(chat, text, at=at)])

        async def found(words: str, limit: int = 10, cursor: str = "") -> list[str]:
            rows, _ = await store.conversations.page(cursor, limit, words=words)
            return [row.place.chat_id for row in rows]

        assert await found("tea") == ["tea-9", "c2", "c1"]
        assert await found("100%_/") == ["c2"]
        assert await found("%") == ["c2"]
        assert await found("a_1") == []
        _, cursor = await store.conversations.page("", 2, words="tea")
        assert await found("tea", cursor=cursor) == ["c1"]

    async def test_a_strange_cursor_is_refused(self, record: Record) -> None:
        store = await record.open()
        with pytest.raises(ValueError, match="cursor"):
            await store.conversations.page("no cursor")

    async def test_a_tag_finds_conversations_of_its_space_alone(self, record: Record) -> None:
        store = await record.open()
        places = [place("mine"), place("ann", "telegram", "ann"), place("bob", "telegram", "bob")]
        stored = await store.delivery.accept([arrival(at.chat_id, at=at) for at in places])
        mine, ann, bob = (row.conversation for row in stored)
        assert await store.sessions.tagged("", mine[-8:]) == [mine]
        assert await store.sessions.tagged("", ann[-8:]) == []
        assert await store.sessions.tagged("ann", bob[-8:]) == []
        maker, typist = (
            AccountIdentity(channel="telegram", account="a", sender_id=name, space=name)
            for name in ("ann", "bob")
        )
        at = datetime.fromtimestamp(record.now, UTC)
        await store.links.make_code("code", maker, "c1", at + timedelta(minutes=10))
        held = await store.links.type_code("code", typist, "Bob", "c2", at)
        assert held
        assert await store.links.agree(held.id)
        assert await store.links.settle(held.id, join=True)
        assert await store.sessions.tagged("ann", bob[-8:]) == [bob]

    async def test_a_conversation_is_named_by_its_person_or_its_chat(self, record: Record) -> None:
        store = await record.open()
        group = replace(place("g1", "telegram", "telegram-group-g1"), kind="group", thread_id="7")
        named = json.dumps({"text": "hello", "name": "Li Wei"})
        stored = await store.delivery.accept(
            [
                arrival("k1", at=place("c1")),
                replace(arrival("k2", at=place("881", "telegram")), body=named),
                replace(arrival("k3", at=group), body=named),
            ]
        )
        names = [await store.sessions.name(row.conversation) for row in stored]
        assert [(one.channel, one.chat, one.person, one.is_unique) for one in names if one] == [
            ("web", "c1", "", True),
            ("telegram", "881", "Li Wei", True),
            ("telegram", "g1/7", "", True),
        ]
        await store.delivery.accept([arrival("k4", at=place("882", "telegram"))])
        again = await store.sessions.name(stored[1].conversation)
        assert again
        assert not again.is_unique
        assert await store.sessions.name("unknown") is None

    async def test_pinned_ones_are_first_on_every_page_and_archived_ones_apart(
        self, record: Record
    ) -> None:
        store = await record.open()
        ids = {}
        for number in range(5):
            record.now += 1
            [row] = await store.delivery.accept(
                [arrival(f"k{number}", f"talk {number}", at=place(f"c{number}"))]
            )
            ids[f"c{number}"] = row.conversation
        record.now += 1
        await store.delivery.accept([arrival("k9", at=place("ann", "telegram", "s"))])
        for chat, chosen in {
            "c1": {"pinned": True},
            "c3": {"pinned": True, "title": "Mine"},
            "c0": {"archived": True},
        }.items():
            row = await store.sessions.conversation(ids[chat])
            assert row
            await store.conversations.choose(row.id, choice_tag(row), **chosen)  # type: ignore[arg-type]

        async def paged(limit: int, **wanted: Any) -> list[list[str]]:
            pages, cursor = [], ""
            while True:
                rows, cursor = await store.conversations.pinned_page(
                    cursor, limit, ListFilter(**wanted)
                )
                pages.append([row.place.chat_id for row in rows])
                if not cursor:
                    return pages

        whole = ["c3", "c1", "ann", "c4", "c2"]
        for limit in (1, 2, 3, 5, 6):
            assert list(chain(*await paged(limit))) == whole
        assert await paged(9, state="archived") == [["c0"]]
        assert await paged(9, words="mine") == [["c3"]]
        assert await paged(9, channel="telegram", person="ann") == [["ann"]]
        assert await paged(9, channel="web", person="ann") == [[]]
        with pytest.raises(ValueError, match="cursor"):
            await store.conversations.pinned_page("1.0_-")

    async def test_a_choice_over_an_older_one_is_refused_and_names_the_present(
        self, record: Record
    ) -> None:
        store = await record.open()
        [stored] = await store.delivery.accept([arrival()])
        row = await store.sessions.conversation(stored.conversation)
        assert row
        record.now += 10
        changed = await store.conversations.choose(row.id, choice_tag(row), title="x" * 201)
        assert changed.own_title == "x" * 200
        assert {one.id for one in await store.conversations.changed(record.now - 1)} == {row.id}
        with pytest.raises(StaleChoice) as refused:
            await store.conversations.choose(row.id, choice_tag(row), title="other")
        assert refused.value.tag == choice_tag(changed)
        with pytest.raises(LookupError):
            await store.conversations.choose("nowhere", choice_tag(row))

    async def test_lines_are_unread_until_they_are_seen(self, record: Record) -> None:
        store = await record.open()
        id = await talk(store, "1", "2")

        async def unread() -> list[str]:
            rows, _ = await store.conversations.pinned_page("", 9, ListFilter(state="unread"))
            return [row.id for row in rows]

        assert await unread() == [id]
        assert await store.conversations.mark_seen(id, 3)
        assert await unread() == [id]
        assert await store.conversations.mark_seen(id, 99)
        assert not await store.conversations.mark_seen(id, 2)
        assert await unread() == []
        await talk(store, "3")
        assert await unread() == [id]

    async def test_a_deletion_can_be_taken_back_for_ten_seconds_and_is_then_done_with_its_receipt(
        self, record: Record
    ) -> None:
        store = await record.open()
        id = await talk(store, "1")
        for take_back in (True, False):
            row = await store.sessions.conversation(id)
            assert row
            asked = await store.conversations.ask_deletion(id, choice_tag(row), "web")
            assert [row.id for row in (await store.conversations.pinned_page())[0]] == []
            assert [row.id for row in (await store.conversations.page())[0]] == []
            assert await store.conversations.deletions() == [(id, asked.deleting, False)]
            assert await store.conversations.finish_deletion(id) == "gone"  # not yet
            if take_back:
                kept = await store.conversations.take_back_deletion(id, "web")
                assert kept
                assert not kept.deleting
                record.now += 11
                assert await store.conversations.finish_deletion(id) == "gone"
                assert await store.sessions.messages(id)
        record.now += 11
        assert await store.conversations.finish_deletion(id, "web") == "deleted"
        assert await store.sessions.conversation(id) is None
        assert await store.conversations.take_back_deletion(id) is None
        acts = [row.result for row in await store.audit.acts(9) if row.action == "delete"]
        assert sorted(acts) == ["asked", "asked", "deleted", "taken back"]

    async def test_what_is_written_to_while_it_is_being_deleted_stays(self, record: Record) -> None:
        store = await record.open()
        id = await talk(store, "1")
        row = await store.sessions.conversation(id)
        assert row
        await store.conversations.ask_deletion(id, choice_tag(row))
        record.now += 5
        await store.delivery.accept([arrival("2", at=place())])
        record.now += 6
        assert await store.conversations.finish_deletion(id) == "kept"
        assert [row.id for row in (await store.conversations.pinned_page())[0]] == [id]

    async def test_a_branch_has_what_was_said_before_a_message_since_the_last_clear(
        self, record: Record
    ) -> None:
        store = await record.open()
        origin = await talk(store, "before the clear")
        assert await store.sessions.clear(origin)
        for text in ("one", "two", "three"):
            record.now += 1
            await talk(store, text)
        asked = next(
            line for line in await store.sessions.lines(origin) if line.text == "question three"
        )
        there = replace(place("branch"), space="")
        notice = NewOutboxRow(kind="notice", text="a branch", part_no=0, parts=1)
        id = await store.sessions.branch_conversation(origin, asked.id, there, notice)
        lines = await store.sessions.lines(id)
        said = [line.text for line in lines if line.role == "user"]
        assert said == ["question one", "question two"]
        assert lines[-1].text == "a branch"
        found = (await store.line_details.details(id, 1, lines[-1].number))[lines[-1].id]
        assert (found.branched_from, found.branched_turn) == (origin, 4)
        row = await store.sessions.conversation(id)
        assert row is not None
        assert row.own_title.startswith("↳ ")
        assert await store.folds.check_ledger() == []
        first = next(
            line for line in await store.sessions.lines(origin) if line.text == "question one"
        )
        empty = await store.sessions.branch_conversation(
            origin, first.id, replace(place("empty"), space=""), notice
        )
        assert [line.text for line in await store.sessions.lines(empty)] == ["a branch"]
        with pytest.raises(WrongState):
            await store.sessions.branch_conversation(origin, asked.id, there, notice)
        with pytest.raises(LookupError):
            await store.sessions.branch_conversation(
                origin, "nothing", replace(place("x"), space=""), notice
            )

    async def test_the_days_of_a_conversation_begin_at_midnight_of_the_reader(
        self, record: Record
    ) -> None:
        store = await record.open()
        first = 1_800_000_000.0 - 1_800_000_000 % 86_400 + 23 * 3_600
        record.now = first
        conversation = await talk(store, "evening")
        lines = await store.sessions.lines(conversation)
        assert [day.line for day in await store.line_details.days(conversation, 0)] == [1]
        record.now = first + 2 * 3_600
        await talk(store, "night")
        found = await store.line_details.days(conversation, 0)
        assert [(day.line, day.at.timestamp()) for day in found] == [
            (1, first),
            (len(lines) + 1, first + 2 * 3_600),
        ]
        assert len(await store.line_details.days(conversation, 2 * 3_600)) == 1

    async def test_a_question_for_an_approval_is_named_beside_its_line(
        self, record: Record
    ) -> None:
        store = await record.open()
        conversation = await talk(store, "k")
        party = Party(channel="web", account="a", subject="user", id="1")
        asked = NewApproval(
            party=party,
            conversation=conversation,
            space="",
            call="t:c",
            action="exec",
            tool="exec",
            arguments="{}",
            code_sha256="x",
            press_sha256="y",
            expires=datetime.fromtimestamp(record.now, UTC) + timedelta(minutes=5),
        )
        extras = json.dumps({"buttons": [], "code": "ABCD2345"})
        parts = [
            NewOutboxRow(kind="notice", text="$ ls", part_no=0, parts=2),
            NewOutboxRow(kind="notice", text="yes?", part_no=1, parts=2, payload=extras),
        ]
        notice = Notice(conversation=conversation, source="approval:t:c", out=parts)
        row = await store.access.ask(asked, [notice])
        assert await store.access.codes([row]) == {row.id: "ABCD2345"}
        last = (await store.sessions.lines(conversation))[-1]
        details = await store.line_details.details(conversation, 1, last.number)
        asking = {id: one.approval_state for id, one in details.items() if one.approval == row.id}
        assert asking == {last.id: "asked"}
        await store.access.move(row.id, "asked", "denied")
        details = await store.line_details.details(conversation, 1, last.number)
        assert details[last.id].approval_state == "denied"

    async def test_beside_a_line_are_its_files_and_beside_an_answer_its_steps_and_tokens(
        self, record: Record
    ) -> None:
        store = await record.open()
        file = ["a" * 64, "tea.png", "image/png", 7, ""]
        body = json.dumps({"text": 'see "this"', "files": [file]})
        [stored] = await store.delivery.accept([replace(arrival(), body=body)])
        turn = await store.delivery.claim(stored.id, words("see this"), "u1")
        recalled = ViewBatch(recalled=(RecalledPlace(path="MEMORY.md", line=3, last=4),))
        planned = await store.sessions.add_step(
            turn, reply("looking"), [call("1"), call("2")], SPENT, recalled
        )
        await store.sessions.start_calls(planned)
        record.now += 2
        result = replace(results(*planned, text="r" * 1_001), tainted=True)
        await store.sessions.end_calls(turn, [(one, "done") for one in planned], result)
        out = [
            NewOutboxRow(kind="final", text="100%_ found", part_no=0, parts=2),
            NewOutboxRow(
                kind="media",
                text="",
                part_no=1,
                parts=2,
                payload=json.dumps(
                    {"sha256": "b" * 64, "name": "p.png", "media_type": "image/png"}
                ),
            ),
        ]
        assert await store.delivery.finish(turn, "done", reply("100%_ found"), out, [SPENT])
        await talk(store, "next")
        asked, answer, media, *_ = await store.sessions.lines(stored.conversation)
        id, lines = stored.conversation, store.line_details
        found = await lines.details(id, 1, 3)
        assert found[asked.id].files == (
            LineFile(sha256="a" * 64, name="tea.png", media_type="image/png", size=7),
        )
        assert (found[answer.id].steps, found[answer.id].turn) == (2, 1)
        assert found[answer.id].recalled == (RecalledPlace(path="MEMORY.md", line=3, last=4),)
        [spent] = found[answer.id].usage
        assert (spent.input, spent.output) == (200, 20)
        assert found[media.id].files[0].name == "p.png"
        assert await lines.details(id, 2, 2) == {answer.id: found[answer.id]}

        steps = await lines.steps(id, answer.id)
        assert steps == await lines.steps(id, asked.id)
        assert steps
        assert [(step.tool, step.state, round(step.seconds), step.tainted) for step in steps] == [
            ("look", "done", 2, True)
        ] * 2
        assert (len(steps[0].result), steps[0].characters) == (1_000, 1_001)
        assert await lines.steps(id, "nothing") is None
        assert await lines.steps("elsewhere", answer.id) is None

        assert await lines.file(id, asked.id, "a" * 64)
        assert await lines.file(id, media.id, "b" * 64)
        assert await lines.file(id, asked.id, "b" * 64) is None
        assert await lines.file("elsewhere", asked.id, "a" * 64) is None

        assert await lines.number(id, media.id) == media.number
        assert await lines.number(id, "turn-2") == 4
        assert await lines.number(id, "turn-9") == await lines.number(id, "no") == 0
        for text, ids in {
            '"THIS"': [asked.id],
            "100%_": [answer.id],
            "files": [],
            "%": [answer.id],
        }.items():
            assert [row.id for row in await lines.search(id, text, 99, 5)] == ids
        assert [row.text for row in await lines.search(id, "e", 99, 2)] == [
            "answer next",
            "question next",
        ]
