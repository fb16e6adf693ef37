"""Holds conversations in a real store for the tests of folds and recall."""

from collections.abc import Sequence

from memory.context.tokens import WEIGHTED
from memory.conversation import Text
from memory.store.rows import FoldPlan, NewInboxRow, NewMessage, NewOutboxRow, Place

PLACE = Place(channel="terminal", account="local", chat_id="c1", thread_id="", kind="dm", space="")


def draft(role, *parts, origin="person", tainted=False):
    tokens = WEIGHTED.message(parts)
    return NewMessage(
        role=role, parts=parts, tokens=tokens, counter=WEIGHTED.name, origin=origin, tainted=tainted
    )


async def talk(
    store, exchanges: Sequence[tuple[str, str]], place: Place = PLACE, *, tainted: bool = False
) -> str:
    """Finished turns of a question and an answer; returns the conversation's id.

    tainted: words from outside are in view.
    """
    conversation = ""
    for asked, answered in exchanges:
        row = await store.sessions.find(place.channel, place.account, place.chat_id)
        key = f"k{row.next_turn if row else 1}-{asked[:20]}"
        arrival = NewInboxRow(place=place, key=key, kind="message", sender_id="u1", body="{}")
        (stored,) = await store.delivery.accept([arrival])
        conversation = stored.conversation
        turn = await store.delivery.claim(stored.id, draft("user", Text(text=asked)), "owner")
        final = draft("assistant", Text(text=answered), origin="model", tainted=tainted)
        out = [NewOutboxRow(kind="final", text=answered, part_no=0, parts=1)]
        assert await store.delivery.finish(turn, "done", final, out)
    return conversation


async def fold_plan(
    store, conversation: str, first: int, last: int, log_only: bool = False
) -> FoldPlan:
    """A plan for turns first to last of those that are live."""
    session = await store.sessions.load(conversation)
    taken = [turn for turn in session.turns if first <= turn.number <= last]
    return FoldPlan(
        conversation=conversation,
        epoch=session.epoch,
        prev_fold=session.fold_head,
        from_seq=taken[0].first_seq,
        to_seq=taken[-1].last_seq,
        from_turn=first,
        to_turn=last,
        policy="turns",
        reason="turns",
        tokens_before=sum(turn.tokens for turn in session.turns),
        log_only=log_only,
    )
