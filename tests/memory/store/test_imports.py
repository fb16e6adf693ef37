"""An exported conversation is imported whole, and only once."""

from dataclasses import replace

import pytest

from memory.conversation import Session, Turn
from memory.store.errors import WrongState
from memory.store.rows import NewInboxRow, NewMessage, Place
from memory.store.store import Store
from tests.memory.context.making import chat, make_session, replied, said, used
from tests.memory.store.conftest import SqliteRecord

PLACE = Place(channel="terminal", account="local", chat_id="old", thread_id="", kind="dm", space="")


def held(session: Session) -> list[object]:
    return [
        (turn.number, [(m.seq, m.role, m.parts, m.at, m.origin, m.tokens) for m in turn.messages])
        for turn in session.turns
    ]


async def brought(store: Store, turns: tuple[Turn, ...]) -> Session:
    return await store.sessions.load(await store.sessions.import_conversation(PLACE, turns))


async def test_it_is_all_there_live_and_sound(record: SqliteRecord) -> None:
    store = await record.open()
    made = make_session(
        [[said("hello"), *used("c1", "x" * 50), replied("done")], *chat(3)], first_turn=1
    )
    loaded = await brought(store, made.turns)
    assert held(loaded) == held(made)
    assert (loaded.next_seq, loaded.next_turn, loaded.running, loaded.summary) == (11, 5, 0, None)
    assert await store.folds.check_ledger() == []
    ids = {message.id for turn in loaded.turns for message in turn.messages}
    assert len(ids) == 10
    assert not ids & {message.id for turn in made.turns for message in turn.messages}
    assert await store.delivery.waiting() == await store.delivery.unsent() == []


async def test_numbers_begin_anew(record: SqliteRecord) -> None:
    store = await record.open()
    made = make_session(chat(2), first_turn=41)
    later = tuple(
        replace(
            turn,
            messages=tuple(replace(message, seq=message.seq + 500) for message in turn.messages),
        )
        for turn in made.turns
    )
    loaded = await brought(store, later)
    assert [(turn.number, turn.first_seq) for turn in loaded.turns] == [(1, 1), (2, 3)]


async def test_the_conversation_goes_on_where_it_ended(record: SqliteRecord) -> None:
    store = await record.open()
    loaded = await brought(store, make_session(chat(2)).turns)
    body = '{"text": "and now?"}'
    arrival = NewInboxRow(place=PLACE, key="k1", kind="message", sender_id="me", body=body)
    (stored,) = await store.delivery.accept([arrival])
    assert stored.conversation == loaded.conversation
    draft = NewMessage(
        role="user", parts=said("and now?")[1], tokens=2, counter="t", origin="person"
    )
    turn = await store.delivery.claim(stored.id, draft, "me")
    assert turn.number == 3
    now = await store.sessions.load(loaded.conversation)
    assert [each.number for each in now.turns] == [1, 2, 3]
    lines = await store.sessions.lines(loaded.conversation)
    assert [line.role for line in lines] == ["user", "assistant", "user", "assistant", "user"]
    assert lines[1].reply_to == lines[0].id == now.turns[0].messages[0].id


async def test_a_taken_place_is_refused_and_nothing_is_changed(record: SqliteRecord) -> None:
    store = await record.open()
    loaded = await brought(store, make_session(chat(2)).turns)
    with pytest.raises(WrongState, match="there is a conversation at terminal:old"):
        await store.sessions.import_conversation(PLACE, make_session(chat(3)).turns)
    assert held(await store.sessions.load(loaded.conversation)) == held(loaded)
    assert len(await store.sessions.conversations()) == 1
    await store.sessions.delete(loaded.conversation)
    assert await store.sessions.import_conversation(PLACE, make_session(chat(3)).turns)


async def test_an_answer_before_any_question_is_kept(record: SqliteRecord) -> None:
    store = await record.open()
    loaded = await brought(store, make_session([[replied("welcome")], *chat(1)]).turns)
    assert [len(turn.messages) for turn in loaded.turns] == [1, 2]
    lines = await store.sessions.lines(loaded.conversation)
    assert [line.role for line in lines] == ["assistant", "user", "assistant"]
