"""A whole conversation that was held elsewhere enters the store: turns that are over, as they would stand there."""

import json
from collections.abc import Sequence

from sqlalchemy import bindparam, insert, select

from memory.conversation import Document, Image, Message, Text, Turn, dump_parts
from memory.ids import derive_key, new_id
from memory.store.audit import append_act
from memory.store.engine.database import Tx
from memory.store.errors import WrongState
from memory.store.rows import Place
from memory.store.schema.tables import conversation, inbox, message, outbox, turn

ORIGIN = "import"  # who is noted as the sender, and as the one who acted
_MAX_TITLE = 60
_SELECT_BY_PLACE = select(conversation.c.id).where(
    conversation.c.channel == bindparam("channel"),
    conversation.c.account == bindparam("account"),
    conversation.c.chat_id == bindparam("chat_id"),
    conversation.c.thread_id == bindparam("thread_id"),
)
_INSERT_CONVERSATION = insert(conversation)
_INSERT_INBOX = insert(inbox)
_INSERT_TURN = insert(turn)
_INSERT_MESSAGE = insert(message)
_INSERT_OUTBOX = insert(outbox)


async def import_conversation(tx: Tx, place: Place, turns: Sequence[Turn]) -> str:
    """A conversation from elsewhere (`mnema sessions import`), all of it in one transaction; returns its id.

    Ids, numbers and places are given again; times, parts, origins and counts are kept. Nothing of it is sent.
    Refused where there is a conversation at that place.
    """
    where = {"channel": place.channel, "account": place.account, "chat_id": place.chat_id, "thread_id": place.thread_id}
    if await tx.one(_SELECT_BY_PLACE, **where) is not None:
        raise WrongState(f"there is a conversation at {place.channel}:{place.chat_id}")
    home, seq, line = new_id(tx.now), 1, 1
    words = next((said for held in turns if (said := _shown_text(held.messages[0]))), "")
    await tx.run(
        _INSERT_CONVERSATION,
        id=home,
        **where,
        kind=place.kind,
        space=place.space,
        next_seq=1 + sum(len(held.messages) for held in turns),
        next_turn=1 + len(turns),
        next_line=1 + 2 * len(turns),
        listed=True,
        title=" ".join(words.split())[:_MAX_TITLE],
        heard=tx.now,
        updated=tx.now,
    )
    for number, held in enumerate(turns, 1):
        spot = _TurnImporter(tx, home, place, number)
        await spot.bring(held, seq, line)
        seq, line = seq + len(held.messages), line + 2
    await append_act(tx, "import", home, "imported")
    return home


class _TurnImporter:
    """One turn's rows. Its user message has the id of its inbox row, as it would have if it had been heard here."""

    def __init__(self, tx: Tx, home: str, place: Place, number: int) -> None:
        self._tx, self._home, self._place, self._number = tx, home, place, number
        self._turn, self._inbox = new_id(tx.now), new_id(tx.now)
        self._trace = new_id(tx.now)

    async def bring(self, held: Turn, seq: int, line: int) -> None:
        first, last = held.messages[0], held.messages[-1]
        heard = first.role == "user"
        if heard:
            await self._heard(first, line)
        await self._tx.run(
            _INSERT_TURN,
            id=self._turn,
            conversation=self._home,
            number=self._number,
            epoch=1,
            inbox_id=self._inbox if heard else "",
            actor=ORIGIN,
            state="done",
            step=sum(one.role == "assistant" for one in held.messages),
            trace_id=self._trace,
            first_seq=seq,
            started=first.at.timestamp(),
            ended=last.at.timestamp(),
        )
        for place, one in enumerate(held.messages):
            await self._message(one, seq + place, self._inbox if heard and place == 0 else new_id(self._tx.now))
        if last.role == "assistant" and (said := _shown_text(last)):
            await self._spoken(last, said, line + 1, self._inbox if heard else "")

    async def _heard(self, first: Message, line: int) -> None:
        await self._tx.run(
            _INSERT_INBOX,
            id=self._inbox,
            conversation=self._home,
            channel=self._place.channel,
            account=self._place.account,
            key=f"{ORIGIN}:{self._home}:{self._number}",
            kind="message",
            sender_id=ORIGIN,
            body=json.dumps({"text": _shown_text(first)}, ensure_ascii=False),
            state="done",
            turn_id=self._turn,
            trace_id=self._trace,
            line=line,
            received=first.at.timestamp(),
        )

    async def _message(self, one: Message, seq: int, id: str) -> None:
        await self._tx.run(
            _INSERT_MESSAGE,
            id=id,
            conversation=self._home,
            epoch=1,
            seq=seq,
            turn=self._number,
            turn_id=self._turn,
            role=one.role,
            parts=dump_parts(one.parts),
            origin=one.origin,
            space=self._place.space,
            has_text=any(isinstance(part, Text | Document) and bool(part.text.strip()) for part in one.parts),
            tokens=one.tokens,
            counter=one.counter,
            at=one.at.timestamp(),
            tainted=int(one.tainted),
        )

    async def _spoken(self, last: Message, said: str, line: int, reply_to: str) -> None:
        """What people see of the answer; it was given elsewhere, so it is sent already."""
        source = f"{reply_to or self._turn}:answer"
        await self._tx.run(
            _INSERT_OUTBOX,
            id=new_id(self._tx.now),
            conversation=self._home,
            source=source,
            epoch=1,
            kind="final",
            client_key=derive_key(source, 0),
            text=said,
            state="sent",
            reply_to=reply_to,
            line=line,
            created=last.at.timestamp(),
        )


def _shown_text(one: Message) -> str:
    """What a transcript shows of a message."""
    shown: list[str] = []
    for part in one.parts:
        if isinstance(part, Text):
            shown.append(part.text)
        elif isinstance(part, Document | Image):
            shown.append(f"📎 {part.name if isinstance(part, Document) else part.media_type}")
    return "\n".join(shown)
