"""What the console shows beside the lines of a chat, and what its owner does with the chat, over a
whole bot.
"""

import base64
import time
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

import httpx
import pytest
import pytest_asyncio
from PIL import Image as Picture

from bot.models.base import Request
from channels.web.routes import MAX_MARKS, find_marks
from memory.conversation import ToolCall, ToolResult
from tests.bot.console.crowds import add_conversations, add_long_conversation
from tests.browser.real import ANN, Real, real_bot
from tests.by_night import by_night

pytestmark = pytest.mark.asyncio(loop_scope="module")
API = "/api/v1"


def png(width: int = 900, height: int = 600) -> bytes:
    out = BytesIO()
    Picture.new("RGB", (width, height), "teal").save(out, "PNG")
    return out.getvalue()


def script(asked: Request) -> Any:
    """Look into the notes once where somebody asks for that; else say yes."""
    newest = asked.messages[-1].parts
    if any(isinstance(part, ToolResult) for part in newest):
        return "It is in your notes."
    if "notes" in str(newest):
        return [ToolCall(id="t1", name="memory_search", input='{"query": "tea"}')]
    return "yes"


async def notes(real: Real) -> None:
    """Let its memory hold something that no prompt shows by itself."""
    day = real.bot.home.workspace / "memory" / "2026-01-05.md"
    day.parent.mkdir(mode=0o700, exist_ok=True)
    day.write_text("## 09:12 · web · turns 1–2\n- 09:01 Ann: I like green tea in the morning\n")
    await real.bot.recall.refresh("")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Real]:
    async with real_bot(tmp_path_factory.mktemp("home"), script) as up:
        await notes(up)
        yield up


async def say(real: Real, client: httpx.AsyncClient, name: str, text: str, *files: bytes) -> str:
    attached = [
        {"name": "tea.png", "media_type": "image/png", "data": base64.b64encode(one).decode()}
        for one in files
    ]
    body = {"conversation": name, "text": text, "attachments": attached}
    sent = await client.post(f"{API}/messages", json=body)
    assert sent.status_code == 202, sent.text
    await real.bot.settled()
    return str(sent.json()["id"])


async def lines(client: httpx.AsyncClient, name: str, query: str = "") -> list[dict[str, Any]]:
    answer = await client.get(f"{API}/conversations/{name}/messages{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def test_files_steps_and_sources_are_still_there_when_the_chat_is_read_again(
    real: Real,
) -> None:
    async with real.site.client() as client:
        await say(
            real, client, "c1", "which green tea does Ann like in the morning, say my notes?", png()
        )
        asked, answer = await lines(client, "c1")
        [file] = asked["files"]
        assert (file["name"], file["picture"]) == ("tea.png", True)
        assert answer["steps"] == 1
        assert {place["path"] for place in answer["recalled"]} == {"memory/2026-01-05.md"}
        assert answer["usage"][0]["model"] == "scripted"
        assert answer["usage"][0]["cost"] is None  # nobody knows the price of that model
        [step] = (await client.get(f"{API}/conversations/c1/messages/{answer['id']}/steps")).json()[
            "items"
        ]
        assert (step["tool"], step["arguments"]) == ("memory_search", '{"query": "tea"}')
        assert "green tea" in step["result"]
        assert (await client.get(f"{API}/conversations/c1/messages/none/steps")).status_code == 404

        plain = (await client.get("/api/conversations/c1/messages")).json()["messages"]
        assert [sorted(line) for line in plain] == [
            ["at", "id", "line", "role", "text"],
            ["at", "id", "line", "reply_to", "role", "text"],
        ]


