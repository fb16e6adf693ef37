"""The description of the API: whole, and true of what a running bot replies."""

import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, get_type_hints

import httpx
import pytest_asyncio

from channels.web.requests import Route
from tests.browser.real import Real, real_bot

READS = {
    "/api/v1/session": {},
    "/api/v1/conversations": {"q": "hello", "limit": 1},
    "/api/v1/conversations/{id}": {},
    "/api/v1/conversations/{id}/messages": {"after": 0},
    "/api/v1/conversations/{id}/context": {},
    "/api/v1/conversations/{id}/view": {},
    "/api/v1/conversations/{id}/trace": {},
    "/api/v1/conversations/{id}/coverage": {},
    "/api/v1/conversations/{id}/days": {"offset": 3600},
    "/api/v1/memory/files": {},
    "/api/v1/memory/search": {"q": "hello"},
    "/api/v1/memory/search/model": {"q": "hello"},
    "/api/v1/memory/spaces": {},
    "/api/v1/memory/facts": {"q": "tea"},
    "/api/v1/memory/days": {"month": "2026-11"},
    "/api/v1/memory/days/{day}": {},
    "/api/v1/memory/nights": {},
    "/api/v1/commands": {},
    "/api/v1/status": {},
    "/api/v1/usage": {},
    "/api/v1/usage/days": {"days": 2},
    "/api/v1/metrics/recent": {},
    "/api/v1/logs": {"level": "info"},
    "/api/v1/traces": {"slow": 0},
    "/api/v1/backups": {},
    "/api/v1/jobs": {},
    "/api/v1/access": {},
    "/api/v1/tasks": {},
    "/api/v1/tools": {},
    "/api/v1/approvals": {},
    "/api/v1/config/keys": {},
    "/api/v1/config/state": {},
    "/api/v1/config/source": {},
    "/api/v1/config/versions": {},
    "/api/v1/models/presets": {},
    "/api/v1/skills": {},
    "/api/v1/mcp": {},
    "/api/v1/wizards/reminder": {},
    "/api/v1/wizards/task": {},
    "/api/v1/wizards/skill": {},
    "/api/v1/wizards/mcp": {},
    "/api/v1/wizards/search": {},
    "/api/v1/wizards/model": {},
    "/api/v1/wizards/fallback-model": {},
}


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path, lambda asked: "yes") as up:
        await up.site.site.load_calls()
        yield up


@pytest_asyncio.fixture
async def client(real: Real) -> AsyncIterator[httpx.AsyncClient]:
    async with real.site.client() as made:
        await made.post("/api/v1/messages", json={"conversation": "c1", "text": "hello"})
        async with made.stream("GET", "/api/v1/events?topics=conversations,c:c1&after=0") as stream:
            async for line in stream.aiter_lines():
                if line == "event: reply":
                    break
        yield made


def routes(real: Real) -> dict[tuple[str, str], Route]:
    return {
        (route.method, route.path): route
        for route in real.site.site.calls
        if route.path.startswith("/api/v1/")
    }


async def test_replies_are_as_described(real: Real, client: httpx.AsyncClient) -> None:
    known = routes(real)
    for path, query in READS.items():
        answer = await client.get(
            path.replace("{id}", "c1").replace("{day}", "2026-11-20"), params=query
        )
        assert answer.status_code == 200, path
        reply = known["GET", path].reply
        assert reply, path
        assert set(answer.json()) - {*reply.model_fields, *aliases(reply)} <= KEPT.get(
            path, set()
        ), path
        reply.model_validate(answer.json())


# Fields that the older address has as well and that the page has no use for.
KEPT: Mapping[str, set[str]] = {
    "/api/v1/conversations/{id}/context": {
        *("summary_turns", "prefix_generation", "soul_tokens", "model"),
        *("window", "window_source", "reserve", "shortage"),
    },
    "/api/v1/conversations/{id}/trace": {"trace", "message_id", "state"},
    "/api/v1/usage": {"unit"},
}


def aliases(model: Any) -> set[str]:
    return {field.alias for field in model.model_fields.values() if field.alias}


PROMISED = {
    ("POST", "/api/messages"),
    ("GET", "/api/conversations"),
    ("GET", "/api/conversations/{id}"),
    ("POST", "/api/conversations/{id}/open"),
    ("GET", "/api/conversations/{id}/messages"),
    ("GET", "/api/conversations/{id}/events"),
    ("GET", "/api/conversations/{id}/context"),
    ("POST", "/api/conversations/{id}/stop"),
    ("GET", "/api/events"),
    ("GET", "/api/memory/search"),
    ("GET", "/api/memory/files"),
    ("GET", "/api/memory/files/{path:path}"),
    ("PUT", "/api/memory/files/{path:path}"),
    ("GET", "/api/config"),
    ("PATCH", "/api/config"),
    ("GET", "/api/status"),
    ("GET", "/api/usage"),
    ("GET", "/api/tasks"),
    ("GET", "/api/tasks/{id}"),
    ("POST", "/api/tasks/{id}"),
    ("GET", "/api/approvals"),
    ("POST", "/api/approvals/{id}"),
    ("POST", "/api/approvals/revoke"),
    ("GET", "/api/tools"),
}


async def test_without_a_version_there_are_the_promised_calls_only(
    real: Real, client: httpx.AsyncClient
) -> None:
    addresses = {(route.method, path) for route in real.site.site.calls for path in route.paths}
    assert {one for one in addresses if not one[1].startswith("/api/v1/")} == {
        *PROMISED,
        ("GET", "/metrics"),
    }
    assert (await client.get("/api/waiting")).status_code == 404
    assert (await client.get("/api/v1/waiting")).status_code == 200
    assert (await client.get("/api/tasks")).json().keys() == {"tasks"}


