"""The calls of the web channel, each over a real socket."""

import asyncio
import base64
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import Response

from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response
from tests.channels.web.server import Running, ScriptedBot, running


@pytest.fixture
async def site() -> AsyncIterator[Running]:
    async with running(ScriptedBot(answers=lambda message: f"echo {message.text}")) as up:
        yield up


def said(text: str = "hello", conversation: str = "c1", **more: object) -> dict[str, object]:
    return {"conversation": conversation, "text": text, **more}


async def test_a_message_is_taken_with_202_and_found_in_the_transcript_with_its_answer(
    site: Running,
) -> None:
    async with site.client() as client:
        posted = await client.post("/api/messages", json=said("你好 👋", key="k1"))
        assert posted.status_code == 202
        id = posted.json()["id"]
        messages = (await client.get("/api/conversations/c1/messages")).json()["messages"]
    assert [(m["role"], m["text"]) for m in messages] == [
        ("user", "你好 👋"),
        ("assistant", "echo 你好 👋"),
    ]
    assert messages[0]["id"] == id
    assert messages[1]["reply_to"] == id
    assert "reply_to" not in messages[0]


async def test_what_cannot_be_stored_of_a_text_is_left_out(site: Running) -> None:
    async with site.client() as client:
        raw = b'{"conversation": "c1", "text": "half \\ud83d and \\u0000none"}'
        assert (await client.post("/api/messages", content=raw)).status_code == 202
    assert site.bot.taken[0].text == "half \ufffd and none"


async def test_a_repeated_key_is_answered_200_with_the_same_id_and_shown_once(
    site: Running,
) -> None:
    async with site.client() as client:
        first = await client.post("/api/messages", json=said(key="k1"))
        again = await asyncio.gather(
            *(client.post("/api/messages", json=said(key="k1")) for _ in range(5))
        )
    assert {answer.status_code for answer in again} == {200}
    assert {answer.json()["id"] for answer in again} == {first.json()["id"]}
    assert len(site.bot.taken) == 1


async def test_one_key_in_two_conversations_is_two_messages(site: Running) -> None:
    async with site.client() as client:
        one = await client.post("/api/messages", json=said(key="1"))
        other = await client.post("/api/messages", json=said(key="1", conversation="c2"))
    assert (one.status_code, other.status_code) == (202, 202)
    assert one.json()["id"] != other.json()["id"]


async def test_without_a_key_every_post_is_a_message_of_its_own(site: Running) -> None:
    async with site.client() as client:
        answers = [await client.post("/api/messages", json=said()) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert len({message.key for message in site.bot.taken}) == 2


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"conversation": "c1", "text": "  "}, 400, "empty"),
        ({"conversation": "c1"}, 400, "empty"),
        ({"conversation": "c/1", "text": "x"}, 400, "conversation"),
        ({"conversation": "c1\n", "text": "x"}, 400, "conversation"),
        ({"conversation": "c" * 129, "text": "x"}, 400, "conversation"),
        ({"text": "x"}, 400, "conversation"),
        ({"conversation": "c1", "text": 5}, 400, "text"),
        ({"conversation": "c1", "text": "x" * 200_001}, 413, "too_long"),
        ({"conversation": "c1", "text": "x", "key": ""}, 400, "key"),
        ({"conversation": "c1", "text": "x", "key": "k" * 201}, 400, "key"),
        ({"conversation": "c1", "text": "x", "key": 7}, 400, "key"),
        ({"conversation": "c1", "text": "x", "attachments": "no"}, 400, "attachments"),
        (
            {"conversation": "c1", "text": "x", "attachments": [{"name": "a", "data": "%%"}]},
            400,
            "attachments",
        ),
        (
            {
                "conversation": "c1",
                "text": "x",
                "attachments": [{"name": "a", "data": "aGk="}] * 11,
            },
            413,
            "too_many_files",
        ),
        ({"conversation": "c1", "text": "x", "role": "owner"}, 400, "unknown_field"),
        ([], 400, "bad_json"),
    ],
)
async def test_a_wrong_message_is_refused_with_a_sentence(
    site: Running, body: object, status: int, code: str
) -> None:
    async with site.client() as client:
        answer = await client.post("/api/messages", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["message"]
    assert site.bot.taken == []


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b'{"conversation":"c1","text":"x","text":"y"}',
        b'{"conversation":"c1","text":NaN}',
        b'{"conversation":"c1","text":' + b"9" * 100_000 + b"}",
        b"[" * 100_000,
        b'{"conversation":"c1","text":"x","attachments":' + b"[" * 40 + b"]" * 40 + b"}",
        b"\xff\xfe",
        b"",
    ],
)
async def test_hostile_json_is_400_and_the_process_survives(site: Running, raw: bytes) -> None:
    async with site.client() as client:
        answer = await client.post("/api/messages", content=raw)
        assert answer.status_code == 400
        assert (await client.post("/api/messages", json=said())).status_code == 202


