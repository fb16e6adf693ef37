"""A chat of the owner's on another channel is answered from the page, and no other one, over a
whole bot.
"""

from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.models.base import Request
from channels.errors import AwaitsUser
from channels.message import Address, OutboundMessage
from tests.browser.real import ANN, GROUP, OWNER, Real, real_bot

API = "/api/v1"


def script(asked: Request) -> Any:
    return "Noted."


async def hear(
    real: Real, text: str, *, chat: str = OWNER, sender: str = OWNER, **more: Any
) -> str:
    """Let somebody write on Telegram, and wait for the answer; the name of that conversation."""
    asked = real.telegram.hear(text, chat=chat, sender=sender, **more)
    await real.telegram.until(
        lambda: any(one.reply_to_key == asked.key for one in real.telegram.sent)
    )
    row = await real.bot.store.sessions.find("telegram", "1", chat)
    assert row is not None
    return row.id


async def write(client: httpx.AsyncClient, name: str, text: str, **more: Any) -> httpx.Response:
    return await client.post(f"{API}/messages", json={"conversation": name, "text": text, **more})


async def sent_to(real: Real, id: str) -> OutboundMessage:
    await real.telegram.until(lambda: any(one.reply_to == id for one in real.telegram.sent))
    return next(one for one in real.telegram.sent if one.reply_to == id)


async def test_what_is_typed_on_the_page_is_the_owners_message_there_and_answered_there(
    tmp_path: Path,
) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:
        name = await hear(real, "Hello from the phone")
        entry = (await client.get(f"{API}/conversations/{name}")).json()
        assert (entry["channel"], entry["no_reply"]) == ("telegram", None)
        taken = await write(client, name, "And from  the\npage", key="k1")
        assert taken.status_code == 202
        assert (await write(client, name, "And from  the\npage", key="k1")).status_code == 200
        answer = await sent_to(real, taken.json()["id"])
        assert answer.address == Address(channel="telegram", account="1", chat_id=OWNER)
        assert answer.text.startswith("> Asked on the page: And from the page\n\n")
        assert answer.text.endswith("Noted.")
        lines = (await client.get(f"{API}/conversations/{name}/messages")).json()["items"]
        assert [(line["text"], line.get("written_on")) for line in lines] == [
            ("Hello from the phone", None),
            ("Noted.", None),
            ("And from  the\npage", "page"),
            ("Noted.", None),
        ]
        row = await real.bot.store.delivery.inbox(taken.json()["id"])
        assert row is not None
        assert (row.sender_id, row.channel, row.conversation) == (OWNER, "telegram", name)
        listed = (await client.get(f"{API}/conversations")).json()["items"]
        assert [one["id"] for one in listed] == [name]  # no conversation of the page was made


async def test_a_long_question_is_quoted_in_part_and_a_long_answer_still_fits(
    tmp_path: Path,
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "word " * 2_000) as real,
        real.site.client() as client,
    ):
        name = await hear(real, "Hello")
        taken = await write(client, name, "很长的问题" * 100)
        await sent_to(real, taken.json()["id"])
        sent = real.telegram.sent
        await real.telegram.until(lambda: sent[-1].part_no + 1 == sent[-1].parts)
        parts = [one for one in real.telegram.sent if one.reply_to == taken.json()["id"]]
        assert len(parts) > 1
        assert parts[0].text.startswith("> ")
        assert "很长的问题很长" in parts[0].text.splitlines()[0]
        assert "…" in parts[0].text.splitlines()[0]
        assert not parts[1].text.startswith("> ")
        assert all(len(part.text) <= real.telegram.capabilities.limit for part in parts)


async def test_a_command_on_the_page_is_answered_in_that_chat(tmp_path: Path) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:
        name = await hear(real, "Hello")
        taken = await write(client, name, "/whoami")
        answer = await sent_to(real, taken.json()["id"])
        assert "Asked on the page: /whoami" in answer.text
        assert f"your id {OWNER}" in answer.text


async def test_the_page_writes_in_no_group_and_in_no_chat_of_another_person(
    tmp_path: Path,
) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:
        group = await hear(real, "hello all", chat=GROUP, kind="group", addressed=True)
        other = await hear(real, "hi", chat=ANN, sender=ANN)
        before = len(real.telegram.sent)
        for name in (group, other):
            entry = (await client.get(f"{API}/conversations/{name}")).json()
            refused = await write(client, name, "hello")
            assert refused.status_code == 403
            assert refused.json()["error"]["message"] == entry["no_reply"]["en"]
            assert entry["no_reply"]["zh"] != entry["no_reply"]["en"]
        assert len(real.telegram.sent) == before
        listed = (await client.get(f"{API}/conversations")).json()["items"]
        assert {one["id"] for one in listed} == {group, other}


async def test_who_is_no_longer_the_owner_there_is_not_written_for(tmp_path: Path) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:
        name = await hear(real, "Hello")
        real.bot.file.set("channels.telegram.owners", "[]")
        refused = await write(client, name, "hello")
        assert refused.status_code == 403


async def test_a_channel_that_cannot_send_says_so(tmp_path: Path) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:
        name = await hear(real, "Hello")
        await real.bot.gateway.remove("telegram")
        entry = (await client.get(f"{API}/conversations/{name}")).json()
        assert "telegram is off" in entry["no_reply"]["en"]
        assert (await write(client, name, "hello")).status_code == 403


@pytest.mark.parametrize(("left", "writable"), [(0, False), (3, True), (None, True)])
async def test_a_window_that_is_closed_is_closed_on_the_page(
    tmp_path: Path, left: int | None, writable: bool
) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:
        name = await hear(real, "Hello")
        real.telegram.allowance = lambda address: left  # type: ignore[attr-defined]
        entry = (await client.get(f"{API}/conversations/{name}")).json()
        assert (entry["no_reply"] is None) == writable
        assert ((await write(client, name, "hello")).status_code == 202) == writable


async def test_the_page_sees_the_answer_grow(tmp_path: Path) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:
        name = await hear(real, "Hello")
        events: list[str] = []
        async with client.stream("GET", f"{API}/conversations/{name}/events") as stream:
            async for line in stream.aiter_lines():
                if not line.startswith("event:"):
                    continue
                events.append(line.removeprefix("event:").strip())
                if events == ["accepted", "reply"]:  # what was said before
                    await write(client, name, "And from the page")
                elif events[-1] == "reply":
                    break
        assert events[2] == "accepted"
        assert "delta" in events


async def test_what_is_held_until_the_person_writes_there_stays_held(tmp_path: Path) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:
        name = await hear(real, "Hello")
        real.telegram.fail(AwaitsUser("write first"))
        held = real.telegram.hear("And again", chat=OWNER, sender=OWNER)
        await real.telegram.until(lambda: held.key in real.telegram.confirmed)
        await real.bot.settled()
        taken = await write(client, name, "From the page", key="k1")
        await real.bot.settled()
        assert len(real.telegram.sent) == 1
        await hear(real, "From the phone")
        assert [one.reply_to_key for one in real.telegram.sent[1:3]] == [held.key, f"{name}\x1fk1"]
        assert real.telegram.sent[2].reply_to == taken.json()["id"]
