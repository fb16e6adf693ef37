"""Groups and people are called as their platform calls them: in the list, and in exports."""

import json
from pathlib import Path
from typing import Any

from bot.memory.export import conversation_to_json, load_lines
from tests.browser.real import ANN, GROUP, OWNER, Real, real_bot

API = "/api/v1"


async def hear(real: Real, text: str, *, chat: str, sender: str, **more: Any) -> str:
    asked = real.telegram.hear(text, chat=chat, sender=sender, **more)
    await real.telegram.until(
        lambda: any(one.reply_to_key == asked.key for one in real.telegram.sent)
    )
    row = await real.bot.store.sessions.find("telegram", "1", chat)
    assert row is not None
    return row.id


async def in_group(real: Real, text: str, title: str) -> str:
    return await hear(
        real, text, chat=GROUP, sender=ANN, kind="group", addressed=True, chat_title=title
    )


async def test_a_group_is_called_by_its_title_and_follows_a_new_one(tmp_path: Path) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real, real.site.client() as client:
        name = await in_group(real, "hello all", "Tea\n friends")
        entry = (await client.get(f"{API}/conversations/{name}")).json()
        assert (entry["title"], entry["chat_id"], entry["whose"]) == ("Tea friends", GROUP, "group")
        await in_group(real, "and again", "")  # what brings no title takes none away
        await in_group(real, "and again", "Coffee friends")
        found = (await client.get(f"{API}/conversations?q=coffee")).json()["items"]
        assert [one["title"] for one in found] == ["Coffee friends"]
        headers = {"if-match": f'"{found[0]["etag"]}"'}
        chosen = await client.patch(
            f"{API}/conversations/{name}", json={"title": "Ours"}, headers=headers
        )
        assert chosen.json()["title"] == "Ours"


async def test_a_person_whom_the_settings_let_in_has_the_name_of_the_platform(
    tmp_path: Path,
) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real, real.site.client() as client:
        name = await hear(real, "secret words", chat=ANN, sender=ANN)
        entry = (await client.get(f"{API}/conversations/{name}")).json()
        # the scripted channel calls a person by their id
        assert (entry["person"], entry["title"], entry["chat_id"]) == (ANN, ANN, ANN)
        own = await hear(real, "hello", chat=OWNER, sender=OWNER)
        entry = (await client.get(f"{API}/conversations/{own}")).json()
        assert (entry["person"], entry["title"], entry["chat_id"]) == ("", "hello", "")


async def test_an_export_has_the_names_and_their_ids(tmp_path: Path) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real:
        name = await in_group(real, "hello all", "Tea friends")
        row = await real.bot.store.sessions.conversation(name)
        assert row is not None
        facts = conversation_to_json(row)
        assert (facts["title"], facts["chat_id"]) == ("Tea friends", GROUP)
        lines = [line async for line in load_lines(real.bot.store, name)]
        assert [line.get("sender") for line in lines] == [{"name": ANN, "id": ANN}, None]
        await hear(real, "hello", chat=OWNER, sender=OWNER)
        await hear(real, "/export", chat=OWNER, sender=OWNER)
        [file] = (real.bot.home.workspace / "exports").iterdir()
        first, asked, *_ = map(json.loads, file.read_text("utf-8").splitlines())
        assert (first["session"]["chat_name"], first["session"]["title"]) == (OWNER, "hello")
        assert asked["sender"] == {"name": OWNER, "id": OWNER}


async def test_a_group_that_waits_to_be_let_in_has_its_title(tmp_path: Path) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real, real.site.client() as client:
        real.telegram.hear(
            "", chat="-7", sender=OWNER, kind="group", act="joined", chat_title="Lab"
        )
        await real.telegram.until(lambda: bool(real.telegram.confirmed))
        waiting = (await client.get(f"{API}/access")).json()
        assert "Lab" in json.dumps(waiting)