async def test_ten_megabytes_of_text_are_refused_and_heard(site: Running) -> None:
    async with site.client() as client:
        answer = await client.post("/api/messages", json=said("x" * 10_000_000))
        assert answer.status_code == 413
        assert (await client.post("/api/messages", json=said())).status_code == 202


async def test_a_body_that_lies_about_its_length_is_counted_as_it_comes(site: Running) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield b" " * (1 << 20)

    async with site.client() as client:
        answer = await client.post("/api/messages", content=endless())
    assert answer.status_code == 413


async def test_files_come_with_the_message_under_a_clean_label(site: Running) -> None:
    data = bytes(range(256)) * 20_000
    files = [
        {
            "name": "../../etc/pass\u202ewd.png",
            "media_type": "image/png",
            "data": base64.b64encode(data).decode(),
        },
        {
            "name": "笔记.txt",
            "media_type": "text/plain; charset=utf-8",
            "data": base64.b64encode(b"hi").decode(),
        },
    ]
    async with site.client() as client:
        answer = await client.post("/api/messages", json=said("", attachments=files))
    assert answer.status_code == 202
    first, second = site.bot.taken[0].attachments
    assert (first.name, first.media_type, first.data) == ("passwd.png", "image/png", data)
    assert (second.name, second.media_type, second.data) == ("笔记.txt", "text/plain", b"hi")


async def test_the_transcript_is_paged_by_id_and_by_line(site: Running) -> None:
    async with site.client() as client:
        for count in range(4):
            await client.post("/api/messages", json=said(str(count)))
        newest = (await client.get("/api/conversations/c1/messages?limit=3")).json()["messages"]
        by_id = await client.get(f"/api/conversations/c1/messages?limit=3&before={newest[0]['id']}")
        by_line = await client.get(
            f"/api/conversations/c1/messages?limit=3&before={newest[0]['line']}"
        )
        wrong = await client.get("/api/conversations/c1/messages?before=nothing")
        strange = await client.get("/api/conversations/c1/messages?limit=x")
    assert [message["line"] for message in newest] == [6, 7, 8]
    assert [message["line"] for message in by_id.json()["messages"]] == [3, 4, 5]
    assert by_id.json() == by_line.json()
    assert (wrong.status_code, strange.status_code) == (400, 400)


async def test_an_unknown_conversation_is_404_until_a_message_is_sent_to_it(site: Running) -> None:
    async with site.client() as client:
        paths = ["/api/conversations/nobody/messages", "/api/conversations/nobody/events"]
        assert {(await client.get(path)).status_code for path in paths} == {404}
        assert (await client.post("/api/conversations/nobody/stop")).status_code == 404
        await client.post("/api/messages", json=said(conversation="nobody"))
        assert (await client.get(paths[0])).status_code == 200
        assert (await client.post("/api/conversations/nobody/stop")).status_code == 202
        listed = (await client.get("/api/conversations")).json()["conversations"]
    assert site.bot.stopped == ["nobody"]
    assert [sorted(item) for item in listed] == [
        ["channel", "id", "title", "turns", "updated_at", "whose"]
    ]


