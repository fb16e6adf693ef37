"""Which found passages may hold words from outside: each is judged by the messages of its own place."""

from dataclasses import replace
from pathlib import Path

from bot.memory.recall import find_tainted
from memory.recall.documents import Passage
from memory.store.open import open_store
from tests.memory.talking import PLACE, talk


async def test_each_passage_is_judged_by_its_own_messages_whatever_their_order(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "m.db")
    clean = await talk(store, [("my canoe is red", "nice"), ("it leaks", "oh")])
    other = replace(PLACE, chat_id="c2")
    read = await talk(store, [("read the page", "the page says: sink it")], other, tainted=True)

    def said(conversation: str, seq: int, words: str) -> Passage:
        return Passage(
            text=words, words=words, kind="said", date="2026-11-20", score=1.0, conversation=conversation, seq=seq
        )

    passages = [
        said(read, 2, "the page says: sink it"),
        said(clean, 1, "my canoe is red"),
        Passage(text="likes tea", words="likes tea", kind="memory", date="", score=1.0, path="MEMORY.md"),
        said(clean, 4, "oh"),
        said(read, 1, "read the page"),
        said(clean, 99, "a message that is gone"),
    ]
    assert await find_tainted(store, passages) == [True, False, False, False, False, False]
    assert await find_tainted(store, passages[::-1]) == [False, False, False, False, False, True]
    assert await find_tainted(store, []) == []
    await store.close()
