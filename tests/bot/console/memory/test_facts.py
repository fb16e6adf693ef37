"""Facts over HTTP: paged, explained, corrected, put back, and forgotten everywhere with a true
receipt.
"""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from memory.longterm.memories import MemoryCandidate
from memory.store.longterm.rows import MemorySource
from tests.browser.real import ANN, OWNER, Real, real_bot

FACTS = "/api/v1/memory/facts"
QUOTE = "Since last week my landlord is Zephyrine Quill."


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path, lambda asked: "noted") as up:
        yield up


@pytest_asyncio.fixture
async def client(real: Real) -> AsyncIterator[httpx.AsyncClient]:
    async with real.site.client() as made:
        yield made


async def say(real: Real, client: httpx.AsyncClient, text: str) -> str:
    """Write as the owner in the page, wait for the answer; the message's id."""
    reply = await client.post("/api/v1/messages", json={"conversation": "c1", "text": text})
    id = str(reply.json()["id"])
    await real.bot.settled()
    return id


async def note(real: Real, text: str, *, space: str = "", **fields: object) -> None:
    candidate = MemoryCandidate(category="fact", text=text, origin="extraction", **fields)  # type: ignore[arg-type]
    await real.bot.memories(space).upsert(candidate)


async def facts(client: httpx.AsyncClient, **query: object) -> list[dict[str, object]]:
    reply = await client.get(FACTS, params=query)  # type: ignore[arg-type]
    assert reply.status_code == 200, reply.text
    return list(reply.json()["items"])


