"""What became of a fact stands beside each result that states it, by stored links and dates."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.longterm.memories import MemoryCandidate
from memory.longterm.similarity import normalize_key
from memory.recall.documents import Passage, SearchRequest
from memory.store.longterm.rows import MemorySource
from memory.workspace.daily_log import LogSection, append_section
from tests.bot.remembering import NOON, Shelf, shelf
from tests.bot.tools.test_memory import find
from tests.contracts.store_words import begin, folded, parts, reply

MARCH, APRIL, MAY = (datetime(2026, month, 5, 9, tzinfo=UTC) for month in (3, 4, 5))
FIRST, SECOND, THIRD = (
    f"The user's latency budget is {value} ms" for value in ("200", "250", "300")
)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Shelf]:
    async with shelf(tmp_path) as held:
        yield held


async def say(desk: Shelf, chat: str, words: str) -> tuple[str, str]:
    """Return the conversation and the id of the message."""
    turn = await begin(desk.store, f"{chat}-said", chat, words)
    assert await desk.store.delivery.finish(turn, "done", reply("I see."), parts("I see."))
    messages = await desk.store.sessions.messages(turn.conversation)
    return turn.conversation, messages[0].id


async def note(
    desk: Shelf,
    text: str,
    said: datetime,
    message_id: str = "",
    replaces: str = "",
    quote: str = "",
) -> None:
    source = MemorySource(message_id=message_id, quote=quote, said=said)
    await desk.memories().upsert(
        MemoryCandidate(
            category="fact",
            text=text,
            origin="extraction",
            source=source,
            replaces=(normalize_key(replaces),) if replaces else (),
        )
    )


async def search(desk: Shelf, query: str, as_of: str = "") -> list[Passage]:
    request = SearchRequest(space="", query=query, now=NOON, limit=10, as_of=as_of)
    return await desk.recall.search(request)


async def test_an_older_value_names_the_newest_one_and_since_when(desk: Shelf) -> None:
    words = "my latency budget is 200 ms"
    _, message = await say(desk, "a", f"By the way, {words} for the search.")
    await note(desk, FIRST, MARCH, message, quote=words)
    assert "later:" not in await find(desk, query="latency budget")
    await note(desk, SECOND, APRIL, replaces=FIRST)
    await note(desk, THIRD, MAY, replaces=SECOND)
    found = (await find(desk, query="latency budget")).splitlines()
    (old,) = [line for line in found if words in line]
    assert f"[later: {THIRD}, 2026-05-05]" in old
    (line,) = [line for line in found if f"{THIRD} [since" in line]
    assert f"[since 2026-05-05; until then: {SECOND}]" in line


async def test_a_line_of_the_days_log_names_the_later_value(desk: Shelf) -> None:
    words = "my latency budget is 200 ms"
    conversation, message = await say(desk, "a", words)
    fold = await folded(desk.store, conversation, 1)
    body = f"- 09:00 User: {words}\n- 09:01 User: the harbour survey took three days"
    section = LogSection(fold=fold.id, channel="web", first_turn=1, last_turn=1, at=NOON, body=body)
    append_section(desk.workspace.space(""), section)
    await note(desk, FIRST, MARCH, message, quote=words)
    await note(desk, SECOND, APRIL, replaces=FIRST)
    passages = await search(desk, "latency budget harbour survey")
    by_words = {one.words: one.validity.later for one in passages if one.kind == "log"}
    assert by_words == {words: SECOND, "the harbour survey took three days": ""}


async def test_only_what_states_the_replaced_fact_is_marked(desk: Shelf) -> None:
    conversation, message = await say(desk, "a", "my latency budget is 200 ms. I like plums.")
    await note(desk, "The user likes plums", MARCH, message, quote="I like plums")
    await note(desk, "The user hates plums", APRIL, replaces="The user likes plums")
    await say(desk, "b", "Do people like plums in Porto?")
    passages = await search(desk, "plums like Porto")
    marked = {one.conversation: one.validity.later for one in passages if one.kind == "said"}
    assert marked.pop(conversation) == "The user hates plums"
    assert set(marked.values()) == {""}


async def test_nothing_is_said_of_later_values_where_a_day_is_asked_for(desk: Shelf) -> None:
    words = "my latency budget is 200 ms"
    _, message = await say(desk, "a", words)
    await note(desk, FIRST, MARCH, message, quote=words)
    await note(desk, SECOND, APRIL, replaces=FIRST)
    passages = await search(desk, "latency budget", as_of=f"{datetime.now(UTC):%Y-%m-%d}")
    assert passages
    assert not [one for one in passages if one.validity.later]


async def test_a_later_value_that_was_removed_is_not_named(desk: Shelf) -> None:
    words = "my latency budget is 200 ms"
    _, message = await say(desk, "a", words)
    await note(desk, FIRST, MARCH, message, quote=words)
    await note(desk, SECOND, APRIL, replaces=FIRST)
    await desk.memories().remove([normalize_key(SECOND)], "forget")
    assert "250" not in await find(desk, query="latency budget")


async def test_another_space_knows_nothing_of_it(desk: Shelf) -> None:
    words = "my latency budget is 200 ms"
    _, message = await say(desk, "a", words)
    await note(desk, FIRST, MARCH, message, quote=words)
    await note(desk, SECOND, APRIL, replaces=FIRST)
    histories = await desk.store.memories.histories(
        ["telegram-7"], [message], [], [normalize_key(SECOND)]
    )
    assert histories == replace(histories, replaced=(), lines=())


async def test_all_facts_are_followed_where_one_message_has_more_than_a_batch(desk: Shelf) -> None:
    _, message = await say(desk, "a", "Codes of many lockers")
    for number in range(21):
        old, new = (f"Locker {number} has the code {number}{code}" for code in ("111", "777"))
        await note(desk, old, MARCH, message)
        await note(desk, new, APRIL, replaces=old)
    histories = await desk.store.memories.histories([""], [message], [], [])
    assert len({fact.newer for fact in histories.replaced}) == 21


async def test_more_results_than_one_query_takes_are_all_looked_up(desk: Shelf) -> None:
    words = "my latency budget is 200 ms"
    _, message = await say(desk, "a", words)
    await note(desk, FIRST, MARCH, message, quote=words)
    await note(desk, SECOND, APRIL, replaces=FIRST)
    many = [*(f"m{number}" for number in range(20)), message]
    histories = await desk.store.memories.histories([""], many, many, many)
    assert [fact.newer for fact in histories.replaced] == [SECOND]
