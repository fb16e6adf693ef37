"""Many conversations, and a long one, put into a store at once."""

import json

from memory.ids import new_id
from memory.store.engine.database import Tx, insert_into
from memory.store.schema.tables import conversation, inbox, outbox, turn
from memory.store.store import Store

EARLY = 1_700_000_000.0


async def add_conversations(
    store: Store, count: int, named: str = "many", *, of_people: bool = False
) -> None:
    """Add listed conversations of the page, each with a title, a minute apart and older than all
    others.

    Args:
        of_people: each has a space of its own.
    """

    async def add(tx: Tx) -> None:
        for number in range(count):
            at = EARLY - 60.0 * number
            columns = {
                "channel": "web",
                "account": "console",
                "kind": "dm",
                "chat_id": f"{named}-{number}",
            }
            await tx.execute(
                insert_into(conversation),
                **columns,
                id=new_id(at),
                space=f"{named}-{number}" if of_people else "",
                listed=True,
                title=f"conversation {number}",
                updated=at,
                heard=at,
                next_line=3,
            )

    await store.database.write(add)


async def add_long_conversation(store: Store, name: str, turns: int, speakers: int = 0) -> str:
    """Add a conversation of the page with so many questions and answers; returns its id.

    Args:
        speakers: it is a group of Telegram's instead, and so many people ask in turn.
    """
    id = new_id(EARLY)
    group = {"kind": "group", "space": f"telegram-group-{name}", "chat_name": name}

    async def add(tx: Tx) -> None:
        place = {"channel": "web", "account": "console"}
        if speakers:
            place = {"channel": "telegram", "account": "1"}
        counters = {"next_line": 2 * turns + 1, "next_turn": turns + 1}
        await tx.execute(
            insert_into(conversation),
            **place,
            **counters,
            **(group if speakers else {"kind": "dm"}),
            id=id,
            chat_id=name,
            listed=True,
            title=name,
            updated=EARLY,
        )
        for number in range(1, turns + 1):
            at, asked, answer = EARLY + number, new_id(EARLY + number), new_id(EARLY + number)
            ended = {
                "conversation": id,
                "state": "done",
                "number": number,
                "started": at,
                "ended": at,
            }
            await tx.execute(insert_into(turn), **ended, id=f"t{asked}", inbox_id=asked, epoch=1)
            body = {"text": f"question {number}"}
            if speakers:
                body["name"] = f"Speaker {number % speakers}"
            said = {
                "body": json.dumps(body),
                "kind": "message",
                "state": "done",
            }
            await tx.execute(
                insert_into(inbox),
                **place,
                **said,
                id=asked,
                conversation=id,
                key=f"{name}-{number}",
                turn_id=f"t{asked}",
                line=2 * number - 1,
                received=at,
            )
            sent = {
                "kind": "final",
                "text": f"answer {number}",
                "state": "sent",
                "reply_to": asked,
                "parts": 1,
            }
            await tx.execute(
                insert_into(outbox),
                **sent,
                id=answer,
                conversation=id,
                source=f"{asked}:answer",
                client_key=answer,
                line=2 * number,
                created=at,
            )

    await store.database.write(add)
    return id
