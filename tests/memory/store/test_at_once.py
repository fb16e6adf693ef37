"""What waits for a row instead of being run again decides by what is there then: accepting,
claiming, finishing.
"""

import asyncio
from dataclasses import replace

import pytest
from psycopg import AsyncConnection

from memory.store.errors import MessageEdited
from memory.store.postgres.open import open_postgres
from memory.store.rows import InboxRow, TurnRow
from memory.store.store import Store
from tests.contracts.store_words import arrival, begin, parts, place, reply, words
from tests.postgres import fresh, made  # noqa: F401  fixtures

pytestmark = pytest.mark.postgres
ROUNDS = 12
WAITING = (
    "SELECT 1 FROM pg_locks WHERE NOT granted "
    "AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())"
)


async def row_of(store: Store, id: str) -> InboxRow:
    row = await store.delivery.inbox(id)
    assert row is not None
    return row


async def test_messages_of_one_conversation_that_come_at_once_have_a_line_each(fresh: str) -> None:  # noqa: F811
    store = await open_postgres(fresh)
    try:
        accepted = await asyncio.gather(*(
            store.delivery.accept([arrival(f"k{number // 2}")]) for number in range(2 * ROUNDS)
        ))  # fmt: skip
        new = [one for [one] in accepted if one.new]
        assert len(new) == ROUNDS
        assert {one.id for [one] in accepted} == {one.id for one in new}
        assert len({one.line for one in new}) == ROUNDS
    finally:
        await store.close()


async def test_an_edit_beside_a_claim_is_in_the_turn_or_waits_for_the_next_one(fresh: str) -> None:  # noqa: F811
    store = await open_postgres(fresh)
    try:
        for number in range(ROUNDS):
            at = replace(place(), account=f"a{number}")
            [stored] = await store.delivery.accept([arrival("first", "old", at=at)])
            body = (await row_of(store, stored.id)).body
            edit = replace(arrival("second", "new", at=at), kind="edit", target="first")
            claimed, edited = await asyncio.gather(
                store.delivery.claim(stored.id, words("old"), "u1", body=body),
                store.delivery.accept([edit]),
                return_exceptions=True,
            )
            assert isinstance(claimed, TurnRow | MessageEdited)
            assert not isinstance(edited, BaseException)
            is_changed = (await row_of(store, stored.id)).body != body
            assert is_changed == isinstance(claimed, MessageEdited)
            assert (edited[0].state == "aside") == isinstance(claimed, TurnRow)
    finally:
        await store.close()


async def test_a_claim_waits_for_an_edit_that_is_not_committed_yet(fresh: str) -> None:  # noqa: F811
    store = await open_postgres(fresh)
    try:
        [stored] = await store.delivery.accept([arrival("first", "old")])
        body = (await row_of(store, stored.id)).body
        async with (
            await AsyncConnection.connect(fresh) as editing,
            await AsyncConnection.connect(fresh) as watching,
        ):
            await watching.set_autocommit(True)
            await editing.execute(
                "UPDATE inbox SET body = %s WHERE id = %s", (body.replace("old", "new"), stored.id)
            )
            claim = asyncio.create_task(
                store.delivery.claim(stored.id, words("old"), "u1", body=body)
            )
            async with asyncio.timeout(20):
                while not await (await watching.execute(WAITING)).fetchone():
                    pass
            await editing.commit()
            with pytest.raises(MessageEdited):
                await claim
    finally:
        await store.close()


async def test_of_two_that_claim_one_message_one_has_it(fresh: str) -> None:  # noqa: F811
    store = await open_postgres(fresh)
    try:
        for number in range(ROUNDS):
            [stored] = await store.delivery.accept([arrival(f"k{number}", at=place(f"c{number}"))])
            claims = (store.delivery.claim(stored.id, words(), "u1") for _ in range(3))
            outcomes = await asyncio.gather(*claims, return_exceptions=True)
            assert sorted(type(one).__name__ for one in outcomes) == [
                "TurnRow",
                "WrongState",
                "WrongState",
            ]
    finally:
        await store.close()


async def test_a_turn_that_ends_beside_a_clear_is_stored_or_cancelled_and_never_both(
    fresh: str,  # noqa: F811
) -> None:  # noqa: F811, RUF100
    store = await open_postgres(fresh)
    try:
        for number in range(ROUNDS):
            turn = await begin(store, f"k{number}", f"c{number}")
            finished, cleared = await asyncio.gather(
                store.delivery.finish(turn, "done", reply(), parts("yes")),
                store.sessions.clear(turn.conversation),
                return_exceptions=True,
            )
            assert isinstance(finished, bool)
            assert not isinstance(cleared, BaseException)
            ended = await store.delivery.take_over(turn.id)
            assert ended is not None
            assert (ended.state == "done") == finished
            assert (await row_of(store, turn.inbox_id)).state == "done"
    finally:
        await store.close()