async def test_each_handler_takes_the_model_of_its_route(
    real: Real, client: httpx.AsyncClient
) -> None:
    for route in real.site.site.calls:
        taken = [kind for name, kind in get_type_hints(route.handler).items() if name != "return"][
            1:
        ]
        assert taken == [model for model in (route.query, route.body) if model], route.path


async def test_every_reference_of_the_description_leads_somewhere(
    real: Real, client: httpx.AsyncClient
) -> None:
    answer = await client.get("/api/v1/openapi.json")
    described, text = answer.json(), answer.text
    assert described["openapi"] == "3.1.0"
    schemas = described["components"]["schemas"]
    assert set(re.findall(r'"#/components/schemas/(\w+)"', text)) <= set(schemas)
    assert {path for _, path in routes(real)} == {
        path.replace("memory/files/{path}", "memory/files/{path:path}")
        for path in described["paths"]
    }
    for path, operations in described["paths"].items():
        for operation in operations.values():
            named = {
                parameter["name"]
                for parameter in operation["parameters"]
                if parameter["in"] == "path"
            }
            assert named == set(re.findall(r"\{(\w+)\}", path))
            assert operation["summary"] or "x-action" in operation


async def test_the_versioned_address_names_lists_alike_and_adds_to_their_entries(
    client: httpx.AsyncClient,
) -> None:
    for name, path in (
        ("conversations", "conversations"),
        ("messages", "conversations/c1/messages"),
    ):
        old, new = [(await client.get(f"/api/{version}{path}")).json() for version in ("", "v1/")]
        entries, added_to = old.pop(name), new.pop("items")
        assert entries
        assert entries == [
            {key: one[key] for key in first} for first, one in zip(entries, added_to, strict=True)
        ]
        assert old == new


async def test_a_repeat_with_the_same_idempotency_key_is_one_message(
    client: httpx.AsyncClient,
) -> None:
    sent = [
        await client.post(
            "/api/v1/messages",
            json={"conversation": "c2", "text": "once"},
            headers={"idempotency-key": "k"},
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in sent] == [202, 200]
    assert sent[0].json() == sent[1].json()


async def test_a_page_forward_begins_after_a_line(client: httpx.AsyncClient) -> None:
    path = "/api/v1/conversations/c1/messages"
    lines = [line["line"] for line in (await client.get(path)).json()["items"]]
    assert [
        line["line"]
        for line in (await client.get(path, params={"after": lines[0]})).json()["items"]
    ] == lines[1:]
    for wrong in ("-1", "x", "9" * 16):
        assert (await client.get(path, params={"after": wrong})).status_code == 400


async def test_settings_that_were_changed_meanwhile_are_not_overwritten(
    client: httpx.AsyncClient,
) -> None:
    first = (await client.get("/api/v1/config")).headers["etag"]
    changed = await client.patch(
        "/api/v1/config", json={"language": "zh"}, headers={"if-match": first}
    )
    assert changed.status_code == 200
    stale = await client.patch(
        "/api/v1/config", json={"language": "en"}, headers={"if-match": first}
    )
    assert stale.status_code == 412
    again = await client.patch(
        "/api/v1/config", json={"language": "en"}, headers={"if-match": changed.headers["etag"]}
    )
    assert (again.status_code, again.json()["language"]) == (200, "en")


async def test_a_file_is_only_replaced_by_who_names_what_was_read(
    client: httpx.AsyncClient,
) -> None:
    for path, status in (
        ("/api/v1/memory/files/MEMORY.md", 428),
        ("/api/memory/files/MEMORY.md", 412),
    ):
        assert (await client.put(path, json={"text": "mine"})).status_code == status
    assert (
        await client.put(
            "/api/v1/memory/files/MEMORY.md", json={"text": "mine"}, headers={"if-match": "x"}
        )
    ).status_code == 412


async def test_one_conversation_is_followed_at_a_time(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v1/events?topics=c:c1,c:c2")).status_code == 400
    assert (await client.get("/api/v1/events?topics=c:unknown")).status_code == 404


async def test_the_view_holds_the_very_texts_that_the_model_gets_next(tmp_path: Path) -> None:
    asked: list[Any] = []

    def reply(request: Any) -> str:
        asked.append(request)
        return "yes"

    async with real_bot(tmp_path, reply) as real, real.site.client() as client:
        for number, text in enumerate(("I like green tea", "and *what* do I like?")):
            view = await client.get("/api/v1/conversations/c1/view") if number else None
            await client.post("/api/v1/messages", json={"conversation": "c1", "text": text})
            async with client.stream("GET", "/api/v1/events?topics=c:c1&after=0") as stream:
                replies = 0
                async for line in stream.aiter_lines():
                    replies += line == "event: reply"
                    if replies > number:
                        break
        assert view
        segments = view.json()["items"]
    shown = {
        kind: [one for one in segments if one["kind"] == kind]
        for kind in ("system", "tools", "history")
    }
    assert [piece["text"] for one in shown["system"] for piece in one["pieces"]] == list(
        asked[-1].system
    )
    assert [one["name"] for one in shown["tools"]] == [tool.name for tool in asked[-1].tools]
    history = [
        (piece["role"], piece["text"]) for one in shown["history"] for piece in one["pieces"]
    ]
    sent = [(message.role, part.text) for message in asked[-1].messages for part in message.parts]
    assert sent[: len(history)] == history
    assert len(history) >= 2