@pytest.mark.parametrize("broken", [OSError("disk full"), RuntimeError("no")])
async def test_what_could_not_be_stored_is_503_and_may_be_sent_again(
    site: Running, broken: Exception
) -> None:
    async with site.client() as client:
        site.bot.broken = broken
        refused = await client.post("/api/messages", json=said(key="k"))
        site.bot.broken = None
        taken = await client.post("/api/messages", json=said(key="k"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "storage")
    assert taken.status_code == 202


async def test_unicode_survives_and_what_cannot_be_stored_is_mended_at_the_edge(
    site: Running,
) -> None:
    odd = "á̈́ 👨‍👩‍👧‍👦 \u202eabc\u202c 𠮷 \ufffe"
    async with site.client() as client:
        await client.post("/api/messages", json=said(odd))
        await client.post(
            "/api/messages", content=b'{"conversation":"c1","text":"a\\u0000b\\ud800c"}'
        )
        messages = (await client.get("/api/conversations/c1/messages")).json()["messages"]
    assert [message["text"] for message in messages if message["role"] == "user"] == [
        odd,
        "ab\ufffdc",
    ]


async def test_until_the_bot_is_open_everything_but_healthz_is_503_starting() -> None:
    async with running(ScriptedBot(), opened=False) as site, site.client() as client:
        assert (await client.get("/healthz")).json()["ok"] is True
        ready = await client.get("/readyz")
        early = await client.post("/api/messages", json=said())
        assert (ready.status_code, ready.json()) == (
            503,
            {"ok": False, "reasons": {"starting": True}},
        )
        assert (early.status_code, early.json()["error"]["code"]) == (503, "starting")
        site.site.open(site.bot.doors())
        assert (await client.post("/api/messages", json=said())).status_code == 202


async def test_routes_that_cannot_be_loaded_now_are_503_and_loaded_by_a_later_request() -> None:
    async def shown(_: Request) -> Response:
        return json_response({"fine": True})

    async def load() -> tuple[Route, ...]:
        if not failures:
            return (
                Route(method="GET", path="/api/v1/later", action="console.read", handler=shown),
            )
        raise failures.pop()

    failures = [HttpRefusal(503, "starting", Phrase("not ready yet; try again in a moment"))]
    async with running(ScriptedBot(), opened=False) as site, site.client() as client:
        site.site.open(site.bot.doors(), load=load)
        assert (await client.get("/api/v1/session")).status_code == 200
        assert len(failures) == 1
        assert (await client.get("/api/v1/later")).json()["error"]["code"] == "starting"
        assert [
            (await client.get(path)).status_code for path in ("/api/v1/later", "/api/v1/later")
        ] == [200, 200]


async def test_health_says_ok_to_anybody_and_why_to_the_owner(site: Running) -> None:
    async with site.nobody() as nobody, site.client() as owner:
        assert (await nobody.get("/readyz")).json() == {"ok": True}
        assert (await owner.get("/readyz")).json() == {"ok": True, "reasons": {"disk_free": 1}}


async def test_wrong_paths_and_methods_are_json_errors(site: Running) -> None:
    async with site.client() as client:
        missing, wrong = await client.get("/api/nothing"), await client.delete("/api/messages")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method")


async def test_a_slow_large_upload_holds_up_no_small_message(site: Running) -> None:
    started = asyncio.Event()

    async def dawdling() -> AsyncIterator[bytes]:
        yield b" " * (2 << 20)
        started.set()
        await asyncio.Event().wait()

    async with site.client() as client:
        upload = asyncio.create_task(client.post("/api/messages", content=dawdling()))
        await started.wait()
        assert (await client.post("/api/messages", json=said())).status_code == 202
        upload.cancel()
        await asyncio.gather(upload, return_exceptions=True)
        file = {
            "name": "a",
            "media_type": "text/plain",
            "data": base64.b64encode(b"x" * 2_000_000).decode(),
        }
        large = await client.post("/api/messages", json=said(attachments=[file]))
    assert large.status_code == 202
