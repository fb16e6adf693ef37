"""/forget removes lines of the terminal history and no other byte; odd folders do not stop it."""

from pathlib import Path

import pytest
from prompt_toolkit.history import FileHistory

from memory.forgetting.files import HISTORY_FILE, TerminalHistory
from memory.store.longterm.rows import (
    ChangedFile,
    ForgetReceipt,
    ForgetTargets,
    dump_receipt,
    dump_targets,
    load_targets,
)
from memory.text import mentions
from memory.text.wording import read_wording
from tests.memory.forgetting.conftest import SeededHome, bot

NAME = f"data/{HISTORY_FILE}"


def typed(root: Path, *entries: str) -> Path:
    path = root / "data" / HISTORY_FILE
    path.parent.mkdir(exist_ok=True)
    for entry in entries:
        FileHistory(path).store_string(entry)
    return path


async def forget(home: SeededHome, query: str, space: str = "") -> ForgetReceipt:
    asker, code = await home.ask(query, space=space)
    row = await home.forgetter.find_request(asker, code)
    assert row is not None
    return await home.forgetter.confirm(row)


@pytest.mark.parametrize(
    ("told", "query", "other"),
    [
        ("My secret garden is in Xanadu", "Xanadu", "what is the weather"),
        ("我的秘密花园在仙那度", "仙那度", "今天天气怎么样"),
    ],
)
async def test_I44_it_leaves_the_terminals_history(
    home: SeededHome, told: str, query: str, other: str
) -> None:
    path = typed(home.root, other, f"{other}\n{told}\n{other}", told, f"/forget {query}")
    path.write_bytes(path.read_bytes() + b"+caf\xe9\n")
    await home.talk((told, "Fine."))
    receipt = await forget(home, query)
    assert ChangedFile(path=NAME, lines=(7, 11, 14)) in receipt.files
    assert list(FileHistory(path).load_history_strings())[::-1][:2] == [other, f"{other}\n{other}"]
    assert path.read_bytes().endswith(b"+caf\xe9\n")
    assert home.holds(query) == []


async def test_words_that_go_on_in_the_next_line_leave_both(tmp_path: Path) -> None:
    path = typed(tmp_path, "tea, then my secret\ngarden again")
    targets = ForgetTargets(query="secret garden", row="", items=())
    held = TerminalHistory(tmp_path / "data")
    assert held.find_left(targets) == []
    assert (
        held.find_changes(targets) == held.forget(targets) == [ChangedFile(path=NAME, lines=(3, 4))]
    )
    assert "garden" not in path.read_text()
    assert held.forget(targets) == []


async def test_no_file_is_made_and_another_persons_forgetting_leaves_the_owners_alone(
    home: SeededHome,
) -> None:
    await home.talk(("About Xanadu.", "Yes."), chat="c2", space="ann")
    assert NAME not in {place.path for place in (await forget(home, "Xanadu")).files}
    assert not (home.root / NAME).exists()
    typed(home.root, "to Xanadu")
    await forget(home, "Xanadu", "ann")
    assert home.holds("Xanadu") == [NAME]


async def test_a_history_that_is_a_link_is_named_and_left(home: SeededHome) -> None:
    (home.root / "mine").write_text("\n# 2026\n+to Xanadu\n")
    (home.root / NAME).symlink_to(home.root / "mine")
    await home.talk(("About Xanadu.", "Yes."))
    receipt = await forget(home, "Xanadu")
    assert (receipt.files, receipt.kept) == ((), (NAME,))
    assert (home.root / "mine").read_text() == "\n# 2026\n+to Xanadu\n"


async def test_no_text_stays_in_memory_once_it_is_forgotten(home: SeededHome) -> None:
    before = read_wording("The garden is in Xanadu")
    await home.talk(("The garden is in Xanadu.", "Fine."))
    await forget(home, "Xanadu")
    caches = (
        mentions._index_sentences,
        mentions._wanted_terms,
        mentions._all_terms,
        mentions._longest_piece,
        mentions._query_pattern,
    )
    assert [cache.cache_info().currsize for cache in caches] == [0] * len(caches)
    assert read_wording("The garden is in Xanadu") is not before, (
        "a cached analysis is of forgotten text"
    )


async def _confirmed(home: SeededHome, query: str, chat: str, space: str) -> None:
    """Confirm a request in the store only, as if the process died then."""
    await home.talk((f"My garden is in {query}", "Fine."), chat=chat, space=space)
    asker, _ = await home.ask(query, chat=chat, space=space)
    row = await home.forgetter.find_request(asker)
    assert row is not None
    targets = load_targets(row.targets)
    await home.store.forgettings.confirm(
        row, targets, lambda _: (dump_targets(targets), dump_receipt(ForgetReceipt()))
    )


async def test_a_linked_folder_keeps_neither_the_start_nor_other_rows_waiting(
    tmp_path: Path,
) -> None:
    home = await bot(tmp_path)
    await _confirmed(home, "Xanadu", "c1", "ann")
    await _confirmed(home, "Shangri", "c2", "")
    (tmp_path / "else").mkdir()
    (home.workspace / "spaces" / "ann").rename(tmp_path / "ann")
    (home.workspace / "spaces" / "ann").symlink_to(tmp_path / "ann")
    (home.workspace / "memory").symlink_to(tmp_path / "else")
    await home.forgetter.resume()
    assert [row.space for row in await home.store.forgettings.load_open()] == ["ann"]
    (home.workspace / "spaces" / "ann").unlink()
    await home.forgetter.resume()
    assert await home.store.forgettings.load_open() == []
    await home.recall.close()
    await home.store.close()
