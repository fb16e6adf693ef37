"""The database file that is in use and what became of it."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from memory.store.engine.sqlite import DatabaseFile
from memory.store.errors import StoreMoved
from tests.contracts.store_words import arrival
from tests.memory.store.conftest import SqliteRecord

NOBODY = 65_534


def test_a_data_folder_that_is_a_file_now_is_told_in_the_same_words(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "mnema.db").touch()
    file = DatabaseFile(folder / "mnema.db")
    assert file.trouble() == ""
    folder.rename(tmp_path / "elsewhere")
    folder.touch()
    assert file.trouble() == (
        f"{folder / 'mnema.db'} was removed while mnema uses it: stop mnema, put the file back or restore a backup, "
        "then start again"
    )


@contextmanager
def closed_to_us(folder: Path) -> Iterator[None]:
    """The folder's rights are taken away; root, whom no rights hold back, is somebody else meanwhile."""
    root = os.geteuid() == 0
    folder.chmod(0)
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)


@contextmanager
def a_loop_of_links(folder: Path) -> Iterator[None]:
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.symlink_to(folder)
    try:
        yield
    finally:
        folder.unlink()
        aside.rename(folder)


@pytest.mark.parametrize("spoilt", [closed_to_us, a_loop_of_links])
async def test_a_folder_that_cannot_be_looked_into_is_trouble_and_no_error(
    tmp_path: Path, spoilt: Callable[[Path], AbstractContextManager[None]]
) -> None:
    record = SqliteRecord(tmp_path / "data" / "mnema.db")
    store = await record.open()
    with spoilt(tmp_path / "data"):
        trouble = store.file_trouble()
        with pytest.raises(StoreMoved) as refused:
            await store.delivery.accept([arrival("k", "into nothing")])
        ready = await store.ready()
    assert trouble.startswith(f"{tmp_path / 'data' / 'mnema.db'} cannot be reached while mnema uses it (")
    assert str(refused.value) == trouble
    assert not ready
    assert store.file_trouble() == ""
    assert await store.ready()
    [stored] = await store.delivery.accept([arrival("k", "again")])
    assert stored.new
    await store.close()
