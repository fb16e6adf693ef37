"""What the store's suites say: arrivals, drafts, whole turns and folds in a word each."""

import json
from collections.abc import Sequence
from typing import Protocol

from memory.conversation import Effect, Role, Session, Text, ToolResult
from memory.store.rows import (
    CallRow,
    FoldPlan,
    FoldRow,
    NewInboxRow,
    NewMessage,
    NewOutboxRow,
    Place,
    PlannedCall,
    SendOutcome,
    TurnRow,
    Usage,
)
from memory.store.store import Store

SPENT = Usage(model="m", input=100, output=10)


class Record(Protocol):
    """One record and its openings.

    Opening again before closing is what a crash of the former looks like.
    """

    now: float

    async def open(self) -> Store: ...


def place(chat: str = "c1", channel: str = "web", space: str = "") -> Place:
    return Place(channel=channel, account="a", chat_id=chat, thread_id="", kind="dm", space=space)


def arrival(
    key: str = "k1",
    text: str = "hello",
    *,
    at: Place | None = None,
    ignored: str = "",
    urgent: bool = False,
    not_before: float = 0.0,
    order_key: str = "",
) -> NewInboxRow:
    return NewInboxRow(
        place=at or place(),
        key=key,
        kind="message",
        sender_id="u1",
        body=json.dumps({"text": text}),
        ignored=ignored,
        urgent=urgent,
        not_before=not_before,
        order_key=order_key,
    )


def words(text: str = "hello", role: Role = "user", origin: str = "person") -> NewMessage:
    return NewMessage(role=role, parts=(Text(text=text),), tokens=7, counter="test", origin=origin)


def reply(text: str = "yes") -> NewMessage:
    return words(text, "assistant", "model")


def results(*calls: CallRow, text: str = "ok") -> NewMessage:
    parts = tuple(ToolResult(call_id=call.call_id, text=text) for call in calls)
    return NewMessage(role="user", parts=parts, tokens=3, counter="test", origin="tool")


def call(id: str, effect: Effect = "pure") -> PlannedCall:
    return PlannedCall(call_id=id, name="look", input="{}", effect=effect)


def parts(*texts: str, key_valid: float = 0.0, kind: str = "final") -> list[NewOutboxRow]:
    return [
        NewOutboxRow(kind=kind, text=text, part_no=number, parts=len(texts), key_valid=key_valid)  # type: ignore[arg-type]
        for number, text in enumerate(texts)
    ]


async def begin(
    store: Store, key: str = "k1", chat: str = "c1", text: str = "hello", space: str = ""
) -> TurnRow:
    """A message comes in and is claimed."""
    [stored] = await store.delivery.accept([arrival(key, text, at=place(chat, space=space))])
    return await store.delivery.claim(stored.id, words(text), "u1")


async def talk(store: Store, *keys: str, chat: str = "c1", space: str = "") -> str:
    """One whole turn for each key, answers sent; returns the conversation."""
    home = ""
    for key in keys:
        turn = await begin(store, key, chat, f"question {key}", space)
        home = turn.conversation
        assert await store.delivery.finish(
            turn, "done", reply(f"answer {key}"), parts(f"answer {key}"), [SPENT]
        )
        row = await store.delivery.next_outbox_row(home)
        assert row is not None
        assert await store.delivery.mark_sending(row.id)
        await store.delivery.settle_sent(row.id, SendOutcome(state="sent", platform_id=f"p-{key}"))
    return home


def oldest(session: Session, turns: int) -> FoldPlan:
    """A plan over the oldest turns of the view."""
    first, last = session.turns[0], session.turns[turns - 1]
    return FoldPlan(
        conversation=session.conversation,
        epoch=session.epoch,
        prev_fold=session.fold_head,
        from_seq=first.first_seq,
        to_seq=last.last_seq,
        from_turn=first.number,
        to_turn=last.number,
        policy="balanced",
        reason="test",
        tokens_before=100,
    )


async def logged(store: Store, fold: FoldRow) -> FoldRow:
    """Bring a planned fold as far as its log entry."""
    folds = store.folds
    summarised = await folds.advance(
        fold, "summarised", log_text="log", summary=f"sum {fold.id}", summary_tokens=4
    )
    assert summarised
    checked = await folds.advance(summarised, "checked", method="extract")
    assert checked
    written = await folds.advance(checked, "logged", log_ref="memory/2026-11-20.md")
    assert written
    return written


async def folded(store: Store, conversation: str, turns: int) -> FoldRow:
    planned = await store.folds.plan(oldest(await store.sessions.load(conversation), turns))
    assert planned
    done = await store.folds.commit(await logged(store, planned), 10)
    assert done
    return done


async def digested(store: Store, conversation: str, turns: int) -> FoldRow:
    """A fold that was finished with the digest and awaits the texts of a model."""
    planned = await store.folds.plan(oldest(await store.sessions.load(conversation), turns))
    assert planned
    summarised = await store.folds.advance(
        planned, "summarised", method="extract", awaiting="texts"
    )
    assert summarised
    checked = await store.folds.advance(
        summarised,
        "checked",
        log_text="- digest",
        summary="digest",
        summary_tokens=30,
        tainted=False,
    )
    assert checked
    logged = await store.folds.advance(checked, "logged", log_ref="memory/2026-11-20.md")
    assert logged
    done = await store.folds.commit(logged, 100)
    assert done
    return done


def numbers(session: Session) -> list[int]:
    return [turn.number for turn in session.turns]


async def deaths(store: Store, turns: Sequence[TurnRow]) -> list[tuple[int, int]]:
    """Of each turn's message: how often it was at work when the process died, and how often it was
    so alone.
    """
    rows = [await store.delivery.inbox(turn.inbox_id) for turn in turns]
    return [(row.attempts, row.deaths_alone) for row in rows if row is not None]