async def test_a_picture_is_shown_small_and_drawn_anew_to_those_who_may_read_its_chat(
    real: Real,
) -> None:
    async with real.site.client() as client:
        await say(real, client, "c2", "look", png(1_000, 10))
        await say(real, client, "c3", "nothing to see")
        [asked, _], [other, _] = await lines(client, "c2"), await lines(client, "c3")
        blob = asked["files"][0]["id"]
        where = {"conversation": "c2", "message": asked["id"]}
        small = await client.get(f"{API}/blobs/{blob}/thumb", params=where)
        assert small.status_code == 200
        assert Picture.open(BytesIO(small.content)).size == (480, 5)
        assert small.headers["content-disposition"] == "attachment"
        assert "sandbox" in small.headers["content-security-policy"]
        same = {"if-none-match": small.headers["etag"]}
        assert (
            await client.get(f"{API}/blobs/{blob}/thumb", params=where, headers=same)
        ).status_code == 304
        whole = await client.get(f"{API}/blobs/{blob}", params=where)
        assert whole.headers["content-type"] == "application/octet-stream"
        assert whole.headers["content-disposition"].startswith("attachment;")

        for wrong in (
            {"conversation": "c3", "message": asked["id"]},
            {"conversation": "c3", "message": other["id"]},
            {"conversation": "c2", "message": "none"},
            {"conversation": "nowhere", "message": asked["id"]},
        ):
            assert (await client.get(f"{API}/blobs/{blob}/thumb", params=wrong)).status_code == 404
        assert (await client.get(f"{API}/blobs/config.json", params=where)).status_code == 404
        async with real.site.nobody() as stranger:
            assert (
                await stranger.get(f"{API}/blobs/{blob}/thumb", params=where)
            ).status_code == 401


async def test_a_chat_is_renamed_pinned_and_archived_by_who_saw_its_present_state(
    real: Real,
) -> None:
    async with real.site.client(headers={"accept-language": "zh-CN,zh;q=0.9,en"}) as client:
        for name in ("d1", "d2"):
            await say(real, client, name, f"hello from {name}")
        path = f"{API}/conversations/d1"
        seen = await client.get(path)
        tag = {"if-match": seen.headers["etag"]}
        assert (await client.patch(path, json={"title": "Tea"})).status_code == 428
        named = await client.patch(
            path, json={"title": " Tea\n time ", "pinned": True}, headers=tag
        )
        assert (named.json()["title"], named.json()["named"], named.json()["pinned"]) == (
            "Tea time",
            True,
            True,
        )
        late = await client.patch(path, json={"title": "Other"}, headers=tag)
        assert (late.status_code, late.headers["etag"]) == (412, named.headers["etag"])
        assert late.json()["error"]["message"] == "这段对话刚被改过，请重新读取"
        tag = {"if-match": named.headers["etag"]}
        for wrong in ({"title": 7}, {"pinned": "yes"}, {"colour": "red"}, {"title": "x" * 201}):
            refused = await client.patch(path, json=wrong, headers=tag)
            assert refused.status_code == 400
            assert refused.json()["error"]["field"] == next(iter(wrong))
        assert refused.json()["error"]["message"] == "标题最多 200 个字符"
        listed = (await client.get(f"{API}/conversations")).json()["items"]
        assert listed[0]["id"] == "d1"
        archived = await client.patch(path, json={"archived": True}, headers=tag)
        assert archived.json()["archived"]
        listed = [one["id"] for one in (await client.get(f"{API}/conversations")).json()["items"]]
        assert "d1" not in listed
        apart = (await client.get(f"{API}/conversations?state=archived")).json()["items"]
        assert [one["id"] for one in apart] == ["d1"]
        assert (await client.get(f"{API}/conversations?state=lost")).status_code == 400


async def test_unread_lines_are_counted_until_they_are_seen(real: Real) -> None:
    real.telegram.hear("my secret", chat=ANN, sender=ANN)
    await real.telegram.until(lambda: len(real.telegram.sent) == 1)
    async with real.site.client() as client:
        query = f"{API}/conversations?channel=telegram&person={ANN}"
        [one] = (await client.get(query)).json()["items"]
        assert one["unread"] == 2
        path = f"{API}/conversations/{one['id']}/seen"
        before = len(await real.audited("chat.read.other"))
        assert (await client.post(path, json={"line": 2})).status_code == 200
        assert len(await real.audited("chat.read.other")) == before + 1
        [one] = (await client.get(query)).json()["items"]
        assert one["unread"] == 0
        assert (await client.post(path, json={"line": -1})).status_code == 400


