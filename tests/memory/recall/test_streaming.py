"""However long a day's log is, bringing an index in step with it takes the text's own memory and
little more.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.recall.documents import rows_of_file
from memory.recall.keepers.keeper import sync_files
from memory.recall.sqlite_index import SqliteIndex
from memory.workspace.files import Workspace
from tests.weighing import peak

PATH = "memory/2026-11-20.md"
LINE = "- 14:03 User: it rained, and nobody had brought anything against it\n"
SECTION = f"\n## 14:05 · web · turns 1–4 <!-- fold f1 -->\n\n{LINE * 12}"
TEXT = "# 2026-11-20\n" + SECTION * 1_500


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    opened = SqliteIndex(tmp_path / "i.db")
    yield opened
    opened.close()


def test_the_rows_of_a_long_file_are_made_as_they_are_asked_for() -> None:
    assert peak(lambda: sum(row.line > 0 for row in rows_of_file(PATH, TEXT))) < len(TEXT) / 4


def test_a_long_log_that_has_grown_by_a_section_takes_no_more_than_its_text_twice(
    index: SqliteIndex, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path / "ws")
    files = workspace.space("")
    written = files.write(PATH, TEXT, None)
    sync_files(index, workspace, "")
    files.write(PATH, TEXT + SECTION, written.sha256)
    read = peak(lambda: files.read(PATH))
    assert peak(lambda: sync_files(index, workspace, "")) < read + len(TEXT) / 4
    assert index.count() == 1_501 * 12
