"""Blobs are named by their bytes, and durable before their name is returned."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory.workspace.blobs import Blobs, BlobTooBig


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "data" / "blobs", most=1000)


def test_bytes_come_back_by_their_hash(blobs: Blobs) -> None:
    name = blobs.put(b"picture")
    assert name == hashlib.sha256(b"picture").hexdigest()
    assert blobs.get(name) == b"picture"
    assert blobs.get(blobs.put(b"")) == b""


def test_the_same_bytes_are_kept_once(blobs: Blobs, tmp_path: Path) -> None:
    assert blobs.put(b"x") == blobs.put(b"x")
    kept = list((tmp_path / "data" / "blobs").iterdir())
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o777 == 0o600


def test_too_many_bytes_are_refused(blobs: Blobs) -> None:
    with pytest.raises(BlobTooBig):
        blobs.put(b"x" * 1001)


@pytest.mark.parametrize("name", ["", "../x", "a" * 63, "A" * 64, "a" * 64 + "\n", "a" * 64])
def test_an_unknown_name_is_not_found(blobs: Blobs, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        blobs.get(name)


def test_a_damaged_blob_is_not_passed_on_and_is_healed_by_the_next_put(
    blobs: Blobs, tmp_path: Path
) -> None:
    name = blobs.put(b"picture")
    (tmp_path / "data" / "blobs" / name).write_bytes(b"pictur3")
    with pytest.raises(OSError, match="damaged"):
        blobs.get(name)
    blobs.put(b"picture")
    assert blobs.get(name) == b"picture"


PUT = """
import os, sys
from pathlib import Path
from memory import failpoints
from memory.workspace.blobs import Blobs
failpoints.arm(dict(os.environ))
Blobs(Path(sys.argv[1])).put(b"y" * 100_000)
"""


@pytest.mark.kill
@pytest.mark.parametrize(
    ("place", "kept"), [("file.tmp_written:torn", False), ("blob.stored:kill9", True)]
)
def test_a_killed_put_leaves_all_or_nothing(tmp_path: Path, place: str, kept: bool) -> None:
    env = {**os.environ, "MNEMA_TEST": "1", "MNEMA_FP": place}
    killed = subprocess.run(
        [sys.executable, "-c", PUT, str(tmp_path)], env=env, timeout=30, check=False
    )
    assert killed.returncode == -9
    name = hashlib.sha256(b"y" * 100_000).hexdigest()
    assert (tmp_path / name).exists() == kept
    assert Blobs(tmp_path).put(b"y" * 100_000) == name
    assert Blobs(tmp_path).get(name) == b"y" * 100_000
