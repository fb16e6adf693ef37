"""The page's transcript over the real store, and names of conversations that are not the page's
own.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.console.transcripts import conversation_place
from bot.messages import Admission, to_inbox_row
from channels.message import Address, InboundMessage, Sender
from channels.web.backend import web_address
from memory.store.open import open_store
from memory.store.rows import AcceptedRow, NewOutboxRow
from memory.store.store import Store
from tests.bot.console.transcripts import backend

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PLAIN = InboundMessage(
    address=web_address("c1"), kind="dm", key="k", sender=Sender(id="owner"), text="", sent_at=NOON
)


async def no_stop(_: str) -> None: ...


def everything(_: str) -> bool:
    return True


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "mnema.db")
    yield opened
    await opened.close()


async def exchange(
    store: Store, address: Address, key: str, said: str, answered: str
) -> AcceptedRow:
    message = replace(PLAIN, address=address, key=key, text=said)
    [stored] = await store.delivery.accept([to_inbox_row(message, [], Admission(space=""), 0.0)])
    await store.delivery.settle(
        stored.id, [NewOutboxRow(kind="notice", text=answered, part_no=0, parts=1)]
    )
    return stored


async def test_lines_are_numbered_from_one_and_read_from_either_end(store: Store) -> None:
    for count in range(5):
        await exchange(store, web_address("c1"), f"k{count}", f"/ask {count}", f"answer {count}")
    page = backend(store, no_stop, everything)
    whole = await page.lines("c1", after=0, limit=100)
    assert [line.number for line in whole] == list(range(1, 11))
    assert [line.role for line in whole[:2]] == ["user", "notice"]
    assert whole[1].reply_to == whole[0].id
    assert [line.number for line in await page.lines("c1", after=0, limit=3)] == [1, 2, 3]
    assert [line.number for line in await page.lines("c1", after=8)] == [9, 10]
    assert [line.number for line in await page.lines("c1", limit=2)] == [9, 10]
    assert [line.number for line in await page.lines("c1", before=4, limit=2)] == [2, 3]
    assert await page.number("c1", whole[3].id) == 4


async def test_each_conversation_is_listed_by_the_name_it_can_be_opened_with(store: Store) -> None:
    telegram = Address(channel="telegram", account="bot", chat_id="-100:7")
    places = [
        web_address("c1"),
        conversation_place("terminal:main"),
        replace(conversation_place("terminal:x"), chat_id="我的"),
        telegram,
    ]
    for number, address in enumerate(places):
        await exchange(store, address, f"k{number}", "/hello", f"in {address.channel}")
    page = backend(store, no_stop, everything)
    listed = (await page.conversations()).conversations
    assert {one.id for one in listed} >= {"c1", "terminal:main"}
    assert len(listed) == 4
    for one in listed:
        assert [line.text for line in await page.lines(one.id)] == ["/hello", f"in {one.channel}"]
    assert await page.find("main") is None
    assert await page.find("nobody") is None


def test_the_terminals_conversations_are_written_in_where_the_terminal_writes() -> None:
    assert conversation_place("terminal:main") == Address(
        channel="terminal", account="local", chat_id="main"
    )
    assert conversation_place("c1") == web_address("c1")


async def test_a_thousand_and_one_conversations_are_all_listed_and_opened(store: Store) -> None:
    telegram = [
        replace(PLAIN, address=Address(channel="telegram", account="1", chat_id=str(n)))
        for n in range(2)
    ]
    web = [replace(PLAIN, address=web_address(f"c{number}")) for number in range(999)]
    arrivals = [
        to_inbox_row(replace(message, key=f"k{number}"), [], Admission(space=""), 0.0)
        for number, message in enumerate([*telegram, *web])
    ]
    await store.delivery.accept(arrivals)
    page, cursor, listed = backend(store, no_stop, everything), "", list[str]()
    while True:
        found = await page.conversations(cursor, 200)
        listed += [one.id for one in found.conversations]
        if not (cursor := found.next):
            break
    assert len(listed) == len(set(listed)) == 1_001
    for name in (listed[0], listed[200], listed[-1]):
        assert len(await page.lines(name)) == 1
