"""A person's save is reported for the right space, and watching ends when it is cancelled."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from memory.workspace.files import Workspace
from memory.workspace.watch import changed_spaces, watch_spaces


def test_paths_say_whose_they_are() -> None:
    root = Path("/w")
    paths = [
        "MEMORY.md",
        "memory/2026-01-01.md",
        "spaces/bob/MEMORY.md",
        "spaces/eve/memory/x.md",
        "spaces/stray.md",
    ]
    assert changed_spaces(root, [root / path for path in paths]) == {"", "bob", "eve"}
    assert changed_spaces(root, []) == frozenset()


async def test_a_save_is_told_with_its_space_and_cancelling_ends_it(tmp_path: Path) -> None:
    workspace, told = Workspace(tmp_path / "workspace"), asyncio.Queue[frozenset[str]]()
    watching = asyncio.create_task(watch_spaces(workspace, told.put))
    owner, bob = workspace.space(""), workspace.space("bob")
    assert await _told_of(owner.root / "MEMORY.md", told) == {""}
    (bob.root / "notes.txt").write_text("not Markdown")
    (bob.root / "MEMORY.md").write_text("- likes tea\n")
    while (found := await asyncio.wait_for(told.get(), 10)) == {""}:
        continue
    assert found == {"bob"}
    watching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(watching, 5)


async def _told_of(path: Path, told: asyncio.Queue[frozenset[str]]) -> frozenset[str]:
    """Save a file until a report comes, since a watch does not say when it has begun."""
    for number in range(100):
        path.write_text(str(number))
        with suppress(TimeoutError):
            return await asyncio.wait_for(told.get(), 0.3)
    raise AssertionError("nobody looked")