async def test_words_are_found_with_their_places_and_a_page_is_read_around_a_line(
    real: Real,
) -> None:
    async with real.site.client() as client:
        for number in range(6):
            await say(real, client, "e1", f"😀 Tea {number}")
        hits = await lines(client, "e1", "?q=tea&limit=4")
        assert [hit["text"] for hit in hits] == [f"😀 Tea {number}" for number in (5, 4, 3, 2)]
        assert hits[0]["marks"] == [[3, 6]]  # as a page counts: the face takes two
        more = await lines(client, "e1", f"?q=tea&limit=4&before={hits[-1]['line']}")
        assert [hit["text"] for hit in more] == ["😀 Tea 1", "😀 Tea 0"]
        for around in (hits[-1]["id"], str(hits[-1]["line"]), "turn-3"):
            page = await lines(client, "e1", f"?around={around}&limit=4")
            assert [line["line"] for line in page] == [3, 4, 5, 6]
        lost = await client.get(f"{API}/conversations/e1/messages?around=lost")
        assert lost.status_code == 400


async def test_a_deletion_is_taken_back_or_done_and_both_are_in_the_audit_list(real: Real) -> None:
    async with real.site.client() as client:
        await say(real, client, "f1", "forget all this")
        path = f"{API}/conversations/f1"
        assert (await client.delete(path)).status_code == 428
        tag = {"if-match": (await client.get(path)).headers["etag"]}
        asked = await client.request("DELETE", path, headers=tag)
        assert asked.status_code == 202
        assert 8 < asked.json()["seconds"] <= 10
        assert (await client.request("DELETE", path, headers=tag)).status_code == 412
        assert "f1" not in [
            one["id"] for one in (await client.get(f"{API}/conversations")).json()["items"]
        ]
        restored = await client.post(f"{path}/restore")
        assert restored.json()["deleting"] is False
        assert len(await lines(client, "f1")) == 2
        row = await real.bot.store.sessions.find("web", "console", "f1")
        assert row
        results = [
            one.result for one in await real.bot.store.audit.acts(1_000) if one.subject == row.id
        ]
        assert set(results) >= {"asked", "taken back"}


async def least_time(client: httpx.AsyncClient, path: str, tries: int = 9) -> float:
    """Return the seconds of CPU of the cheapest of some calls, of both ends: what others take more
    is the machine's.
    """
    took = []
    for _ in range(tries):
        began = time.process_time()
        assert (await client.get(f"{API}/{path}")).status_code == 200
        took.append(time.process_time() - began)
    return min(took)


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=by_night)])
async def test_a_page_of_thousands_of_conversations_or_messages_is_read_as_fast_as_of_few(
    real: Real, times: int
) -> None:
    store = real.bot.store
    await add_conversations(store, 200, f"few{times}")
    await add_long_conversation(store, f"short{times}", 100)
    lines = "conversations/{}/messages"
    paths = ("conversations?limit=100", f"{lines}?limit=50", f"{lines}?around=turn-50")
    async with real.site.client() as client:
        few = [await least_time(client, path.format(f"short{times}")) for path in paths]
        await add_conversations(store, 1_000 * times, f"more{times}")
        await add_long_conversation(store, f"long{times}", 1_000 * times)
        many = [await least_time(client, path.format(f"long{times}")) for path in paths]
        assert [
            round(more / less, 1)
            for more, less in zip(many, few, strict=True)
            if more > 3 * less + 0.005
        ] == []
        page = (await client.get(f"{API}/conversations?limit=100")).json()
        late = (await client.get(f"{API}/conversations?limit=100&cursor={page['next']}")).json()[
            "items"
        ]
        assert len({one["id"] for one in (*page["items"], *late)}) == 200


async def test_of_a_message_full_of_the_words_only_so_many_are_marked() -> None:
    text = "ab " * (MAX_MARKS + 1)
    assert find_marks(text, "AB") == [(3 * number, 3 * number + 2) for number in range(MAX_MARKS)]