def error(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def sourced(real: Real, client: httpx.AsyncClient) -> dict[str, object]:
    """A fact that rests on a message of the chat; as the list has it."""
    message = await say(real, client, QUOTE)
    conversation = await real.bot.store.sessions.find("web", "console", "c1")
    assert conversation is not None
    source = MemorySource(
        conversation=conversation.id, message_id=message, channel="web", quote=QUOTE
    )
    await note(real, "Has the landlord Zephyrine Quill", importance=7, source=source)
    [fact] = await facts(client)
    return fact


async def test_pages_hold_each_fact_once_while_new_ones_arrive(
    real: Real, client: httpx.AsyncClient
) -> None:
    for number in range(7):
        await real.bot.memories("").add("fact", f"Owns boat number {number} called B{number}")
    first = (await client.get(FACTS, params={"limit": 3})).json()
    await real.bot.memories("").add("fact", "Sold all of the bicycles")
    seen = [item["text"] for item in first["items"]]
    cursor = first["next"]
    while cursor:
        page = (await client.get(FACTS, params={"limit": 3, "cursor": cursor})).json()
        seen += [item["text"] for item in page["items"]]
        cursor = page["next"]
    assert seen == [f"Owns boat number {number} called B{number}" for number in reversed(range(7))]


async def test_a_filter_takes_words_category_and_importance_literally(
    real: Real, client: httpx.AsyncClient
) -> None:
    memories = real.bot.memories("")
    await memories.add("user_preference", "Drinks 100% arabica coffee", 9)
    await memories.add("fact", "喜欢乌龙茶", 3)
    assert [one["text"] for one in await facts(client, q="ARABICA")] == [
        "Drinks 100% arabica coffee"
    ]
    assert [one["text"] for one in await facts(client, q="乌龙")] == ["喜欢乌龙茶"]
    assert [one["text"] for one in await facts(client, q="0%")] == ["Drinks 100% arabica coffee"]
    assert await facts(client, q="_") == []
    assert [one["text"] for one in await facts(client, category="fact")] == ["喜欢乌龙茶"]
    assert [one["text"] for one in await facts(client, importance=4)] == [
        "Drinks 100% arabica coffee"
    ]
    for query in ({"cursor": "x"}, {"category": "x"}, {"limit": "0"}, {"q": "x" * 201}):
        assert (await client.get(FACTS, params=query)).status_code == 400


async def test_a_fact_tells_why_and_leads_to_its_turn(
    real: Real, client: httpx.AsyncClient
) -> None:
    fact = await sourced(real, client)
    about = (await client.get(f"{FACTS}/{fact['id']}")).json()
    assert (about["quote"], about["conversation"], about["turn"]) == (QUOTE, "c1", 1)
    assert about["obstacle"] == "live"


async def test_a_correction_needs_the_tag_supersedes_and_can_be_put_back(
    real: Real, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    fact = await sourced(real, client)
    path = f"{FACTS}/{fact['id']}"
    new = {"text": "Has the landlady Zephyrine Quill", "importance": 2}
    assert error(await client.patch(path, json=new)) == (428, "precondition")
    assert error(await client.patch(path, json=new, headers={"if-match": '"x"'})) == (
        412,
        "changed",
    )
    tag = {"if-match": f'"{fact["etag"]}"'}
    assert error(await client.patch(path, json={"text": " "}, headers=tag)) == (400, "text")
    assert error(await client.patch(path, json={"importance": 11}, headers=tag)) == (
        400,
        "importance",
    )
    assert error(await client.patch(path, json={"importance": True}, headers=tag)) == (
        400,
        "importance",
    )
    changed = await client.patch(path, json=new, headers=tag)
    assert changed.status_code == 200, changed.text
    assert (changed.json()["text"], changed.json()["importance"]) == (new["text"], 2)
    assert "landlord Zephyrine" not in (tmp_path / "workspace/MEMORY.md").read_text()
    assert error(await client.patch(path, json=new, headers=tag)) == (412, "changed")
    about = (await client.get(f"{FACTS}/{changed.json()['id']}")).json()
    assert [one["text"] for one in about["formers"]] == [fact["text"]]
    [former] = await facts(client, former=1)
    back = await client.post(f"{path}/restore", headers={"if-match": f'"{former["etag"]}"'})
    assert (back.json()["text"], back.json()["importance"], back.json()["quote"]) == (
        fact["text"],
        7,
        QUOTE,
    )
    assert [one["text"] for one in await facts(client)] == [fact["text"]]
    assert error(
        await client.post(f"{path}/restore", headers={"if-match": f'"{back.json()["etag"]}"'})
    ) == (
        409,
        "live",
    )


async def test_a_correction_moves_to_another_heading_and_may_not_double_a_fact(
    real: Real, client: httpx.AsyncClient
) -> None:
    memories = real.bot.memories("")
    await memories.add("fact", "Likes the sea", 5)
    await memories.add("fact", "Likes the mountains", 5)
    newest, other = await facts(client)
    tag = {"if-match": f'"{newest["etag"]}"'}
    twice = await client.patch(f"{FACTS}/{newest['id']}", json={"text": other["text"]}, headers=tag)
    assert error(twice) == (409, "exists")
    moved = await client.patch(
        f"{FACTS}/{newest['id']}", json={"category": "user_preference"}, headers=tag
    )
    assert (moved.json()["id"], moved.json()["category"]) == (newest["id"], "user_preference")
    assert [one["text"] for one in await facts(client, category="user_preference")] == [
        "Likes the mountains"
    ]


async def test_what_took_its_place_changed_since_so_it_is_not_put_back(
    real: Real, client: httpx.AsyncClient
) -> None:
    await real.bot.memories("").add("fact", "Lives in Oslo", 5)
    [first] = await facts(client)
    for text in ("Lives in Bergen", "Lives in Trondheim"):
        [held] = await facts(client)
        tag = {"if-match": f'"{held["etag"]}"'}
        await client.patch(f"{FACTS}/{held['id']}", json={"text": text}, headers=tag)
    about = (await client.get(f"{FACTS}/{first['id']}")).json()
    assert (about["obstacle"], about["successor"]["text"]) == ("changed", "Lives in Bergen")
    refused = await client.post(
        f"{FACTS}/{first['id']}/restore", headers={"if-match": f'"{about["etag"]}"'}
    )
    assert error(refused) == (409, "changed")


async def test_a_forgotten_fact_is_gone_everywhere_and_the_receipt_counts_right(
    real: Real, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    fact = await sourced(real, client)
    # a second request that shows the first turn
    await say(real, client, "And what about the weather?")
    path = f"{FACTS}/{fact['id']}"
    preview = (await client.post(f"{path}/forget")).json()
    assert [(one["kind"], one["path"], one["mine"]) for one in preview["items"]] == [
        ("memory", "MEMORY.md", False),
        ("said", "", True),
    ]
    assert len(await facts(client)) == 1
    refused = await client.post(f"{path}/forget/{preview['code']}", json={"chosen": [2]})
    assert error(refused) == (400, "chosen")
    reply = await client.post(f"{path}/forget/{preview['code']}", json={"chosen": None})
    assert reply.status_code == 200, reply.text
    receipt = reply.json()
    views = (await client.get("/api/v1/conversations/c1/views")).json()["items"]
    showed = [one["number"] for one in views if one["forgotten"]]
    assert receipt["views"] == len(showed) == 2
    assert [one["count"] for one in receipt["said"]] == [1]
    assert (receipt["records"], receipt["index"]) == (1, True)
    assert [(one["path"], len(one["lines"])) for one in receipt["files"]] == [("MEMORY.md", 1)]
    again = await client.post(f"{path}/forget/{preview['code']}", json={"chosen": None})
    assert again.json() == receipt
    assert await facts(client) == []
    assert (await client.get("/api/v1/memory/search", params={"q": "landlord Zephyrine"})).json()[
        "items"
    ] == []
    coverage = await client.get("/api/v1/conversations/c1/coverage")
    assert coverage.json() == {"forgotten": [1]}
    for number in showed:
        assert (
            "Zephyrine" not in (await client.get(f"/api/v1/conversations/c1/views/{number}")).text
        )
    [former] = await facts(client, former=1)
    assert (former["text"], former["quote"], former["state"]) == ("", "", "forgotten")
    undone = await client.post(f"{path}/restore", headers={"if-match": f'"{former["etag"]}"'})
    assert error(undone) == (409, "forgotten")
    assert error(await client.post(f"{path}/forget")) == (409, "forgotten")
    await real.bot.store.database.write(_checkpoint)
    held = [
        file for file in tmp_path.rglob("*") if file.is_file() and b"Zephyrine" in file.read_bytes()
    ]
    assert held == []


async def _checkpoint(tx: object) -> None:
    """Wait for the writes before."""


async def test_only_the_chosen_places_go_and_a_dropped_request_changes_nothing(
    real: Real, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    fact = await sourced(real, client)
    path = f"{FACTS}/{fact['id']}"
    dropped = (await client.post(f"{path}/forget")).json()["code"]
    assert (await client.delete(f"{path}/forget/{dropped}")).json() == {"ok": True}
    assert error(await client.post(f"{path}/forget/{dropped}", json={})) == (409, "expired")
    code = (await client.post(f"{path}/forget")).json()["code"]
    receipt = (await client.post(f"{path}/forget/{code}", json={"chosen": [0]})).json()
    assert (receipt["said"], receipt["records"]) == ([], 1)
    assert await facts(client) == []
    assert QUOTE in (await client.get("/api/v1/conversations/c1/messages")).text
    with sqlite3.connect(tmp_path / "data" / "mnema.db") as base:
        assert base.execute("select count(*) from forgetting where targets <> ''").fetchone() == (
            0,
        )


async def test_another_persons_memory_is_read_once_noted_and_never_changed(
    real: Real, client: httpx.AsyncClient
) -> None:
    for who, text in ((ANN, "hello from Ann"), (OWNER, "hello from me")):
        message = real.telegram.hear(text, chat=who, sender=who)
        await real.telegram.until(
            lambda key=message.key: any(one.reply_to_key == key for one in real.telegram.sent)
        )
    spaces = (await client.get("/api/v1/memory/spaces")).json()["items"]
    [ann] = [one for one in spaces if one["whose"] == "person"]
    assert (spaces[0]["whose"], ann["accounts"]) == ("own", [f"telegram:{ANN}"])
    assert await real.audited("memory.read.other") == []
    space = str(ann["space"])
    await note(real, "Ann keeps bees", space=space)
    assert (await client.post("/api/v1/memory/spaces/open", params={"space": space})).json() == {
        "ok": True
    }
    [fact] = await facts(client, space=space)
    await client.get(f"{FACTS}/{fact['id']}", params={"space": space})
    assert await real.audited("memory.read.other") == [("console", space)]
    assert await facts(client) == []
    tag = {"if-match": f'"{fact["etag"]}"'}
    path = f"{FACTS}/{fact['id']}"
    refused = [
        await client.patch(path, json={"text": "x"}, headers=tag, params={"space": space}),
        await client.post(f"{path}/restore", headers=tag, params={"space": space}),
        await client.post(f"{path}/forget", params={"space": space}),
    ]
    assert [reply.status_code for reply in refused] == [403, 403, 403]
    assert [
        (await client.patch(path, json={"text": "x"}, headers=tag)).status_code,
        (await client.post(f"{path}/forget")).status_code,
        (await client.get(FACTS, params={"space": "telegram-nobody"})).status_code,
    ] == [404, 404, 404]


@pytest.mark.parametrize("id", ["x", "z" * 27, "Z" * 26, "..%2f" * 5])
async def test_an_unknown_fact_is_not_found(client: httpx.AsyncClient, id: str) -> None:
    assert error(await client.get(f"{FACTS}/{id}")) == (404, "not_found")
