"""The database file that is in use and what became of it."""

from pathlib import Path

from memory.store.database_file import DatabaseFile


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
