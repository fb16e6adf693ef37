"""The benchmarks' model server: answers that the bot's client can read, counts of recalls, and the
facts of a message.
"""

from typing import Any

import httpx

from benchmarks.bot_in_process import realistic_texts
from benchmarks.model_server import FACT
from benchmarks.process import model_server
from bot.models.base import Request, TextDelta
from bot.models.providers.anthropic import AnthropicModel
from memory.conversation import ShownMessage, Text
from memory.longterm.extraction import (
    ExtractionRules,
    TurnExchange,
    is_worth_reading,
    parse_answer,
    validate_facts,
)


async def ask(url: str, text: str, system: str = "") -> tuple[str, int]:
    """Return the answer and the number of its pieces."""
    request = Request(
        model="claude-sonnet-5-5",
        system=(system,) if system else (),
        messages=(ShownMessage(role="user", parts=(Text(text=text),)),),
        max_tokens=64,
    )
    model = AnthropicModel(api_key="test", base_url=url, blobs=lambda sha256: b"")
    events = [event async for event in model.stream(request)]
    await model.close()
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    return "".join(pieces), len(pieces)


async def counts(url: str) -> dict[str, Any]:
    async with httpx.AsyncClient() as client:
        found: dict[str, Any] = (await client.get(f"{url}/times")).json()
    return found


async def test_it_answers_in_pieces_and_counts_what_was_recalled() -> None:
    async with model_server(reply="Yes, of course.") as url:
        assert await ask(url, "hello") == ("Yes, of course.", 8)
        await ask(url, "[Recalled 0123abcd: from memory] - a line\n\nhello")
        found = await counts(url)
        assert (found["answers"], found["recalled"], found["extractions"]) == (2, 1, 0)
        assert (await counts(url))["answers"] == 0


async def test_a_marked_message_gets_its_mark_back_with_its_times() -> None:
    async with model_server(reply="") as url:
        assert (await ask(url, "the report? <<3:7>>"))[0] == "Answer to <<3:7>>."
        [(who, number, begun, ended)] = (await counts(url))["times"]
        assert (who, number) == (3, 7)
        assert begun <= ended


async def test_the_facts_of_realistic_texts_pass_every_check() -> None:
    texts = realistic_texts(16)
    assert all(is_worth_reading(TurnExchange(user=text, bot="")) for text in texts)
    stating = [text for text in texts if FACT.search(text.encode())]
    assert len(stating) == 2
    async with model_server() as url:
        for text in stating:
            records = parse_answer((await ask(url, text, system="mnema-extract"))[0])
            assert records
            [found] = validate_facts(
                records, [TurnExchange(user=text, bot="")], [], ExtractionRules()
            )
            assert len(found.facts) == 1
            assert found.dropped == {}
        assert parse_answer((await ask(url, "nothing new", system="mnema-extract"))[0]) == []
