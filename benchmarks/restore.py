"""Loading a conversation of very many stored messages."""

import sqlite3
import tempfile
import time
from pathlib import Path

from benchmarks.measurement import Measurement, median
from memory.conversation import Text
from memory.store.open import open_store
from memory.store.rows import NewInboxRow, NewMessage, Place

STORED = 100_000


async def restore() -> list[Measurement]:
    """Measure loading a conversation of 100,000 messages, all but the newest turns cleared."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.db"
        conversation = await fill(path, STORED)
        store = await open_store(path)
        times = []
        for _ in range(100):
            began = time.perf_counter()
            session = await store.sessions.load(conversation)
            times.append(time.perf_counter() - began)
        await store.close()
        first, last = session.turns[0].first_seq, session.turns[-1].last_seq
        bare = sqlite3.connect(path)
        floor = []
        for _ in range(100):
            began = time.perf_counter()
            bare.execute(
                "SELECT * FROM message WHERE conversation = ? AND seq BETWEEN ? AND ?",
                (conversation, first, last),
            ).fetchall()
            floor.append(time.perf_counter() - began)
        bare.close()
    return [
        Measurement(
            name=f"restore from {STORED:,} stored messages",
            ours=1000 * median(times),
            floor=1000 * median(floor),
            unit="ms",
            must=5,
            aim=5,
            floor_is="a bare SELECT of the rows in view",
        )
    ]


async def fill(path: Path, messages: int) -> str:
    """Store a conversation of so many messages, all but the newest twenty turns cleared; returns
    its id.
    """
    store = await open_store(path)
    place = Place(
        channel="web", account="console", chat_id="big", thread_id="", kind="dm", space=""
    )
    conversation = ""
    draft = NewMessage(
        role="user",
        parts=(Text(text="words " * 30),),
        tokens=40,
        counter="tiktoken",
        origin="person",
    )
    answer = NewMessage(
        role="assistant",
        parts=(Text(text="words " * 30),),
        tokens=40,
        counter="tiktoken",
        origin="model",
    )
    for start in range(0, messages // 2, 500):
        rows = await store.delivery.accept(
            [
                NewInboxRow(
                    place=place,
                    key=f"k{start + at}",
                    kind="message",
                    sender_id="owner",
                    body='{"text":"x"}',
                )
                for at in range(500)
            ]
        )
        conversation = rows[0].conversation
        for number, row in enumerate(rows):
            if start + number == messages // 2 - 20:
                await store.sessions.clear(conversation)
            turn = await store.delivery.claim(row.id, draft, "owner")
            await store.delivery.finish(
                turn, "done", answer, []
            )  # no parts: unsent ones would pile up as in no real bot
    await store.close()
    return conversation
