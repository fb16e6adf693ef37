"""Linked accounts: whose memory a conversation uses, how accounts are linked and unlinked, and what
is refused.
"""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Text
from memory.store.audit import find_broken_seq
from memory.store.longterm.links import AccountLinks, lock_end
from memory.store.longterm.rows import AccountIdentity, LinkRow
from memory.store.store import Store
from tests.contracts.store_words import begin, folded, oldest, parts, reply, talk
from tests.memory.store.conftest import SqliteRecord

# Literals, so that the product is not compared with itself.
MOST_WRONG = 5
LOCKED_FOR = timedelta(hours=1)

NEVER = timedelta(minutes=10)


def account(name: str, space: str | None = None) -> AccountIdentity:
    return AccountIdentity(
        channel="chat", account="bot", sender_id=name, space=name if space is None else space
    )


def at(record: SqliteRecord) -> datetime:
    return datetime.fromtimestamp(record.now, UTC)


@pytest.fixture
async def store(record: SqliteRecord) -> Store:
    return await record.open()


class Joining:
    """The steps of a link as short methods."""

    def __init__(self, store: Store, record: SqliteRecord) -> None:
        self.links = AccountLinks(store.database)
        self._record = record

    async def typed(
        self, maker: AccountIdentity, typist: AccountIdentity, code: str = "code"
    ) -> str:
        """Make and type a code; return the id of its row, "" when it was refused."""
        await self.links.make_code(code, maker, f"of {maker.sender_id}", at(self._record) + NEVER)
        held = await self.links.type_code(
            code, typist, "a name", f"of {typist.sender_id}", at(self._record)
        )
        return held.id if held else ""

    async def join(
        self, maker: AccountIdentity, typist: AccountIdentity, code: str = "code"
    ) -> LinkRow | None:
        held = await self.typed(maker, typist, code)
        return await self.links.settle(held, join=True) if await self.links.agree(held) else None


@pytest.fixture
def joining(store: Store, record: SqliteRecord) -> Joining:
    return Joining(store, record)


async def said(store: Store, space: str) -> set[str]:
    """Return the texts that a search of this space reads."""
    homes = [
        home
        for member in await store.links.members(space)
        for home in await store.sessions.next_seqs(member)
    ]
    found = [message for home in homes for message in await store.sessions.messages(home)]
    return {part.text for message in found for part in message.parts if isinstance(part, Text)} - {
        "answer k"
    }


async def told(store: Store, *people: str) -> dict[str, str]:
    """Start a conversation with its own text for each; return the conversations."""
    homes = {}
    for name in people:
        turn = await begin(store, f"key {name}", name, f"word of {name}", name)
        assert await store.delivery.finish(turn, "done", reply("answer k"), parts("answer k"))
        homes[name] = turn.conversation
    return homes


async def test_before_it_is_joined_a_space_is_its_own_home_and_only_member(
    joining: Joining,
) -> None:
    assert await joining.links.linked_space("b") == "b"
    assert await joining.links.linked_space("") == ""
    assert await joining.links.members("b") == ("b",)
    assert await joining.links.links("b") == []


async def test_what_a_joined_account_reads_and_folds_is_the_homes(
    store: Store, joining: Joining
) -> None:
    homes = await told(store, "a", "b", "c")
    assert await joining.join(account("a"), account("b"))
    b = await store.sessions.conversation(homes["b"])
    assert b is not None
    assert (b.place.space, b.own_space) == ("a", "b")
    assert (await store.sessions.load(homes["b"])).space == "a"
    found = await store.sessions.find("web", "a", "b")
    assert found is not None
    assert found.place.space == "a"
    assert {row.id: row.place.space for row in await store.sessions.conversations()} == {
        homes["a"]: "a",
        homes["b"]: "a",
        homes["c"]: "c",
    }
    assert (await folded(store, homes["b"], 1)).space == "a"


async def test_what_is_logged_at_a_clear_goes_to_the_home(store: Store, joining: Joining) -> None:
    homes = await told(store, "a", "b")
    await joining.join(account("a"), account("b"))
    await store.sessions.clear(homes["b"], oldest(await store.sessions.load(homes["b"]), 1))
    [fold] = await store.folds.open_folds()
    assert (fold.log_only, fold.space) == (True, "a")


async def test_an_answer_on_its_way_still_goes_where_it_was_asked(
    store: Store, joining: Joining
) -> None:
    homes = await told(store, "a", "b")
    await joining.join(account("a"), account("b"))
    row = await store.delivery.next_outbox_row(homes["b"])
    assert row is not None
    assert (row.place.chat_id, row.place.space) == ("b", "a")


