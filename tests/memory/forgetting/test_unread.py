"""An unreadable file does not count as one without mentions."""

from pathlib import Path

import pytest

from memory.forgetting.files import SpaceMemoryFiles
from memory.store.longterm.rows import ForgetTargets, Mention
from memory.workspace.files import Workspace
from tests.bot.runtime.descriptors import no_descriptors

WORDS = "The safe opens with zanzibar"


def test_I44_a_forgetting_at_the_descriptor_limit_fails_instead_of_leaving_the_line(
    tmp_path: Path,
) -> None:
    (tmp_path / "MEMORY.md").write_text(f"- {WORDS}\n- likes tea\n")
    memory = SpaceMemoryFiles("", Workspace(tmp_path).space(""))
    item = Mention(kind="memory", space="", words=(WORDS,), path="MEMORY.md", line=1)
    targets = ForgetTargets(query="zanzibar", row="", items=(item,))
    assert [file.lines for file in memory.find_changes(targets)] == [(1,)]
    with no_descriptors():
        for act in (memory.find_changes, memory.forget):
            with pytest.raises(OSError, match="Too many open files"):
                act(targets)
    assert [place.lines for place in memory.forget(targets)] == [(1,)]
    assert (tmp_path / "MEMORY.md").read_text() == "- likes tea\n"
