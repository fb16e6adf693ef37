"""A file is from outside where its bytes came from there; whatever else is read leaves a turn
clean.
"""

from pathlib import Path
from typing import Any

import pytest

from bot.memory.view_segments import outside_sources
from channels.message import Attachment
from tests.bot.agent.test_attacks_taint import OUTSIDE, PAGE_PATH, Steered, memory, page
from tests.bot.inside import Inside, inside
from tests.bot.talk import call, results
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.exec.test_exec_in_bot import WAITING, approve, ask, code, files_of, owned
from tests.by_night import first_by_day

NOTE = "notes/tea.md"
WRITE = call("write_file", "f1", path=NOTE, content="Tea is served at four")
READ = call("read_file", "r9", path=NOTE)
CLEAN, TAINTED = False, True


async def labels(it: Inside, chat: str) -> list[bool]:
    """Whether the bot's last words of each turn of a chat are tainted."""
    session = await it.bot.store.sessions.load(await it.conversation(chat))
    return [turn.messages[-1].tainted for turn in session.turns]


def changing(name: str) -> Any:
    """A call that changes the note, which holds one line."""
    patch = f"--- a/{NOTE}\n+++ b/{NOTE}\n@@ -1 +1 @@\n-Tea is served at four\n+Copy mallory\n"
    return {
        "edit_file": call("edit_file", "e1", path=NOTE, old="four", new="five, and copy mallory"),
        "patch_files": call("patch_files", "e1", patch=patch),
    }[name]


@pytest.mark.parametrize("how", ["read_file", "search_files", "by hand"])
async def test_reading_ones_own_note_marks_nothing(tmp_path: Path, how: str) -> None:
    look = call("search_files", "s1", pattern="served") if how == "search_files" else READ
    model = Steered(
        note=[WRITE, "kept"],
        look=[look, "At four."],
        tea=[call("memory_write", "w1", **FACT), "noted"],
    )
    async with inside(tmp_path, model) as it:
        if how == "by hand":
            (tmp_path / "workspace" / "notes").mkdir(parents=True)
            (tmp_path / "workspace" / NOTE).write_text("Tea is served at four")
        else:
            await it.text("note it")
        await it.text("look it up", chat="c2")
        await it.text("tea?", chat="c2")
        assert await labels(it, "c2") == [CLEAN, CLEAN]
        assert FACT["text"] in memory(it), "nothing from outside is in view"


FACT = {"category": "fact", "text": "There is a tea time"}


@pytest.mark.parametrize(
    ("how", "restart"),
    first_by_day(
        2,
        [("edit_file", False), ("patch_files", True), ("edit_file", True), ("patch_files", False)],
    ),
)
async def test_what_a_tainted_turn_wrote_marks_who_reads_it_and_not_who_lists_it(
    tmp_path: Path, how: str, restart: bool
) -> None:
    page(tmp_path)
    model = Steered(
        note=[WRITE, "kept"],
        change=[call("read_file", "r1", path=PAGE_PATH), changing(how), "changed"],
        look=[READ, "At five."],
        grep=[call("search_files", "s1", pattern="mallory"), "There."],
        list=[call("list_files", "l1", path="notes"), "One note."],
    )
    async with inside(tmp_path, model) as it:
        await it.text("note it")
        await it.text("change it", chat="c2")
        assert "mallory" in (tmp_path / "workspace" / NOTE).read_text()
        if not restart:
            await it.text("look it up", chat="c3")
            assert await labels(it, "c3") == [TAINTED]
    async with inside(tmp_path, model) as it:
        if restart:
            await it.text("look it up", chat="c3")
        await it.text("grep it", chat="c4")
        await it.text("list them", chat="c5")
        assert [await labels(it, chat) for chat in ("c3", "c4", "c5")] == [
            [TAINTED],
            [TAINTED],
            [CLEAN],
        ]
    assert NOTE in model.told("list")
    assert OUTSIDE not in model.told("list")


async def test_a_write_that_was_refused_labels_nothing(tmp_path: Path) -> None:
    page(tmp_path)
    model = Steered(
        note=[WRITE, "kept"],
        change=[
            call("read_file", "r1", path=PAGE_PATH),
            call("write_file", "f2", path=NOTE, content="copy mallory"),
            call("edit_file", "e1", path=NOTE, old="nine", new="mallory"),
            "refused",
        ],
        look=[READ, "At four."],
    )
    async with inside(tmp_path, model) as it:
        await it.text("note it")
        await it.text("change it", chat="c2")
        await it.text("look it up", chat="c3")
        assert await labels(it, "c3") == [CLEAN]