async def test_a_search_of_the_home_covers_its_members_and_no_one_else(
    store: Store, joining: Joining
) -> None:
    await told(store, "a", "b", "c")
    assert await said(store, "a") == {"word of a"}
    await joining.join(account("a"), account("b"))
    assert await said(store, "a") == {"word of a", "word of b"}
    assert await said(store, "b") == {"word of b"}
    assert await said(store, "c") == {"word of c"}
    assert await joining.links.members("a") == ("a", "b")
    assert await joining.links.linked_space("b") == "a"


async def test_I40_what_a_joined_account_said_is_the_homes_source_and_not_the_other_way_round(
    store: Store, joining: Joining
) -> None:
    homes = await told(store, "a", "b")
    await joining.join(account("a"), account("b"))
    [of_a, *_], [of_b, *_] = [await store.sessions.messages(homes[name]) for name in ("a", "b")]
    assert await store.memories.source("a", of_b.id) == of_b
    assert await store.memories.source("b", of_b.id) == of_b
    assert await store.memories.source("b", of_a.id) is None


async def test_after_leaving_each_has_its_own_again_and_nothing_was_moved(
    store: Store, joining: Joining
) -> None:
    homes = await told(store, "a", "b")
    await joining.join(account("a"), account("b"))
    during = await talk(store, "k", chat="b", space="b")
    assert await joining.links.unlink("b")
    assert not await joining.links.unlink("b")
    assert during == homes["b"]
    assert await said(store, "a") == {"word of a"}
    assert await said(store, "b") == {"word of b", "question k"}
    row = await store.sessions.conversation(homes["b"])
    assert row is not None
    assert row.place.space == "b"


async def test_an_account_may_come_back_and_is_shown_where_it_was_typed_last(
    joining: Joining, record: SqliteRecord
) -> None:
    await joining.join(account("a"), account("b"), "one")
    await joining.links.unlink("b")
    record.now += 1
    link = await joining.join(account("c"), account("b"), "two")
    assert link is not None
    assert (link.space, link.chat, link.home_chat) == ("c", "of b", "of c")
    assert await joining.links.links("c") == [link]
    assert await joining.links.links("a") == []


async def test_only_both_words_join(joining: Joining) -> None:
    held = await joining.typed(account("a"), account("b"))
    assert await joining.links.settle(held, join=True) is None, "the typist has not agreed"
    assert await joining.links.linked_space("b") == "b"
    assert await joining.links.agree(held)
    assert not await joining.links.agree(held)
    assert await joining.links.settle(held, join=True)
    assert await joining.links.settle(held, join=True) is None, "a code is good once"
    assert await joining.links.linked_space("b") == "a"


@pytest.mark.parametrize("agreed", [False, True])
async def test_what_was_refused_cannot_be_taken_up_again(
    joining: Joining, record: SqliteRecord, agreed: bool
) -> None:
    held = await joining.typed(account("a"), account("b"))
    if agreed:
        await joining.links.agree(held)
    assert await joining.links.settle(held, join=False) is None
    assert not await joining.links.agree(held)
    assert await joining.links.settle(held, join=True) is None
    assert await joining.links.linked_space("b") == "b"
    assert await joining.links.pending(account("a"), at(record)) is None


async def test_a_code_is_typed_once_in_time_and_by_somebody_else(
    joining: Joining, record: SqliteRecord
) -> None:
    links = joining.links
    assert not await joining.typed(account("a"), account("a"), "own"), "the maker's own"
    assert not await joining.typed(account("x", ""), account("y", ""), "same"), (
        "another account of the same memory"
    )
    assert await joining.typed(account("a"), account("b"), "new")
    assert await links.type_code("new", account("c"), "", "of c", at(record)) is None, "used"
    await links.make_code("old", account("a"), "of a", at(record) + NEVER)
    record.now += NEVER.total_seconds()
    assert await links.type_code("old", account("b"), "", "of b", at(record)) is None, "expired"
    assert await links.type_code("", account("b"), "", "of b", at(record)) is None


async def test_a_newer_code_ends_the_older_one(joining: Joining, record: SqliteRecord) -> None:
    first = await joining.typed(account("a"), account("b"), "one")
    await joining.links.make_code("two", account("a"), "of a", at(record) + NEVER)
    assert not await joining.links.agree(first)
    assert await joining.links.type_code("two", account("b"), "", "of b", at(record))


async def test_both_sides_see_what_waits_for_them_until_it_expires(
    joining: Joining, record: SqliteRecord
) -> None:
    held = await joining.typed(account("a"), account("b"))
    for one in (account("a"), account("b")):
        seen = await joining.links.pending(one, at(record))
        assert seen is not None
        assert (seen.id, seen.state, seen.maker, seen.typist) == (
            held,
            "typed",
            account("a"),
            account("b"),
        )
        assert (seen.typed_name, seen.typed_conversation, seen.conversation) == (
            "a name",
            "of b",
            "of a",
        )
    assert await joining.links.pending(account("c"), at(record)) is None
    record.now += NEVER.total_seconds()
    assert await joining.links.pending(account("a"), at(record)) is None


