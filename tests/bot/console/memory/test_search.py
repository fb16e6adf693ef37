"""The search of the memory over HTTP: marks, what a score is made of, the model's text, and every
conversation.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from bot.console.memory.search import MAX_MARKS, TermMarker
from bot.console.services import MAX_SEARCHED_SPACES
from tests.bot.console.crowds import add_conversations
from tests.browser.real import ANN, OWNER, Real, real_bot
from tests.cases import every_case

SEARCH = "/api/v1/memory/search"


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path, lambda asked: "fine") as up:
        yield up


@pytest_asyncio.fixture
async def client(real: Real) -> AsyncIterator[httpx.AsyncClient]:
    async with real.site.client() as made:
        yield made


async def say(real: Real, client: httpx.AsyncClient, text: str, chat: str = "c1") -> None:
    await client.post("/api/v1/messages", json={"conversation": chat, "text": text})
    await real.bot.settled()


@every_case(
    ("query", "text", "marked"),
    [
        ("which boats did I buy?", "😀 I bought a boat, boats!", ["bought", "boat", "boats"]),
        ("乌龙茶", "我喜欢乌龙茶和龙井", ["乌龙茶"]),
        ("the of and", "the of and", []),
        ("tea", "<b>Tea</b> steak", ["Tea"]),
    ],
)
def test_marks_are_the_words_that_the_index_matches(
    query: str, text: str, marked: list[str]
) -> None:
    units = text.encode("utf-16-le")
    spans = TermMarker(query).find(text)
    assert [units[2 * begin : 2 * end].decode("utf-16-le") for begin, end in spans] == marked


async def test_a_score_is_the_sum_of_its_parts_and_leads_to_its_turn(
    real: Real, client: httpx.AsyncClient
) -> None:
    await say(real, client, "The ferry to the island leaves at noon", "ferries")
    await say(real, client, "Something else altogether", "ferries")
    await say(real, client, "Do ferries run today?", "other")
    hits = (await client.get(SEARCH, params={"q": "ferry island", "kind": "said"})).json()["items"]
    best = hits[0]
    assert (best["conversation"], best["turn"], best["title"][:9]) == ("ferries", 1, "The ferry")
    assert best["split"]["words"] > 0
    assert best["split"]["vector"] == 0
    for hit in hits:
        assert sum(hit["split"].values()) == pytest.approx(hit["score"], abs=0.001)
        assert hit["kind"] == "said"
    dated = (await client.get(SEARCH, params={"q": "what did I say today about the ferry"})).json()[
        "items"
    ]
    assert any(hit["split"]["dates"] > 0 for hit in dated)
    text = (await client.get(f"{SEARCH}/model", params={"q": "ferry island"})).json()["text"]
    assert text.startswith("1. ")
    assert "The ferry to the island" in text


@pytest.mark.parametrize("query", ["kind=x", "q="])
async def test_a_kind_that_is_none_is_refused(client: httpx.AsyncClient, query: str) -> None:
    assert (await client.get(f"{SEARCH}?q=tea&{query}")).status_code == 400


async def test_every_memory_is_searched_when_asked_for_and_that_is_audited(
    real: Real, client: httpx.AsyncClient
) -> None:
    for who, text in ((ANN, "my bees swarm in May"), (OWNER, "no bees at my place")):
        message = real.telegram.hear(text, chat=who, sender=who)
        await real.telegram.until(
            lambda key=message.key: any(one.reply_to_key == key for one in real.telegram.sent)
        )
    await real.bot.settled()
    mine = (await client.get(SEARCH, params={"q": "bees", "kind": "said"})).json()["items"]
    assert [hit["space"] for hit in mine] == [""]
    assert await real.audited("memory.read.other") == []
    reply = (await client.get(SEARCH, params={"q": "bees", "kind": "said", "everyone": 1})).json()
    space = next(name for name in await real.bot.spaces() if name)
    assert {hit["space"] for hit in reply["items"]} == {"", space}
    assert reply["left_out"] == 0
    assert next(hit["title"] for hit in reply["items"] if hit["space"]) == ANN
    assert await real.audited("memory.read.other") == [("web", space)]
    refused = await client.get(f"{SEARCH}/model", params={"q": "bees", "space": space})
    assert refused.status_code == 403


def test_of_a_text_full_of_the_words_only_so_many_are_marked() -> None:
    marks = TermMarker("boats").find("boat " * (MAX_MARKS + 1))
    assert marks == [(5 * number, 5 * number + 4) for number in range(MAX_MARKS)]


async def test_memories_beyond_so_many_are_left_out_of_a_search_of_all_and_counted(
    real: Real, client: httpx.AsyncClient
) -> None:
    await add_conversations(real.bot.store, MAX_SEARCHED_SPACES + 1, "person", of_people=True)
    reply = (await client.get(SEARCH, params={"q": "bees", "everyone": 1})).json()
    assert reply["left_out"] == 1
    assert len(await real.audited("memory.read.other")) == MAX_SEARCHED_SPACES
    spaces = (await client.get("/api/v1/memory/spaces")).json()["items"]
    assert len(spaces) == MAX_SEARCHED_SPACES + 2
