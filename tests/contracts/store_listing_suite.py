"""What any record keeps of the list of conversations: pages that miss and repeat nothing, and what has changed."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest

from memory.store.longterm.rows import AccountIdentity
from memory.store.store import Store
from tests.contracts.store_words import Record, arrival, place


async def listed(store: Store, limit: int, *, own: bool = False) -> list[list[str]]:
    """Chat ids, page by page."""
    pages, cursor = [], ""
    while True:
        rows, cursor = await store.sessions.page(cursor, limit, own=own)
        pages.append([row.place.chat_id for row in rows])
        if not cursor:
            return pages


class ListingSuite:
    async def test_pages_show_each_conversation_once_though_many_are_of_one_moment(self, record: Record) -> None:
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
        first, cursor = await store.sessions.page("", 2)
        record.now += 1
        await store.delivery.accept([arrival("again", at=place("c1")), arrival("new", at=place("c6"))])
        second, cursor = await store.sessions.page(cursor, 2)
        third, cursor = await store.sessions.page(cursor, 2)
        seen = [[row.place.chat_id for row in page] for page in (first, second, third)]
        assert seen == [["c5", "c4"], ["c3", "c2"], ["c0"]]
        assert cursor == ""
        moved = await store.sessions.changed(record.now - 0.5)
        assert {row.place.chat_id for row in moved} == {"c1", "c6"}
        assert len(await store.sessions.changed(record.now - 0.5, 1)) == 1

    async def test_the_owners_own_are_those_in_private_whatever_the_channel(self, record: Record) -> None:
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

    async def test_words_find_titles_and_of_other_peoples_private_chats_only_ids(self, record: Record) -> None:
        store = await record.open()
        told = {
            "c1": ("Green tea", "dm", ""),
            "c2": ("green TEA 100%_/", "group", "telegram:1:g"),
            "tea-9": ("x", "dm", "s"),
        }
        for chat, (text, kind, space) in {**told, "c4": ("tea that nobody may search", "dm", "s")}.items():
            record.now += 1
            at = replace(place(chat), kind=kind, space=space)
            await store.delivery.accept([arrival(chat, text, at=at)])

        async def found(words: str, limit: int = 10, cursor: str = "") -> list[str]:
            rows, _ = await store.sessions.page(cursor, limit, words=words)
            return [row.place.chat_id for row in rows]

        assert await found("tea") == ["tea-9", "c2", "c1"]
        assert await found("100%_/") == ["c2"]
        assert await found("%") == ["c2"]
        assert await found("a_1") == []
        _, cursor = await store.sessions.page("", 2, words="tea")
        assert await found("tea", cursor=cursor) == ["c1"]

    async def test_a_strange_cursor_is_refused(self, record: Record) -> None:
        store = await record.open()
        with pytest.raises(ValueError, match="cursor"):
            await store.sessions.page("no cursor")

    async def test_a_tag_finds_conversations_of_its_space_alone(self, record: Record) -> None:
        store = await record.open()
        places = [place("mine"), place("ann", "telegram", "ann"), place("bob", "telegram", "bob")]
        stored = await store.delivery.accept([arrival(at.chat_id, at=at) for at in places])
        mine, ann, bob = (row.conversation for row in stored)
        assert await store.sessions.tagged("", mine[-8:]) == [mine]
        assert await store.sessions.tagged("", ann[-8:]) == []
        assert await store.sessions.tagged("ann", bob[-8:]) == []
        maker, typist = (
            AccountIdentity(channel="telegram", account="a", sender_id=name, space=name) for name in ("ann", "bob")
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
