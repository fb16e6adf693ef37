"""Conversations that are deleted once the time to take that back is over."""

import asyncio

from bot.access.conversation_deletion import ConversationDeletions
from memory.store.console.conversation_list import choice_tag
from memory.tasks import cancel_and_wait
from tests.contracts.store_words import arrival, place, talk
from tests.memory.store.conftest import SqliteRecord, record  # noqa: F401  a fixture


async def test_what_is_written_meanwhile_is_answered_and_only_the_other_is_stopped_and_deleted(
    record: SqliteRecord,  # noqa: F811
) -> None:
    store = await record.open()
    stopped, dropped = list[str](), asyncio.get_running_loop().create_future()

    async def stop(conversation: str) -> None:
        stopped.append(conversation)

    async def drop(conversation: str) -> None:
        dropped.set_result(conversation)

    deletions = ConversationDeletions(store, stop=stop, drop=drop)
    ids = [await talk(store, f"k{chat}", chat=chat) for chat in ("c1", "c2")]
    for id in ids:
        row = await store.sessions.conversation(id)
        assert row
        await deletions.ask(id, choice_tag(row), "web")
        record.now += 1
    await store.delivery.accept([arrival("more", at=place("c1"))])
    record.now += 11
    stopped.clear()  # asking stops what runs
    watching = asyncio.create_task(deletions.watch())
    assert await asyncio.wait_for(dropped, 30) == ids[1]
    await cancel_and_wait([watching])
    assert stopped == [ids[1]]
    assert await store.sessions.conversation(ids[0])
    assert await store.conversations.deletions() == []


async def test_a_deletion_that_fails_with_anything_is_tried_again_and_the_others_go_on(
    record: SqliteRecord,  # noqa: F811
) -> None:
    store = await record.open()
    tries, dropped = list[str](), asyncio.Queue[str]()

    async def stop(conversation: str) -> None:
        if deleting:
            tries.append(conversation)
            if conversation == broken and tries.count(broken) == 1:
                raise RuntimeError("whatever it is")

    deleting = False
    deletions = ConversationDeletions(store, stop=stop, drop=dropped.put)
    ids = [await talk(store, f"k{chat}", chat=chat) for chat in ("c1", "c2")]
    broken = ids[0]
    for id in ids:
        row = await store.sessions.conversation(id)
        assert row
        await deletions.ask(id, choice_tag(row), "web")
    deleting = True
    record.now += 11
    watching = asyncio.create_task(deletions.watch())
    assert [await asyncio.wait_for(dropped.get(), 30) for _ in ids] == [ids[1], broken]
    await cancel_and_wait([watching])
    assert tries == [broken, ids[1], broken]
    assert await store.conversations.deletions() == []
