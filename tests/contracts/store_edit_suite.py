"""What every store must do with an edit of a message that is not ended yet."""

from dataclasses import replace

import pytest

from memory.store.errors import MessageEdited
from tests.contracts.store_words import Record, arrival, words


class EditSuite:
    async def test_an_edit_that_comes_while_a_message_is_opened_is_not_lost(
        self, record: Record
    ) -> None:
        store = await record.open()
        (stored,) = await store.delivery.accept([arrival("one")])
        row = await store.delivery.inbox(stored.id)
        assert row is not None
        edit = replace(arrival("edit"), kind="edit", target="one", body='{"text": "better"}')
        await store.delivery.accept([edit])
        with pytest.raises(MessageEdited):
            await store.delivery.claim(stored.id, words("one"), "u", body=row.body)
        again = await store.delivery.inbox(stored.id)
        assert again is not None
        assert again.body == '{"text": "better"}'
        await store.delivery.claim(stored.id, words("better"), "u", body=again.body)

    async def test_a_message_that_a_process_died_of_begins_as_the_command_that_an_edit_made_of_it(
        self, record: Record
    ) -> None:
        store = await record.open()
        (stored,) = await store.delivery.accept([arrival("one")])
        await store.delivery.mark_opened(stored.id)
        after = await record.open()
        await after.delivery.recover()
        edit = replace(arrival("edit"), kind="edit", target="one", body='{"text": "/new"}')
        await after.delivery.accept([edit])
        row = await after.delivery.inbox(stored.id)
        assert row is not None
        assert (row.attempts, row.body) == (1, '{"text": "/new"}')
        assert await after.delivery.mark_begun(stored.id)
        assert not await after.delivery.mark_begun(stored.id)

    async def test_an_edit_of_a_command_that_has_begun_is_said_aside(self, record: Record) -> None:
        store = await record.open()
        (stored,) = await store.delivery.accept([arrival("one", "/new")])
        before = await store.delivery.inbox(stored.id)
        assert await store.delivery.mark_begun(stored.id)
        edit = replace(arrival("edit"), kind="edit", target="one", body='{"text": "/remember tea"}')
        (edited,) = await store.delivery.accept([edit])
        row = await store.delivery.inbox(stored.id)
        assert row is not None
        assert before is not None
        assert (row.body, row.state, edited.state) == (before.body, "new", "aside")
        assert not await store.delivery.mark_begun(stored.id)
