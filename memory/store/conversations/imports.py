"""Imports a conversation with its finished turns, as `mnema sessions export` wrote them."""

import json
from collections.abc import Sequence
from dataclasses import replace

from memory.conversation import Document, Image, Message, Text, Turn
from memory.ids import derive_key, new_id
from memory.store.audit import append_act
from memory.store.conversations.inbox import SELECT_BY_PLACE, make_title
from memory.store.conversations.messages import TurnRef, insert_message
from memory.store.conversations.turns import answer_source
from memory.store.engine.database import Tx
from memory.store.errors import WrongState
from memory.store.rows import Place, column_values
from memory.store.schema.tables import conversation, inbox, outbox, turn

ORIGIN = "import"  # as the sender and the actor of imported turns
_EPOCH = 1


async def import_conversation(tx: Tx, place: Place, turns: Sequence[Turn]) -> str:
    """Store a whole conversation in one transaction and return its id. Nothing of it is sent.

    Ids and numbers are new; times, parts, origins and token counts stay.

    Raises:
        WrongState: there is a conversation at that place.
    """
    columns = column_values(place, conversation)
    where = {name: columns[name] for name in ("channel", "account", "chat_id", "thread_id")}
    if await tx.one(SELECT_BY_PLACE, **where) is not None:
        raise WrongState(f"there is a conversation at {place.channel}:{place.chat_id}")
    conversation_id, seq, line = new_id(tx.now), 1, 1
    first_text = next((text for one in turns if (text := _shown_text(one.messages[0]))), "")
    await tx.insert(
        conversation,
        **columns,
        id=conversation_id,
        next_seq=1 + sum(len(one.messages) for one in turns),
        next_turn=1 + len(turns),
        next_line=1 + 2 * len(turns),
        listed=True,
        title=make_title(first_text),
        heard=tx.now,
        updated=tx.now,
    )
    for number, one in enumerate(turns, 1):
        importer = _TurnImporter(
            tx, TurnRef(conversation=conversation_id, turn_id=new_id(tx.now), number=number), place
        )
        await importer.insert(one, seq, line)
        seq, line = seq + len(one.messages), line + 2
    await append_act(tx, "import", conversation_id, "imported")
    return conversation_id


class _TurnImporter:
    """Inserts the rows of one turn. Its user message has the id of its inbox row, as that of a received one."""

    def __init__(self, tx: Tx, turn_ref: TurnRef, place: Place) -> None:
        self._tx, self._ref, self._place = tx, turn_ref, place
        self._inbox_id, self._trace_id = new_id(tx.now), new_id(tx.now)

    async def insert(self, imported: Turn, seq: int, line: int) -> None:
        first, last = imported.messages[0], imported.messages[-1]
        has_user_message = first.role == "user"
        if has_user_message:
            await self._insert_inbox(first, line)
        await self._tx.insert(
            turn,
            id=self._ref.turn_id,
            conversation=self._ref.conversation,
            number=self._ref.number,
            epoch=_EPOCH,
            inbox_id=self._inbox_id if has_user_message else "",
            actor=ORIGIN,
            state="done",
            step=sum(one.role == "assistant" for one in imported.messages),
            trace_id=self._trace_id,
            first_seq=seq,
            started=first.at.timestamp(),
            ended=last.at.timestamp(),
        )
        for offset, one in enumerate(imported.messages):
            id = self._inbox_id if has_user_message and offset == 0 else new_id(self._tx.now)
            numbered = replace(one, id=id, seq=seq + offset, turn=self._ref.number)
            await insert_message(
                self._tx, self._ref, numbered, at=one.at.timestamp(), epoch=_EPOCH, space=self._place.space
            )
        if last.role == "assistant" and (text := _shown_text(last)):
            await self._insert_outbox(last, text, line + 1, self._inbox_id if has_user_message else "")

    async def _insert_inbox(self, first: Message, line: int) -> None:
        await self._tx.insert(
            inbox,
            id=self._inbox_id,
            conversation=self._ref.conversation,
            channel=self._place.channel,
            account=self._place.account,
            key=f"{ORIGIN}:{self._ref.conversation}:{self._ref.number}",
            kind="message",
            sender_id=ORIGIN,
            body=json.dumps({"text": _shown_text(first)}, ensure_ascii=False),
            state="done",
            turn_id=self._ref.turn_id,
            trace_id=self._trace_id,
            line=line,
            received=first.at.timestamp(),
        )

    async def _insert_outbox(self, last: Message, text: str, line: int, reply_to: str) -> None:
        """Insert the reply for the transcript, as sent."""
        source = answer_source(reply_to or self._ref.turn_id)
        await self._tx.insert(
            outbox,
            id=new_id(self._tx.now),
            conversation=self._ref.conversation,
            source=source,
            epoch=_EPOCH,
            kind="final",
            client_key=derive_key(source, 0),
            text=text,
            state="sent",
            reply_to=reply_to,
            line=line,
            created=last.at.timestamp(),
        )


def _shown_text(message: Message) -> str:
    """Return what a transcript shows of a message."""
    shown: list[str] = []
    for part in message.parts:
        if isinstance(part, Text):
            shown.append(part.text)
        elif isinstance(part, Document | Image):
            shown.append(f"📎 {part.name if isinstance(part, Document) else part.media_type}")
    return "\n".join(shown)
