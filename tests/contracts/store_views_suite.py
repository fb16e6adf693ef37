"""What every store must do with manifests of past requests."""

import json
from dataclasses import replace

from memory.conversation import Text, dump_parts, load_parts
from memory.store.console.conversation_list import choice_tag
from memory.store.conversations.prompt_state import hash_text
from memory.store.longterm.forgetting import ForgetTargets
from memory.store.longterm.views import REDACTED_AT_ONCE, NewView, ViewBatch, ViewEntry, ViewText
from memory.store.rows import TurnRow
from memory.store.store import Store
from tests.contracts.store_words import (
    SPENT,
    Record,
    arrival,
    begin,
    folded,
    parts,
    reply,
    talk,
)

DAY = 86_400.0
SOUL = ViewText(conversation="", space="", sha256="5001", form="plain", text="Be brief.")


def suffix(home: str, text: str, space: str = "") -> ViewText:
    return ViewText(conversation=home, space=space, sha256=hash_text(text), form="plain", text=text)


def shown(
    turn: TurnRow, seqs: tuple[int, int], own: ViewText, at: float, fold_head: str = ""
) -> NewView:
    """A request that shows those messages, the persona and a suffix."""
    entries = (
        ViewEntry(kind="system", source="SOUL.md", version=SOUL.sha256, tokens=3),
        ViewEntry(
            kind="running", source=f"{seqs[0]}–{seqs[1]}", version="0", tokens=7, tainted=True
        ),
        ViewEntry(kind="suffix", source="", version=own.sha256, tokens=2, own=True),
    )
    return NewView(
        turn_id=turn.id,
        turn=turn.number,
        epoch=turn.epoch,
        space=own.space,
        fold_head=fold_head,
        from_seq=seqs[0],
        to_seq=seqs[1],
        generation=0,
        zone="",
        model="m",
        policy="balanced",
        budget=9_000,
        max_tokens=500,
        same=-1,
        closed=False,
        entries=entries,
        tokens=12,
        checksum="00",
        at=at,
        answered="m",
        input=12,
        output=3,
    )


async def one_call(store: Store, key: str, now: float, space: str = "") -> str:
    """A turn whose one call is recorded; returns the conversation."""
    turn = await begin(store, key, space=space)
    own = suffix(turn.conversation, key, space)
    seq = (await store.sessions.load(turn.conversation)).next_seq - 1
    batch = ViewBatch(views=(shown(turn, (seq, seq), own, now),), texts=(SOUL, own))
    await store.delivery.finish_and_look(turn, "done", reply(), parts("yes"), [SPENT], views=batch)
    return turn.conversation


