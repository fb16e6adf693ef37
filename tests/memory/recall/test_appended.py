"""After a fold only its section is read and indexed, and the rows are those of the whole file."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.documents import FileBeginning, IndexRow, SearchRequest, rows_of_file
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.keepers.keeper import FILE_PREFIX, sync_files
from memory.recall.search import Recall
from memory.recall.sqlite_index import SqliteIndex
from memory.store.open import open_store
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.store.store import Store
from memory.workspace.daily_log import LogSection, append_section, mark_section
from memory.workspace.files import Workspace
from tests.memory.talking import talk

AT = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
PATH = "memory/2026-11-20.md"
LINE = "- 14:03 User: it rained, and nobody had brought anything against it\n"
LINES = st.lists(
    st.sampled_from(
        [
            "- 14:03 User: a",
            "b",
            "  c",
            "\td",
            "## Mine",
            "### 2026-11-18",
            "# x",
            "```",
            "",
            "\u2028e",
            "f\x0bg",
            "1. h",
        ]
    ),
    max_size=12,
)


def section(fold: str, body: str = LINE * 3) -> LogSection:
    return LogSection(fold=fold, channel="web c1", first_turn=1, last_turn=4, at=AT, body=body)


class CountingIndex:
    """An index that counts the rows it is given, and those it is asked for."""

    def __init__(self, index: SqliteIndex) -> None:
        self._index = index
        self.rows = 0

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        if not more:
            self.rows += len(self._index.lines(name))  # which are compared
        self._index.put(name, stamp, self._counted(rows), more=more)

    def append(self, additions: Mapping[str, tuple[str, Sequence[IndexRow]]]) -> None:
        self.rows += sum(len(rows) for _, rows in additions.values())
        self._index.append(additions)

    def _counted(self, rows: Iterable[IndexRow]) -> Iterator[IndexRow]:
        for row in rows:
            self.rows += 1
            yield row

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    opened = SqliteIndex(tmp_path / "i.db")
    yield opened
    opened.close()


def whole(workspace: Workspace, path: str = PATH) -> list[tuple[int, str]]:
    return [
        (row.line, row.words) for row in rows_of_file(path, workspace.space("").read(path).text)
    ]


OWN = LINES.map(lambda lines: [line for line in lines if not line.startswith(("# ", "## "))])


@given(LINES, st.lists(st.tuples(OWN, st.sampled_from(["", "\r"])), min_size=1, max_size=3))
def test_the_rows_of_a_part_are_those_of_the_whole_file(
    head: Sequence[str], parts: Sequence[Any]
) -> None:
    text = "".join(f"{line}\n" for line in ("# 2026-11-20", *head))
    rows = list(rows_of_file(PATH, text))
    for number, (body, end) in enumerate(parts):
        last = (rows[-1].session, rows[-1].place) if rows else (0, -1)
        after = FileBeginning(lines=len(text.splitlines()), session=last[0], place=last[1])
        part = f"\n{section(f'f{number}').heading}\n\n" + "".join(f"{line}\n" for line in body)
        part = part.replace("\n", f"{end}\n")
        rows += rows_of_file(PATH, part, after)
        text += part
    assert rows == list(rows_of_file(PATH, text))


def test_a_fold_costs_the_index_the_same_in_a_log_that_is_a_hundred_times_as_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for lines in (200, 20_000):
        workspace = Workspace(tmp_path / f"{lines}")
        (workspace.space("").root / "memory").mkdir()
        (workspace.space("").root / PATH).write_text("# 2026-11-20\n\n" + LINE * lines)
        append_section(workspace.space(""), section("f1"))
        index = CountingIndex(SqliteIndex(tmp_path / f"{lines}.db"))
        sync_files(index, workspace, "")
        append_section(workspace.space(""), section("f2"))
        append_section(workspace.space(""), section("f3"))
        index.rows, read = 0, 0
        with monkeypatch.context() as patch:
            real, pread = os.read, os.pread

            def counting(*args: Any, real: Any = real) -> bytes:
                nonlocal read
                found: bytes = real(*args)
                read += len(found)
                return found

            patch.setattr(os, "read", counting)
            patch.setattr(os, "pread", lambda *args, pread=pread: counting(*args, real=pread))
            assert sync_files(index, workspace, "") == []
        assert index.lines(FILE_PREFIX + PATH) == whole(workspace)
        costs.append((index.rows, read))
        assert index.check() == ""
    assert costs[0] == costs[1]
    assert costs[0][0] == 6


def test_the_first_fold_of_a_process_is_indexed_by_its_section_too(
    index: SqliteIndex, tmp_path: Path
) -> None:
    append_section(Workspace(tmp_path / "ws").space(""), section("f1"))
    os.utime(tmp_path / "ws" / PATH, ns=(1, 1))
    started, counting = Workspace(tmp_path / "ws"), CountingIndex(index)
    # so that its last change is long ago for the index
    (tmp_path / "ws" / PATH).rename(tmp_path / "ws" / "x")
    text = (tmp_path / "ws" / "x").read_text()
    (tmp_path / "ws" / "x").unlink()
    started.space("").write(PATH, text + LINE * 50, None)
    _settle(started, index)
    append_section(started.space(""), section("f2"))
    sync_files(counting, started, "")
    assert counting.rows == 3
    assert index.lines(FILE_PREFIX + PATH) == whole(started)


def _settle(workspace: Workspace, index: SqliteIndex) -> None:
    """Index until the file's stamp is trusted."""
    while index.stamps([FILE_PREFIX + PATH]).get(FILE_PREFIX + PATH, "") == "":
        sync_files(index, workspace, "")