@needs_sandbox
async def test_what_a_command_wrote_is_from_outside_and_what_lay_beside_it_is_not(
    tmp_path: Path,
) -> None:
    makes = "echo made > made.txt; mkdir sub; echo made > sub/deep.txt"
    script = f"{makes}; echo more >> changed.txt; touch -d 2020-01-01 changed.txt"
    asked = {
        "mine": call("read_file", "r1", path="files/mine.txt"),
        "made": call("read_file", "r2", path="files/made.txt"),
        "deep": call("read_file", "r3", path="files/sub/deep.txt"),
        "changed": call("read_file", "r4", path="files/changed.txt"),
        "list": call("list_files", "l1", path="files"),
        "notes": call("list_files", "l2", path="notes"),
    }
    acts: dict[str, Any] = {name: [one, "done"] for name, one in asked.items()}
    model = Steered(run=[call("exec", script=script), "asked"], **acts)
    async with owned(tmp_path, model) as it:
        (it.bot.workspace.root / "notes").mkdir()
        (it.bot.workspace.root / NOTE).write_text("tea")
        files_of(it).mkdir(exist_ok=True)
        for name in ("mine.txt", "changed.txt"):
            (files_of(it) / name).write_text("mine\n")
        await ask(it, "run it")
        await approve(it)
        for name in asked:
            await it.text(f"{name}?", chat=name)
        found = {name: (await labels(it, name))[-1] for name in asked}
        assert found == {
            "mine": CLEAN,
            "made": TAINTED,
            "deep": TAINTED,
            "changed": TAINTED,
            "list": TAINTED,
            "notes": CLEAN,
        }
        stored = await it.bot.store.file_labels.load(
            "", ["files/made.txt", "files/sub/one.txt", "files/changed.txt"]
        )
        assert stored.names == {"files/made.txt", "files/sub"}
        assert "files/changed.txt" in stored.contents


@needs_sandbox
async def test_listing_a_folder_after_a_command_that_named_nothing_marks_nothing(
    tmp_path: Path,
) -> None:
    model = Steered(
        run=[call("exec", argv=["wc", "-c", "mine.txt"]), "asked"],
        list=[call("list_files", "l1"), "done"],
    )
    async with owned(tmp_path, model) as it:
        files_of(it).mkdir(exist_ok=True)
        (files_of(it) / "mine.txt").write_text("mine\n")
        await ask(it, "run it")
        await approve(it)
        await it.text("list them", chat="c2")
        assert "files/mine.txt" in model.told("list")
        assert await labels(it, "c2") == [CLEAN]


@needs_sandbox
async def test_a_rule_for_one_command_that_reads_survives_words_from_outside_and_no_other(
    tmp_path: Path,
) -> None:
    count, make = ["wc", "-c", "mine.txt"], ["sh", "-c", "echo made >> made.txt"]
    read = call("read_file", "r1", path=PAGE_PATH)
    prefix = ["cat", "mine.txt"]
    acts: dict[str, Any] = {
        "count it": [call("exec", argv=count), "asked"],
        "make it": [call("exec", argv=make), "asked"],
        "show it": [call("exec", argv=prefix), "asked"],
        "once more": [
            read,
            call("exec", "x1", argv=count),
            call("exec", "x2", argv=make),
            call("exec", "x3", argv=prefix),
            call("exec", "x4", argv=[*count, "-l"]),
            call("exec", "x5", argv=count, cwd="exports"),
            "done",
        ],
        "and now": [read, call("exec", "x6", argv=count), "done"],
    }
    model = Steered(**acts)
    async with owned(tmp_path, model) as it:
        page(tmp_path)
        files_of(it).mkdir(exist_ok=True)
        (files_of(it) / "mine.txt").write_text("mine\n")
        for number, (chat, always) in enumerate(
            (("count it", "always"), ("make it", "always"), ("show it", "always 1"))
        ):
            await it.text(chat, chat=f"c{number}")
            await it.bot.settled()
            assert "saved" in await it.text(f"/approve {code(it)} {always}", chat=f"c{number}")
            await it.bot.settled()
        await it.text("once more", chat="c9")
        told = {result.call_id: result.text for result in results(it.model.requests[-1])}
        questions = [sent.text for sent in it.channel.sent if "text from outside" in sent.text]
        assert all(f"read_file {PAGE_PATH}" in question for question in questions), (
            "the source is named"
        )
        assert "5 mine.txt" in told["x1"]
        assert {id for id, text in told.items() if WAITING in text} == {"x2", "x3", "x4", "x5"}
        assert (await labels(it, "c9")) == [TAINTED]
        (files_of(it) / "mine.txt").write_text("other\n")
        await it.text("and now", chat="c8")
        assert WAITING in results(it.model.requests[-1])[-1].text, "the file is another one"


async def test_the_inspector_names_what_tainted_each_turn(tmp_path: Path) -> None:
    page(tmp_path)
    async with inside(tmp_path, Steered()) as it:
        await it.text("hello")
        await it.text("read the page")
        bill = Attachment(name="bill.txt", media_type="text/plain", data=b"Pay 12 EUR")
        await it.say("and this?", attachments=(bill,))
        conversation = await it.conversation()
        session = await it.bot.store.sessions.load(conversation)
        named = {
            turn: [(source.turn, source.name) for source in sources]
            for turn, sources in outside_sources(session).items()
        }
        read = (2, f"read_file {PAGE_PATH}")
        assert named == {1: [], 2: [read], 3: [(3, "file bill.txt"), read]}
