"""A section is appended at the same cost to any log; a kill, a full disk or a person in between
harms nothing.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.failpoints import arm
from memory.workspace.append import NOTE
from memory.workspace.daily_log import (
    LogSection,
    append_section,
    find_section,
    list_folds,
    mark_section,
)
from memory.workspace.files import SpaceFiles, Workspace
from memory.workspace.safe_path import PathRefused
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS

AT = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
PATH = "memory/2026-11-20.md"
LINE = "- 14:03 User: it rained, 雨 and nobody had brought anything against it\n"
POINTS = ("append.noted", "append.written", "append.synced")


def section(fold: str, body: str = "- 14:03 User: hello\n- it rained 雨") -> LogSection:
    return LogSection(fold=fold, channel="web c1", first_turn=1, last_turn=10, at=AT, body=body)


@pytest.fixture
def files(tmp_path: Path) -> SpaceFiles:
    return Workspace(tmp_path).space("")


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    assert arm({})


def put(files: SpaceFiles, text: str) -> None:
    (files.root / "memory").mkdir(mode=0o700, exist_ok=True)
    (files.root / PATH).write_text(text, newline="")
    (files.root / PATH).chmod(0o600)


def data(files: SpaceFiles) -> bytes:
    return (files.root / PATH).read_bytes()


class Disk:
    """Counts what is read and written."""

    def __init__(self) -> None:
        self.bytes = 0


@contextmanager
def counted(patch: pytest.MonkeyPatch) -> Iterator[Disk]:
    disk, read, pread, write = Disk(), os.read, os.pread, os.write

    def counting(real: Callable[..., bytes]) -> Callable[..., bytes]:
        def called(*args: int) -> bytes:
            found = real(*args)
            disk.bytes += len(found)
            return found

        return called

    def writing(fd: int, piece: bytes) -> int:
        done = write(fd, piece)
        disk.bytes += done
        return done

    with patch.context() as patched:
        patched.setattr(os, "read", counting(read))
        patched.setattr(os, "pread", counting(pread))
        patched.setattr(os, "write", writing)
        yield disk


def test_an_append_costs_the_same_in_a_log_that_is_a_hundred_times_as_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for lines in (200, 20_000):
        files = Workspace(tmp_path / f"{lines}").space("")
        put(files, "# 2026-11-20\n\n" + LINE * lines)
        append_section(files, section("f1"))
        with counted(monkeypatch) as disk:
            append_section(files, section("f2"))
            append_section(files, section("f3"))
        assert list_folds(files.read(PATH).text) == ("f1", "f2", "f3")
        costs.append(disk.bytes)
    assert abs(costs[1] - costs[0]) < 50, "but for the digits of the size"


bodies = st.text(st.sampled_from("- a雨`~#\n\r\t \u2028\x85\v\ud800"), min_size=0, max_size=30)


@given(
    st.sampled_from(
        [
            "",
            "\ufeff# mine\r\n\r\nnote\r\n",
            "# 2026-11-20\n\n- a\n",
            "no end",
            "```\nopen\n",
            "a\n\n\n",
        ]
    ),
    st.lists(bodies, min_size=1, max_size=5),
)
def test_the_log_is_the_same_as_if_it_was_written_as_a_whole_each_time(
    tmp_path_factory: pytest.TempPathFactory, text: str, bodies: list[str]
) -> None:
    one, other = (Workspace(tmp_path_factory.mktemp("ws")) for _ in range(2))
    for files in (one.space(""), other.space("")):
        if text:
            put(files, text)
    for number, body in enumerate(bodies):
        append_section(one.space(""), section(f"f{number}", body))
        append_section(Workspace(other.root).space(""), section(f"f{number}", body))
        assert data(one.space("")) == data(other.space(""))


def test_a_section_that_is_there_is_not_appended_again(files: SpaceFiles) -> None:
    for fold in ("f1", "f2", "f2", "f1"):
        append_section(files, section(fold))
    assert list_folds(files.read(PATH).text) == ("f1", "f2")
    assert files.read(PATH).text.count("<!-- fold f2 -->") == 1


def _replaced(path: Path) -> None:
    path.with_name("x").write_text(path.read_text() + "mine\n```\n")
    path.with_name("x").replace(path)


def _written_over(path: Path) -> None:
    with path.open("r+") as file:
        file.write("# mine 1120\n")


EDITS: dict[str, Callable[[Path], object]] = {
    "a line more": lambda path: path.write_text(path.read_text() + "mine\n"),
    "a line without an end": lambda path: path.write_text(path.read_text() + "mine"),
    "an open fence": lambda path: path.write_text(path.read_text() + "mine\n```\n"),
    "another file": _replaced,
    "the same size": _written_over,
    "the section itself": lambda path: path.write_text(
        path.read_text() + f"\nmine\n\n{section('f3').heading}\n\n- edited\n"
    ),
    "the section removed": lambda path: path.write_text("mine\n"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_a_person_edits_in_between_is_noticed_and_stays(files: SpaceFiles, edit: str) -> None:
    append_section(files, section("f1"))
    append_section(files, section("f2"))
    EDITS[edit](files.root / PATH)
    edited = files.read(PATH).text
    append_section(files, section("f3"))
    append_section(files, section("f4"))
    text = files.read(PATH).text
    assert text.startswith(edited.rstrip("\n"))
    assert list_folds(text)[-2:] == ("f3", "f4")
    assert text.count("<!-- fold f3 -->") == 1


def test_after_a_mark_the_next_section_is_appended_too(files: SpaceFiles) -> None:
    append_section(files, section("f1"))
    assert mark_section(files, PATH, "f1", "stale")
    append_section(files, section("f2"))
    assert list_folds(files.read(PATH).text) == ("f1", "f2")


def test_a_log_that_others_may_read_is_written_as_a_whole_and_private_again(
    files: SpaceFiles,
) -> None:
    append_section(files, section("f1"))
    (files.root / PATH).chmod(0o644)
    append_section(files, section("f2"))
    assert (files.root / PATH).stat().st_mode & 0o777 == 0o600
    assert list_folds(files.read(PATH).text) == ("f1", "f2")


class _Suspendable:
    """The lock of a holder that may lose it while it sleeps."""

    mark = ".1-2"

    def check_still_held(self) -> None: ...


class _SuspendableLocks:
    @contextmanager
    def alone(self, space: str, folder: int) -> Iterator[_Suspendable]:
        with LOCAL_WRITE_LOCKS.alone(space, folder):
            yield _Suspendable()


def test_who_may_lose_the_lock_unnoticed_appends_to_no_file_in_place(tmp_path: Path) -> None:
    files = Workspace(tmp_path, _SuspendableLocks()).space("")
    append_section(files, section("f1"))
    before = (files.root / PATH).stat().st_ino
    append_section(files, section("f2"))
    assert (files.root / PATH).stat().st_ino != before
    assert list_folds(files.read(PATH).text) == ("f1", "f2")


def killed_at(root: Path, point: str, action: str) -> None:
    """Append two sections in a process that is killed during the second."""
    child = os.fork()
    if not child:
        arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{point}:{action}"})
        files = Workspace(root).space("")
        append_section(files, section("f1"))
        append_section(files, section("f2"))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9


KILLS = [*((point, "kill9") for point in POINTS), ("append.written", "torn")]


@pytest.mark.kill
@pytest.mark.parametrize(("point", "action"), KILLS)
@pytest.mark.parametrize("first", ["the same fold", "another fold", "a look"])
def test_after_a_kill_no_half_section_stays_and_none_is_there_twice(
    tmp_path: Path, point: str, action: str, first: str
) -> None:
    body = "- 14:03 User: 雨雨雨" + "雨" * 33  # half of its bytes are no UTF-8
    expected = Workspace(tmp_path / "expected").space("")
    for fold in ("f1", "f2"):
        append_section(expected, section(fold))
    killed_at(tmp_path / "ws", point, action)
    files = Workspace(tmp_path / "ws").space("")
    if first == "another fold":
        append_section(files, section("f3", body))
    if first == "a look":
        find_section(files, section("f2"))
    append_section(files, section("f2"))
    text = files.read(PATH, exact=True).text
    assert sorted(list_folds(text)) == (
        ["f1", "f2", "f3"] if first == "another fold" else ["f1", "f2"]
    )
    for fold in ("f1", "f2"):
        assert text.count(f"{section(fold).heading}\n\n{section(fold).body}\n") == 1
        assert text.count(f"fold {fold}") == 1
    if first != "another fold":
        assert text == expected.read(PATH).text
    assert os.listdir(files.root / "memory") == ["2026-11-20.md"]


@pytest.mark.kill
def test_what_a_person_has_put_behind_a_half_section_stays(tmp_path: Path) -> None:
    killed_at(tmp_path, "append.written", "torn")
    files = Workspace(tmp_path).space("")
    with (files.root / PATH).open("ab") as file:
        file.write(b"\nmine\n")
    before = data(files)
    files.finish_append(PATH)
    assert data(files) == before
    assert not (files.root / "memory" / NOTE).exists()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("action", ["enospc", "raise"])
def test_an_append_that_fails_leaves_the_log_as_it_was(
    files: SpaceFiles, point: str, action: str
) -> None:
    append_section(files, section("f1"))
    before = data(files)
    assert arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{point}:{action}"})
    with pytest.raises((OSError, RuntimeError)):
        append_section(files, section("f2"))
    assert data(files) == before
    assert os.listdir(files.root / "memory") == ["2026-11-20.md"]
    append_section(files, section("f2"))
    assert list_folds(files.read(PATH).text) == ("f1", "f2")


@pytest.mark.parametrize(
    "note", [b"", b"{}\n", b"[]\n", b'{"name": "2026-11-20.md", "size": 3, "sha256": "0"}\nwords']
)
def test_a_note_that_is_torn_itself_changes_nothing(files: SpaceFiles, note: bytes) -> None:
    append_section(files, section("f1"))
    before = data(files)
    (files.root / "memory" / NOTE).write_bytes(note)
    files.finish_append(PATH)
    assert data(files) == before
    assert os.listdir(files.root / "memory") == ["2026-11-20.md"]


def test_nobody_can_write_such_a_note_by_its_path(files: SpaceFiles) -> None:
    for name in (NOTE, NOTE.upper(), f"memory/{NOTE}"):
        with pytest.raises(PathRefused):
            files.write(name, "words", None)


def test_I22_what_is_appended_is_on_the_disk_before_anybody_is_told(
    files: SpaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_section(files, section("f1"))
    synced: list[tuple[int, int]] = []
    sync = os.fsync

    def fsync(fd: int) -> None:
        status = os.fstat(fd)
        synced.append((status.st_ino, status.st_size))
        sync(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    before = (files.root / PATH).stat()
    append_section(files, section("f2"))
    after, folder = (files.root / PATH).stat(), (files.root / "memory").stat()
    assert after.st_ino == before.st_ino, "it was appended"
    note, *others = synced
    assert note[0] not in (after.st_ino, folder.st_ino)
    assert [inode for inode, _ in others] == [folder.st_ino, after.st_ino]
    assert others[-1] == (after.st_ino, after.st_size)