EDITS = {
    "a line more": lambda path: path.write_text(path.read_text() + "mine\n"),
    "the same size": lambda path: path.write_text(
        path.read_text().replace("it rained", "it poured", 1)
    ),
    "the beginning": lambda path: path.write_text("mine\n" + path.read_text()),
    "less": lambda path: path.write_text("mine\n"),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("then", ["appended", "not appended"])
def test_what_a_person_edits_between_folds_is_indexed(
    index: SqliteIndex, tmp_path: Path, edit: str, then: str
) -> None:
    workspace = Workspace(tmp_path / "ws")
    append_section(workspace.space(""), section("f1"))
    append_section(workspace.space(""), section("f2"))
    sync_files(index, workspace, "")
    append_section(workspace.space(""), section("f3"))
    EDITS[edit](tmp_path / "ws" / PATH)
    if then == "appended":
        append_section(workspace.space(""), section("f4"))
    sync_files(index, workspace, "")
    assert index.lines(FILE_PREFIX + PATH) == whole(workspace)
    assert index.check() == ""


def test_an_index_that_is_behind_by_several_folds_and_one_that_is_new_have_all(
    index: SqliteIndex, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path / "ws")
    for number in range(100):
        append_section(workspace.space(""), section(f"f{number}"))
        if number in (1, 5, 20, 90):
            sync_files(index, workspace, "")
            assert index.lines(FILE_PREFIX + PATH) == whole(workspace)
    sync_files(index, workspace, "")
    assert index.count() == 300


def test_a_mark_of_an_older_section_removes_its_rows(index: SqliteIndex, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "ws")
    for number in range(3):
        append_section(workspace.space(""), section(f"f{number}"))
        sync_files(index, workspace, "")
    mark_section(workspace.space(""), PATH, "f0", "undone")
    sync_files(index, workspace, "")
    assert index.count() == 6
    append_section(workspace.space(""), section("f3"))
    sync_files(index, workspace, "")
    assert index.count() == 9
    assert index.lines(FILE_PREFIX + PATH) == whole(workspace)


def test_while_a_section_is_being_appended_its_file_is_left_for_the_next_time(
    index: SqliteIndex, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path / "ws")
    append_section(workspace.space(""), section("f1"))
    sync_files(index, workspace, "")
    append_section(workspace.space(""), section("f2"))
    with workspace.space("").growing(PATH):
        assert sync_files(index, workspace, "") == [PATH]
        assert index.count() == 3
    assert sync_files(index, workspace, "") == []
    assert index.count() == 6


async def test_every_index_has_what_is_appended(
    tmp_path: Path, shared: PostgresSharedIndexes | None
) -> None:
    store = await open_store(tmp_path / "m.db")
    workspace, indexes = Workspace(tmp_path / "ws"), shared or FileIndexes(tmp_path / "index")
    recall = Recall(RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC))
    for number in range(4):
        append_section(workspace.space(""), section(f"f{number}"))
        assert await recall.refresh("") == 3 * (number + 1)
    assert await recall.check("") == ""
    await recall.close()
    await store.close()


class AskedStore:
    """A store that counts the folds it is asked about."""

    def __init__(self, store: Store) -> None:
        self._store, self.recall = store, self
        self.asked = 0

    async def hidden_among(
        self, conversation: str, folds: Sequence[str], *bounds: int
    ) -> frozenset[str]:
        self.asked += len(folds)
        return await self._store.recall.hidden_among(conversation, folds, *bounds)

    def __getattr__(self, name: str) -> Any:
        return (
            getattr(self._store, name)
            if hasattr(self._store, name)
            else getattr(self._store.recall, name)
        )


async def test_a_search_asks_for_the_same_number_of_folds_in_a_log_that_is_a_hundred_times_as_long(
    tmp_path: Path,
) -> None:
    store = await open_store(tmp_path / "m.db")
    conversation = await talk(store, [("hello", "hi")])
    asked = []
    for folds in (5, 500):
        workspace, counting = Workspace(tmp_path / f"ws{folds}"), AskedStore(store)
        for number in range(folds):
            body = "- 14:03 User: my canoe is red\n" if number == 3 else LINE
            append_section(workspace.space(""), section(f"f{number}", body))
        indexes = FileIndexes(tmp_path / f"index{folds}")
        recall = Recall(
            RecallDependencies(store=counting, workspace=workspace, indexes=indexes, zone=UTC)
        )  # type: ignore[arg-type]
        request = SearchRequest(
            space="", query="what colour is my canoe", now=AT, on_behalf_of=conversation
        )
        assert [passage.words for passage in await recall.search(request)] == ["my canoe is red"]
        asked.append(counting.asked)
        await recall.close()
    await store.close()
    assert asked == [1, 1]
