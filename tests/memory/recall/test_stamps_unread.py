"""A folder that cannot be listed now is not an empty one: what is indexed of it stays."""

from pathlib import Path

import pytest

from memory.recall.keepers.keeper import read_file_stamps
from memory.workspace.files import Workspace
from tests.bot.runtime.descriptors import no_descriptors


def test_at_the_descriptor_limit_no_file_counts_as_deleted(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- tea")
    assert list(read_file_stamps(Workspace(tmp_path), "")) == ["MEMORY.md"]
    with no_descriptors(), pytest.raises(OSError, match="Too many open files"):
        read_file_stamps(Workspace(tmp_path), "")
    assert read_file_stamps(Workspace(tmp_path), "nobody") == {}
