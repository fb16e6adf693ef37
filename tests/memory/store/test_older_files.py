"""The upgrade labels files of versions without file labels by what was in view when they were named."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory.store.postgres.move import move_in
from memory.store.postgres.schema import upgrade_tables as upgrade_postgres
from memory.store.schema.migrations.upgrade import upgrade
from tests.memory.postgres.test_upgrading import go_back
from tests.memory.store.test_released import restored
from tests.postgres import database, needs_postgres
from tests.walk.record import query

# Turns: one of words that were typed, one after a file was sent, one whose messages are not kept any more.
CLEAN, SEEN, GONE = "clean", "seen", "gone"


class Old:
    """A database of the version before, with tool calls in one conversation."""

    def __init__(self, path: Path, space: str = "") -> None:
        self.path, self.space, self.seq = restored(path, "r0009"), space, 0
        self.rows("DELETE FROM tool_call")
        [self.pattern] = self.rows("SELECT * FROM turn LIMIT 1")
        [self.said] = self.rows("SELECT * FROM message WHERE origin = 'model' LIMIT 1")
        [self.place] = self.rows("SELECT * FROM conversation WHERE kind = 'dm' LIMIT 1")
        self.put("conversation", self.place, id="talk", chat_id="talk", space=space)
        self.turn(CLEAN, '[{"kind":"Text","text":"ok"}]')
        self.turn(SEEN, '[{"kind":"Image","sha256":"x"}]')
        self.turn(GONE, "")

    def rows(self, statement: str, values: tuple[Any, ...] = ()) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as held:
            held.row_factory = sqlite3.Row
            return [dict(row) for row in held.execute(statement, values)]

    def put(self, table: str, pattern: dict[str, Any], **changes: Any) -> None:
        row = {**pattern, **changes}
        signs = ", ".join("?" * len(row))
        self.rows(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({signs})", tuple(row.values()))

    def turn(self, id: str, parts: str) -> None:
        self.seq += 1
        self.put("turn", self.pattern, id=id, conversation="talk", number=self.seq, inbox_id=id, state="done")
        if parts:
            told = {"conversation": "talk", "turn_id": id, "turn": self.seq, "seq": self.seq, "epoch": 1}
            self.put("message", self.said, id=id, parts=parts, **told)

    def call(
        self, turn: str, path: object, *, tool: str = "write_file", state: str = "done", version: str = ""
    ) -> None:
        arguments = {"path": path, "content": "x", **({"version": version} if version else {})}
        self.raw(turn, json.dumps(arguments), tool=tool, state=state)

    def raw(self, turn: str, arguments: str, *, tool: str = "write_file", state: str = "done") -> None:
        self.seq += 1
        row = {"id": f"call{self.seq:06}", "turn_id": turn, "place": self.seq, "call_id": f"c{self.seq}"}
        told = {"name": tool, "input": arguments, "effect": "idempotent", "idem_key": f"k{self.seq}"}
        self.put("tool_call", {**row, **told, "state": state, "attempts": 1, "result_id": ""})

    def labels(self) -> set[tuple[str, str]]:
        upgrade(self.path)
        return {(row["space"], row["path"]) for row in self.rows("SELECT * FROM file_label WHERE content_only = 0")}

    def contents(self) -> set[tuple[str, str]]:
        upgrade(self.path)
        return {(row["space"], row["path"]) for row in self.rows("SELECT * FROM file_label WHERE content_only = 1")}


@pytest.fixture
def old(tmp_path: Path) -> Old:
    return Old(tmp_path / "m.db")


def test_what_a_turn_with_words_from_outside_named_is_labelled_with_its_folders(old: Old) -> None:
    old.call(SEEN, "trips/rome/say yes.md")
    old.call(CLEAN, "mine.md")
    assert old.labels() == {("", "trips"), ("", "trips/rome"), ("", "trips/rome/say yes.md")}


def test_what_a_turn_wrote_whose_messages_are_gone_is_labelled(old: Old) -> None:
    old.call(GONE, "a.md")
    assert old.labels() == {("", "a.md")}


def test_names_that_were_there_before_are_left_alone(old: Old) -> None:
    old.call(CLEAN, "notes/mine.md")
    old.call(SEEN, "notes/theirs.md")
    old.call(SEEN, "notes/mine.md")
    old.call(CLEAN, "diary.md", tool="edit_file")
    old.call(SEEN, "diary.md")
    old.call(SEEN, "theirs.md", tool="edit_file")
    old.call(SEEN, "there.md", version="0123456789ab")
    assert old.labels() == {("", "notes/theirs.md")}


def test_a_later_clean_turn_does_not_make_a_name_clean(old: Old) -> None:
    old.call(SEEN, "a.md")
    old.call(CLEAN, "a.md", version="0123456789ab")
    assert old.labels() == {("", "a.md")}


@pytest.mark.parametrize(
    ("state", "labelled"),
    [
        *(("done", True), ("unknown", True), ("started", True), ("failed", True), ("cancelled", True)),
        *(("planned", False), ("denied", False)),
    ],
)
def test_whatever_may_have_run_counts(old: Old, state: str, labelled: bool) -> None:
    old.call(CLEAN, "a.md", state="failed")
    old.call(SEEN, "a.md", state=state)
    assert old.labels() == ({("", "a.md")} if labelled else set())


def test_our_own_names_are_no_ones_words(old: Old) -> None:
    for path in ("MEMORY.md", "SOUL.md", "memory/2026-11-20.md"):
        old.call(SEEN, path)
    assert old.labels() == {("", "memory/2026-11-20.md")}


def test_whoever_joined_anothers_memory_may_have_written_in_either(tmp_path: Path) -> None:
    old = Old(tmp_path / "m.db", space="telegram-5006")
    [link] = old.rows("SELECT * FROM account_link LIMIT 1")
    old.put("account_link", link, own_space="telegram-5006", space="telegram-7")
    old.call(SEEN, "a.md")
    assert old.labels() == {("telegram-5006", "a.md"), ("telegram-7", "a.md")}


@pytest.mark.parametrize("arguments", ["", "{", "[]", "null", '{"path": 7}', '{"path": "a\\u0000b"}', "[" * 20_000])
def test_arguments_that_name_nothing_are_passed_over(old: Old, arguments: str) -> None:
    old.raw(SEEN, arguments)
    old.call(SEEN, "\ud800.md")
    old.call(SEEN, "a.md")
    assert old.labels() == {("", "a.md")}


def test_many_calls_are_labelled_in_batches(old: Old) -> None:
    for number in range(130):
        old.call(SEEN, f"{number}.md")
    assert old.labels() == {("", f"{number}.md") for number in range(130)}


@pytest.mark.postgres
def test_in_postgresql_the_same_names_are_labelled(old: Old) -> None:
    needs_postgres()
    for number in range(60):
        old.call(SEEN, f"trips/{number}.md")
    old.call(CLEAN, "mine.md")
    old.call(GONE, "mine.md")
    old.call(GONE, "gone.md")
    labels = old.labels()
    assert {("", "trips"), ("", "trips/59.md"), ("", "gone.md")} < labels
    with database() as url:
        asyncio.run(move_in(old.path, url))
        go_back(url, "r0009")
        assert query(url, "SELECT 1 FROM information_schema.tables WHERE table_name = 'file_label'") == []
        assert asyncio.run(upgrade_postgres(url)) == "r0009"
        assert set(query(url, "SELECT space, path FROM file_label WHERE content_only = 0")) == labels


def test_what_a_turn_with_words_from_outside_wrote_to_older_files_is_labelled_by_its_content(old: Old) -> None:
    old.call(CLEAN, "mine.md")
    old.call(SEEN, "mine.md", tool="edit_file")
    old.call(SEEN, "diary.md", tool="restore_file")
    old.call(GONE, "gone.md", tool="edit_file")
    old.call(SEEN, "never.md", tool="edit_file", state="denied")
    old.call(SEEN, "new.md")
    old.call(CLEAN, "clean.md", tool="edit_file")
    old.raw(SEEN, json.dumps({"patch": "--- a/log.md\n+++ b/log.md\n@@ -1 +1 @@\n-x\n+y\n"}), tool="patch_files")
    assert old.contents() == {("", path) for path in ("mine.md", "diary.md", "gone.md", "log.md")}


def test_the_folder_that_commands_write_to_has_a_name_of_ours(tmp_path: Path) -> None:
    path = restored(tmp_path / "m.db", "r0013")
    with closing(sqlite3.connect(path, isolation_level=None)) as held:
        held.execute("INSERT INTO file_label VALUES ('', 'files', 1.5)")
        upgrade(path)
        assert held.execute("SELECT path, content_only FROM file_label WHERE path LIKE 'files%'").fetchall() == [
            ("files/", 0)
        ]