class ViewSuite:
    async def test_a_manifest_is_read_back_with_all_it_refers_to_after_a_restart(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await begin(store)
        own = suffix(turn.conversation, "now")
        first, second = (shown(turn, (1, 1), own, record.now + step) for step in (0, 1))
        await store.sessions.add_step(
            turn, reply("look"), [], SPENT, ViewBatch(views=(first,), texts=(SOUL, own))
        )
        batch = ViewBatch(views=(replace(second, closed=True),), texts=(SOUL,))
        await store.delivery.finish_and_look(
            turn, "done", reply(), parts("yes"), [SPENT], views=batch
        )
        store = await record.open()
        rows = await store.views.page(turn.conversation)
        assert [(row.number, row.closed, row.entries) for row in rows] == [
            (2, True, second.entries),
            (1, False, first.entries),
        ]
        past = await store.views.past_view(turn.conversation, 1)
        assert past is not None
        assert [message.seq for message in past.messages] == [1]
        assert past.texts == {SOUL.sha256: SOUL, own.sha256: own}
        assert await store.views.past_view(turn.conversation, 3) is None

    async def test_pages_are_newest_first_and_begin_where_the_last_ended(
        self, record: Record
    ) -> None:
        store = await record.open()
        for key in ("k1", "k2", "k3"):
            home = await one_call(store, key, record.now)
        assert [row.number for row in await store.views.page(home, limit=2)] == [3, 2]
        assert [row.number for row in await store.views.page(home, before=2, limit=2)] == [1]

    async def test_the_summary_is_that_of_the_fold_it_was_made_with(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        fold = await folded(store, home, 1)
        turn = await begin(store, "k4")
        own = suffix(home, "now")
        batch = ViewBatch(views=(shown(turn, (3, 7), own, record.now, fold.id),), texts=(own,))
        await store.delivery.finish_and_look(
            turn, "done", reply(), parts("yes"), [SPENT], views=batch
        )
        await folded(store, home, 2)
        past = await store.views.past_view(home, 1)
        assert past is not None
        assert past.summary is not None
        assert (past.summary.text, past.summary.turns) == (f"sum {fold.id}", 1)
        assert [message.seq for message in past.messages] == [3, 4, 5, 6, 7]

    async def test_what_is_older_goes_and_a_text_stays_while_a_call_uses_it(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await one_call(store, "k1", record.now)
        record.now += 2 * DAY
        await one_call(store, "k2", record.now)
        assert await store.views.delete_old(record.now - DAY, 1) == 1
        assert await store.views.delete_old(record.now - DAY, 9) == 1
        assert await store.views.delete_old(record.now - DAY, 9) == 0
        past = await store.views.past_view(home, 2)
        assert past is not None
        assert past.texts.keys() == {SOUL.sha256, hash_text("k2")}
        assert await store.views.past_view(home, 1) is None

    async def test_a_deleted_conversation_leaves_no_manifest_and_no_text_of_its_own(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await one_call(store, "k1", record.now)
        await store.sessions.delete(home)
        assert await store.views.page(home) == []
        # the persona, which is everybody's
        assert await store.views.delete_old(record.now + 2 * DAY, 9) == 1

    async def test_forgetting_reaches_all_texts_of_a_conversation_whatever_its_space_was(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await begin(store)
        messages = [["user", dump_parts((Text(text='Hello.\nAnna has a "red" cat. Bye.'),))]]
        said = replace(
            suffix(turn.conversation, "x", "p-other"), form="parts", text=json.dumps(messages)
        )
        many = [suffix(turn.conversation, f"Anna {number}.") for number in range(REDACTED_AT_ONCE)]
        shared = ViewText(
            conversation="", space="", sha256="5002", form="plain", text="Anna is a friend."
        )
        view = shown(turn, (1, 1), said, record.now)
        batch = ViewBatch(views=(view,), texts=(SOUL, said, *many, shared))
        await store.delivery.finish_and_look(
            turn, "done", reply(), parts("yes"), [SPENT], views=batch
        )
        row = await store.sessions.conversation(turn.conversation)
        assert row
        named = replace(arrival("k9", "hello", at=row.place), chat_name="Anna and Bo")
        await store.delivery.accept([named])
        row = await store.sessions.conversation(turn.conversation)
        assert row
        assert row.chat_name == "Anna and Bo"
        await store.conversations.choose(row.id, choice_tag(row), title="Anna's surgery")
        report = await store.forgettings.erase("", ForgetTargets(query="Anna", row="", items=()))
        assert report.views == 1
        past = await store.views.past_view(turn.conversation, 1)
        assert past is not None
        [[_, found]] = json.loads(past.texts[said.sha256].text)
        assert "Anna" not in str(load_parts(found))
        assert "Hello." in str(load_parts(found))
        row = await store.sessions.conversation(turn.conversation)
        assert row
        assert "Anna" not in row.own_title + row.chat_name
        again = await store.forgettings.erase("", ForgetTargets(query="Anna", row="", items=()))
        assert again.views == 0
        names = [text.sha256 for text in (*many, shared)]
        entries = tuple(
            ViewEntry(kind="suffix", source="", version=name, tokens=1, own=name != "5002")
            for name in names
        )
        turn = await begin(store, "k2")
        last = replace(shown(turn, (1, 1), said, record.now), entries=entries, space="")
        await store.delivery.finish_and_look(
            turn, "done", reply(), parts("yes"), [SPENT], views=ViewBatch(views=(last,))
        )
        past = await store.views.past_view(turn.conversation, 2)
        assert past is not None
        assert len(past.texts) == REDACTED_AT_ONCE + 1
        assert not [text for text in past.texts.values() if "Anna" in text.text]
