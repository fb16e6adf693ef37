"""Over the storage limit nothing is stored and the person is notified; the owner is only warned."""

from pathlib import Path
from typing import Any

import pytest

from bot.access.storage_quota import MB
from bot.models.base import Request
from channels.message import Attachment
from tests.bot.access.test_over_budget import bot
from tests.bot.inside import Inside
from tests.bot.talk import call, results, words

FILE = b"a line of text\n" * 40_000  # 0.6 MB


def blobs(it: Inside) -> int:
    return sum(path.stat().st_size for path in it.bot.home.blobs.iterdir() if len(path.name) == 64)


async def sends(
    it: Inside, person: str, name: str, data: bytes, *, fetched: bool = False
) -> list[str]:
    """Somebody sends a file; what the model is told beside their words."""
    if fetched:
        it.channel.files[name] = data
        attachment = Attachment(name=name, media_type="text/plain", ref=name)
    else:
        attachment = Attachment(name=name, media_type="text/plain", data=data)
    await it.text("look", chat=person, sender=person, attachments=(attachment,))
    return words(it.model.requests[-1])


@pytest.mark.parametrize("fetched", [False, True])
async def test_S65_a_file_over_a_persons_storage_is_not_kept(tmp_path: Path, fetched: bool) -> None:
    async with bot(tmp_path, storage_mb=1) as it:
        assert not any(
            "storage is full" in text
            for text in await sends(it, "2", "one.txt", FILE, fetched=fetched)
        )
        held = blobs(it)
        assert held == len(FILE)
        told = await sends(it, "2", "two.txt", FILE + b"2", fetched=fetched)
        assert any(
            "two.txt was not saved: your storage is full (0.6 of 1 MB used)" in text
            for text in told
        )
        assert blobs(it) == held
        assert not any(
            "storage is full" in text for text in await sends(it, "3", "three.txt", FILE + b"3")
        )
        await sends(it, "1", "four.txt", FILE + FILE + b"4")
        assert blobs(it) > 3 * len(FILE)


async def test_a_restart_counts_what_is_there(tmp_path: Path) -> None:
    async with bot(tmp_path, storage_mb=1) as it:
        await sends(it, "2", "one.txt", FILE)
    async with bot(tmp_path, storage_mb=1) as it:
        told = await sends(it, "2", "two.txt", FILE + b"2")
        assert any("two.txt was not saved" in text for text in told)


async def test_everybodys_storage_is_told_to_the_owner_before_it_is_full(tmp_path: Path) -> None:
    async with bot(tmp_path, storage_mb=0, total={"storage_mb": 1}) as it:
        await it.text("hello", chat="1", sender="1")
        await sends(it, "2", "one.txt", FILE)
        told = await sends(it, "3", "two.txt", FILE + b"2")
        assert any(
            "two.txt was not saved: the storage shared by everyone is full (1 MB)" in text
            for text in told
        )
        await it.channel.until(
            lambda: any("budgets.total.storage_mb" in sent.text for sent in it.channel.sent)
        )
        warned = [
            sent.address.chat_id
            for sent in it.channel.sent
            if "budgets.total.storage_mb" in sent.text
        ]
        assert warned == ["1"]


async def test_a_tool_writes_no_file_for_which_there_is_no_room(tmp_path: Path) -> None:
    def script(request: Request) -> Any:
        return (
            "done"
            if results(request)
            else call("write_file", path="notes.md", content="x" * 2 * MB)
        )

    async with bot(tmp_path, script, storage_mb=1) as it:
        await it.text("note it", chat="2", sender="2")
        [result] = results(it.model.requests[-1])
        assert result.is_error
        assert "your storage is full" in result.text
        assert not list(it.bot.home.workspace.rglob("notes.md"))


async def test_former_versions_of_files_count(tmp_path: Path) -> None:
    steps = [
        call("write_file", path="notes.md", content="start " + "x" * (MB * 4 // 10)),
        call("edit_file", id="t2", path="notes.md", old="start", new="begin"),
        call("edit_file", id="t3", path="notes.md", old="begin", new="start"),
        "done",
    ]
    async with bot(tmp_path, lambda request: steps[len(results(request))], storage_mb=1) as it:
        await it.text("edit it", chat="2", sender="2")
        written, edited, refused = (result.text for result in results(it.model.requests[-1]))
        assert "now holds" in written
        assert "now holds" in edited
        assert "storage is full" in refused
        [notes] = it.bot.home.workspace.rglob("notes.md")
        assert notes.read_text().startswith("begin")
    async with bot(tmp_path, storage_mb=1) as it:
        told = await sends(it, "2", "more.txt", FILE)
        assert any("(0.8 of 1 MB used)" in text for text in told)