async def test_who_may_not_join(joining: Joining) -> None:
    assert await joining.join(account("a"), account("boss", "")) is None, (
        "the owner's memory joins no other"
    )
    assert await joining.join(account("boss", ""), account("b"))
    assert await joining.join(account("c"), account("b"), "2") is None, "it has joined one already"
    assert await joining.join(account("c"), account("d"), "3")
    assert await joining.join(account("e"), account("c"), "4") is None, (
        "others have joined it: that were a chain"
    )
    assert await joining.join(account("d"), account("c"), "5") is None, "that were a circle"
    assert await joining.links.members("") == ("", "b")
    assert await joining.links.members("c") == ("c", "d")


async def test_a_code_of_an_account_that_has_joined_leads_to_the_home(joining: Joining) -> None:
    await joining.join(account("a"), account("b"), "1")
    link = await joining.join(account("b"), account("c"), "2")
    assert link is not None
    assert link.space == "a"
    assert await joining.links.members("a") == ("a", "b", "c")


async def test_what_was_true_when_it_was_typed_is_asked_again_when_it_is_settled(
    joining: Joining,
) -> None:
    late = await joining.typed(account("a"), account("b"), "1")
    await joining.links.agree(late)
    assert await joining.join(account("b"), account("c"), "2")
    assert await joining.links.settle(late, join=True) is None
    assert await joining.links.linked_space("b") == "b"


async def test_five_wrong_codes_lock_an_account_for_an_hour_and_no_other(
    joining: Joining, record: SqliteRecord
) -> None:
    links = joining.links
    await links.make_code("good", account("a"), "of a", at(record) + timedelta(days=1))
    for _ in range(MOST_WRONG):
        assert await links.locked(account("b"), at(record)) is None
        assert await links.type_code("bad", account("b"), "", "of b", at(record)) is None
    assert await links.locked(account("b"), at(record)) == at(record) + LOCKED_FOR
    assert await links.type_code("good", account("b"), "", "of b", at(record)) is None, (
        "the right one too"
    )
    assert await links.locked(account("c"), at(record)) is None
    record.now += LOCKED_FOR.total_seconds()
    assert await links.locked(account("b"), at(record)) is None
    assert await links.type_code("good", account("b"), "", "of b", at(record))


async def test_a_lock_outlives_a_restart(record: SqliteRecord) -> None:
    store = await record.open()
    for _ in range(MOST_WRONG):
        await AccountLinks(store.database).type_code("bad", account("b"), "", "of b", at(record))
    await store.close()
    again = AccountLinks((await record.open()).database)
    assert await again.locked(account("b"), at(record))


@given(st.lists(st.integers(0, 7_200), min_size=1, max_size=12), st.integers(0, 10_800))
def test_locked_means_five_within_an_hour_the_last_of_them_less_than_an_hour_ago(
    gaps: list[int], later: int
) -> None:
    start = datetime(2026, 1, 5, tzinfo=UTC)
    times = [start + timedelta(seconds=sum(gaps[: number + 1])) for number in range(len(gaps))]
    newest = times[::-1][:MOST_WRONG]
    now = times[-1] + timedelta(seconds=later)
    close = len(times) >= MOST_WRONG and times[-1] - times[-MOST_WRONG] <= timedelta(hours=1)
    assert (lock_end(newest, now) is not None) == (close and later < 3_600)


async def test_every_step_stands_in_the_chain_of_acts_and_no_code_does(
    store: Store, joining: Joining, record: SqliteRecord
) -> None:
    await joining.links.type_code("guess", account("b"), "", "of b", at(record))
    await joining.join(account("a"), account("b"))
    await joining.links.unlink("b")
    rows = (
        await store.database.read(lambda tx: tx.driver.run("SELECT * FROM audit ORDER BY seq", []))
    ).all()
    assert [(row["action"], row["subject"], row["actor"], row["result"]) for row in rows] == [
        ("link code wrong", "b", "chat/bot/b", "refused"),
        ("link code made", "a", "chat/bot/a", "made"),
        ("link code typed", "b", "chat/bot/b", "typed"),
        ("link agreed", "b", "chat/bot/b", "agreed"),
        ("link", "b", "chat/bot/a", "joined a"),
        ("unlink", "b", "", "left"),
    ]
    assert await store.database.read(find_broken_seq) == 0


async def test_a_group_keeps_its_own_space_whoever_talks_in_it(
    store: Store, joining: Joining
) -> None:
    await joining.join(account("a"), account("b"))
    turn = await begin(store, "g", "the group", "hello", "chat-group-1")
    row = await store.sessions.conversation(turn.conversation)
    assert row is not None
    assert row.place.space == row.own_space == "chat-group-1"
