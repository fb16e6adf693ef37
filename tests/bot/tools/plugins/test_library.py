"""The folder of plug-in files: how many count, and that a changed one is told once."""

from pathlib import Path

from bot.tools.plugins.library import MAX_FILES, EnabledPlugin, PluginLibrary, PluginState
from memory.workspace.files import Workspace


class Folder:
    """A library over a folder, looked at anew each time."""

    def __init__(self, root: Path) -> None:
        self.tools = root / "workspace" / "tools"
        self.tools.mkdir(parents=True)
        self.told: list[tuple[str, str]] = []
        self.now = 0.0
        self.library = PluginLibrary(
            Workspace(root / "workspace"),
            PluginState(root / "plugins.json"),
            lambda name, sha256: self.told.append((name, sha256)),
            self.clock,
        )

    def clock(self) -> float:
        self.now += 60.0
        return self.now

    def write(self, name: str, text: str) -> None:
        (self.tools / f"{name}.py").write_text(text, "utf-8")


def test_so_many_files_count_and_no_more(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for number in range(MAX_FILES + 1):
        folder.write(f"t{number:03}", "")
    names = [file.name for file in folder.library.all()]
    assert names == [f"t{number:03}" for number in range(MAX_FILES)]


def test_each_change_is_told_once_and_only_the_newest_of_a_file_is_remembered(
    tmp_path: Path,
) -> None:
    folder = Folder(tmp_path)
    folder.write("a", "1")
    [file] = folder.library.all()
    folder.library.state.set("a", EnabledPlugin(sha256=file.sha256, tools=()))
    for text in ("22", "333", "4444"):
        folder.write("a", text)
        for _ in range(2):
            assert folder.library.enabled() == []
    assert len(folder.told) == len({sha256 for _, sha256 in folder.told}) == 3
    assert len(folder.library._notified) == 1
    (folder.tools / "a.py").unlink()
    assert folder.library.enabled() == []
    assert folder.library._notified == {}
