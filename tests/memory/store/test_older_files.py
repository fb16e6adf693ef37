"""r0014 labels files that were written to while words from outside were in view."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory.store.schema.migrations.upgrade import upgrade
from tests.memory.store.first_home import restore_home

# Turns: one of words that were typed, one after a file was sent, one whose messages are not kept
# any more.
CLEAN, SEEN, GONE = "clean", "seen", "gone"


class Old:
    """A database of the version before, with tool calls in one conversation."""

    def __init__(self, path: Path, space: str = "") -> None:
        self.path, self.space, self.seq = restore_home(path), space, 0
        self.rows("DELETE FROM tool_call")
        self.rows("DELETE FROM file_label")
        [self.pattern] = self.rows("SELECT * FROM turn LIMIT 1")
        [self.said] = self.rows("SELECT * FROM message WHERE origin = 'model' LIMIT 1")
        [self.place] = self.rows("SELECT * FROM conversation WHERE kind = 'dm' LIMIT 1")
        self.put("conversation", self.place, id="talk", chat_id="talk", space=space)
        self.turn(CLEAN, tainted=0)
        self.turn(SEEN, tainted=1)
        self.turn(GONE, tainted=None)

    def rows(self, statement: str, values: tuple[Any, ...] = ()) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as held:
            held.row_factory = sqlite3.Row
            return [dict(row) for row in held.execute(statement, values)]

    def put(self, table: str, pattern: dict[str, Any], **changes: Any) -> None:
        row = {**pattern, **changes}
        signs = ", ".join("?" * len(row))
        self.rows(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({signs})", tuple(row.values()))

    def turn(self, id: str, tainted: int | None) -> None:
        """tainted: of its message, None for a turn whose messages are not kept any more."""
        self.seq += 1
        self.put(
            "turn",
            self.pattern,
            id=id,
            conversation="talk",
            number=self.seq,
            inbox_id=id,
            state="done",
        )
        if tainted is not None:
            told = {
                "conversation": "talk",
                "turn_id": id,
                "turn": self.seq,
                "seq": self.seq,
                "epoch": 1,
            }
            self.put("message", self.said, id=id, tainted=tainted, **told)

    def call(
        self, turn: str, path: object, *, tool: str = "write_file", state: str = "done"
    ) -> None:
        self.raw(turn, json.dumps({"path": path, "content": "x"}), tool=tool, state=state)

    def raw(
        self, turn: str, arguments: str, *, tool: str = "write_file", state: str = "done"
    ) -> None:
        self.seq += 1
        row = {
            "id": f"call{self.seq:06}",
            "turn_id": turn,
            "place": self.seq,
            "call_id": f"c{self.seq}",
        }
        told = {
            "name": tool,
            "input": arguments,
            "effect": "idempotent",
            "idem_key": f"k{self.seq}",
        }
        self.put("tool_call", {**row, **told, "state": state, "attempts": 1, "result_id": ""})

    def labels(self) -> set[tuple[str, str]]:
        """Upgrade, and return the labels of files of which only the content comes from outside."""
        upgrade(self.path)
        return {
            (row["space"], row["path"])
            for row in self.rows("SELECT * FROM file_label WHERE content_only = 1")
        }


@pytest.fixture
def old(tmp_path: Path) -> Old:
    return Old(tmp_path / "m.db")


def test_what_a_turn_with_words_from_outside_wrote_is_labelled_by_its_content(old: Old) -> None:
    old.call(CLEAN, "mine.md")
    old.call(SEEN, "mine.md", tool="edit_file")
    old.call(SEEN, "diary.md", tool="restore_file")
    old.call(GONE, "gone.md", tool="edit_file")
    old.call(SEEN, "new.md")
    old.call(CLEAN, "clean.md", tool="edit_file")
    old.raw(
        SEEN,
        json.dumps({"patch": "--- a/log.md\n+++ b/log.md\n@@ -1 +1 @@\n-x\n+y\n"}),
        tool="patch_files",
    )
    assert old.labels() == {
        ("", path) for path in ("mine.md", "diary.md", "gone.md", "new.md", "log.md")
    }


def test_a_name_that_is_labelled_stays_as_it_is(old: Old) -> None:
    old.rows("INSERT INTO file_label VALUES ('', 'new.md', 1.5)")
    old.call(SEEN, "new.md")
    assert old.labels() == set()
    assert old.rows("SELECT at, content_only FROM file_label") == [{"at": 1.5, "content_only": 0}]


@pytest.mark.parametrize(
    ("state", "labelled"),
    [
        *(
            ("done", True),
            ("unknown", True),
            ("started", True),
            ("failed", True),
            ("cancelled", True),
        ),
        *(("planned", False), ("denied", False)),
    ],
)
def test_whatever_may_have_run_counts(old: Old, state: str, labelled: bool) -> None:
    old.call(SEEN, "a.md", state=state)
    assert old.labels() == ({("", "a.md")} if labelled else set())


def test_whoever_joined_anothers_memory_may_have_written_in_either(tmp_path: Path) -> None:
    old = Old(tmp_path / "m.db", space="telegram-5006")
    [link] = old.rows("SELECT * FROM account_link LIMIT 1")
    old.put("account_link", link, own_space="telegram-5006", space="telegram-7")
    old.call(SEEN, "a.md")
    assert old.labels() == {("telegram-5006", "a.md"), ("telegram-7", "a.md")}


@pytest.mark.parametrize(
    "arguments", ["", "{", "[]", "null", '{"path": 7}', '{"path": "a\\u0000b"}', "[" * 20_000]
)
def test_arguments_that_name_nothing_are_passed_over(old: Old, arguments: str) -> None:
    old.raw(SEEN, arguments)
    old.call(SEEN, "\ud800.md")
    old.call(SEEN, "a.md")
    assert old.labels() == {("", "a.md")}


def test_many_calls_are_labelled_in_batches(old: Old) -> None:
    for number in range(130):
        old.call(SEEN, f"{number}.md")
    assert old.labels() == {("", f"{number}.md") for number in range(130)}


def test_the_folder_that_commands_write_to_has_a_name_of_ours(old: Old) -> None:
    old.rows("INSERT INTO file_label VALUES ('', 'files', 1.5)")
    assert old.labels() == set()
    assert old.rows("SELECT path, content_only FROM file_label") == [
        {"path": "files/", "content_only": 0}
    ]
