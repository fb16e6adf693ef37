"""The workspace's files: bounds, atomic writes, conflicts, and what a killed writer leaves."""

import ctypes
import os
import resource
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.workspace.atomic_write import FileConflict, write_atomic
from memory.workspace.files import SpaceFiles, TextFile, Workspace
from memory.workspace.safe_path import FOLDER_FLAGS, FileTooBig, PathRefused, open_below, split_path

HOSTILE = [
    "../etc/passwd",
    "/etc/passwd",
    "memory/../../x",
    "..%2f..%2fetc/passwd/..",
    "a/./b",
    ".",
    "..",
    "a//b",
    "a/",
    "nul\0byte",
    "C:\\x",
    "trailing.",
    "trailing ",
    "\u202etxt.exe",
    "zero\u200bwidth",
    "line\nbreak",
    "lone\ud800surrogate",
    "x" * 121,
    "字" * 41,
]


@pytest.fixture
def files(tmp_path: Path) -> SpaceFiles:
    return Workspace(tmp_path / "workspace").space("")


@pytest.mark.parametrize("path", HOSTILE)
def test_s31_s32_a_path_that_is_not_plainly_inside_is_refused(files: SpaceFiles, path: str) -> None:
    for act in (files.read, files.read_bytes, files.list, lambda p: files.write(p, "x", None)):
        with pytest.raises(PathRefused):
            act(path)
    assert list(files.root.iterdir()) == []


def test_names_in_any_language_are_taken() -> None:
    assert split_path("日志/家庭 👨‍👩‍👧.md") == ("日志", "家庭 👨‍👩‍👧.md")
    assert split_path("") == ()


def test_what_is_written_is_read_back(files: SpaceFiles) -> None:
    made = files.write("memory/2026-11-20.md", "# 今天\r\n- 一\n", None)
    again = files.read("memory/2026-11-20.md")
    assert again == made
    assert again.size == len("# 今天\r\n- 一\n".encode())
    assert stat.S_IMODE((files.root / made.path).stat().st_mode) == 0o600
    assert stat.S_IMODE((files.root / "memory").stat().st_mode) == 0o700


def test_a_mark_and_broken_bytes_survive_reading(files: SpaceFiles) -> None:
    raw = b"\xef\xbb\xbfone\r\ntwo \xff\n"
    (files.root / "MEMORY.md").write_bytes(raw)
    file = files.read("MEMORY.md")
    assert file.text == "\ufeffone\r\ntwo \ufffd\n"
    assert files.read_bytes("MEMORY.md") == raw
    assert file.sha256 != files.write("other.md", file.text, None).sha256


def test_an_absent_file_is_not_found(files: SpaceFiles) -> None:
    for path in ("no.md", "no/such.md"):
        with pytest.raises(FileNotFoundError):
            files.read(path)


def test_a_file_over_the_limit_is_refused_unread(files: SpaceFiles) -> None:
    with (files.root / "huge").open("wb") as out:
        out.truncate(3 * 2**30)
    with pytest.raises(FileTooBig):
        files.read("huge")


def test_a_write_over_an_edit_is_a_conflict_and_both_texts_survive(files: SpaceFiles) -> None:
    read = files.write("MEMORY.md", "first", None)
    (files.root / "MEMORY.md").write_text("the person's own")
    with pytest.raises(FileConflict):
        files.write("MEMORY.md", "the bot's", read.sha256)
    assert files.read("MEMORY.md").text == "the person's own"


def test_a_new_file_is_never_written_over_an_old_one(files: SpaceFiles) -> None:
    files.write("a.md", "old", None)
    with pytest.raises(FileConflict):
        files.write("a.md", "new", None)
    with pytest.raises(FileConflict):
        files.write("gone.md", "new", "0" * 64)
    assert [entry.path for entry in files.list()] == ["a.md"]


@pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o755, 0o700), (0o400, 0o400)])
def test_a_write_keeps_the_owners_mode_of_the_file_and_nobody_elses(
    files: SpaceFiles, before: int, after: int
) -> None:
    made = files.write("a.md", "old", None)
    (files.root / "a.md").chmod(before)
    files.write("a.md", "new", made.sha256)
    assert stat.S_IMODE((files.root / "a.md").stat().st_mode) == after


def test_spaces_do_not_see_each_other(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    owner, guest = workspace.space(""), workspace.space("telegram-7")
    guest.write("MEMORY.md", "theirs", None)
    owner.write("MEMORY.md", "mine", None)
    assert guest.root == tmp_path / "spaces" / "telegram-7"
    assert stat.S_IMODE(guest.root.stat().st_mode) == 0o700
    assert [entry.path for entry in owner.list()] == ["MEMORY.md"]
    set_aside = tmp_path / "spaces.made-by-exec-1a2b3c4d" / "telegram-8"
    set_aside.mkdir(parents=True)
    (set_aside / "MEMORY.md").write_text("theirs")
    assert [entry.path for entry in owner.list()] == ["MEMORY.md"]
    renamed = "spaces.made-by-exec-1a2b3c4d/telegram-8/MEMORY.md"
    for path in ("spaces/telegram-7/MEMORY.md", "Spaces/telegram-7/MEMORY.md", renamed):
        with pytest.raises(PathRefused):
            owner.read(path)
    with pytest.raises(PathRefused):
        guest.read("../telegram-7/MEMORY.md")


@pytest.mark.parametrize("space", ["..", "a/b", "/", "a b", ".", "é", "x" * 101, "a\0"])
def test_s34_a_space_has_a_plain_name(tmp_path: Path, space: str) -> None:
    with pytest.raises(PathRefused):
        Workspace(tmp_path / "w").space(space)
    assert not (tmp_path / "w").exists()


def test_a_listing_tells_what_is_there(files: SpaceFiles) -> None:
    files.write("memory/dreams/a.md", "abc", None)
    files.write("b.md", "", None)
    (files.root / ".b.md.mnema-tmp").write_text("half")
    (files.root / "link").symlink_to("/etc")
    os.mkfifo(files.root / "pipe")
    found = [(entry.path, entry.size, entry.is_dir) for entry in files.list()]
    assert found == [
        ("b.md", 0, False),
        ("memory", 0, True),
        ("memory/dreams", 0, True),
        ("memory/dreams/a.md", 3, False),
    ]
    assert [entry.path for entry in files.list("memory/dreams")] == ["memory/dreams/a.md"]
    with pytest.raises(FileNotFoundError):
        files.list("nowhere")


def _strange(files: SpaceFiles, outside: Path) -> list[str]:
    outside.write_text("secret")
    (files.root / "link").symlink_to(outside)
    (files.root / "proc").symlink_to("/proc/self/environ")
    os.link(outside, files.root / "hard")
    os.mkfifo(files.root / "fifo")
    (files.root / "folder").mkdir()
    return ["link", "proc", "hard", "fifo", "folder"]


def test_s33_links_and_pipes_are_refused_and_nothing_hangs(
    files: SpaceFiles, tmp_path: Path
) -> None:
    for name in _strange(files, tmp_path / "outside"):
        with pytest.raises((PathRefused, IsADirectoryError)):
            files.write(name, "x", None)
        for read in (files.read, files.read_bytes):
            with pytest.raises((PathRefused, IsADirectoryError)):
                read(name)
    assert (tmp_path / "outside").read_text() == "secret"


def test_a_file_that_is_replaced_while_it_is_read_is_not_taken_for_a_strange_one(
    files: SpaceFiles,
) -> None:
    path, done = files.root / "MEMORY.md", threading.Event()
    path.write_text("text")

    def replace() -> None:
        while not done.is_set():
            (files.root / "new").write_text("text")
            (files.root / "new").replace(path)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        assert {files.read("MEMORY.md").text for _ in range(3_000)} == {"text"}
    finally:
        done.set()
        writer.join()


def test_s33_a_link_on_the_way_is_refused(files: SpaceFiles, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("secret")
    (files.root / "memory").symlink_to(tmp_path / "outside")
    with pytest.raises(PathRefused):
        files.read("memory/a.md")
    with pytest.raises(PathRefused):
        files.write("memory/b.md", "x", None)
    with pytest.raises(PathRefused):
        files.list("memory")
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["a.md"]


@pytest.mark.skipif(
    not Path("/dev/null").exists() or os.geteuid() != 0, reason="only root makes devices"
)
def test_s33_a_device_is_refused(files: SpaceFiles) -> None:
    try:
        os.mknod(files.root / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no devices may be made here")
    with pytest.raises((PathRefused, PermissionError)):
        files.read("zero")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_somebody_else_is_refused(files: SpaceFiles) -> None:
    files.write("a.md", "x", None)
    os.chown(files.root / "a.md", 12345, 12345)
    with pytest.raises(PathRefused):
        files.read("a.md")
    os.chown(files.root, 12345, 12345)
    assert files.read("a.md").text == "x"


def test_a_link_is_refused_and_other_errors_are_the_systems(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "a").write_text("a")
    (tmp_path / "in" / "link").symlink_to("deep")
    (tmp_path / "in" / "deep" / "link").symlink_to("a")
    root = os.open(tmp_path / "in", FOLDER_FLAGS)
    outcomes: list[object] = []
    for parts in (
        ["deep", "a"],
        ["deep", "link"],
        ["link", "a"],
        ["no"],
        ["deep", "a", "b"],
        ["deep"],
    ):
        try:
            fd = open_below(root, parts, os.O_RDONLY)
            outcomes.append("open")
            os.close(fd)
        except (OSError, PathRefused) as err:
            outcomes.append(type(err))
    os.close(root)
    assert outcomes == [
        "open",
        PathRefused,
        PathRefused,
        FileNotFoundError,
        NotADirectoryError,
        "open",
    ]


def test_s33_a_folder_swapped_for_a_link_never_leads_outside(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "d").mkdir(parents=True)
    outside.mkdir()
    (inside / "d" / "f").write_bytes(b"inside")
    (outside / "f").write_bytes(b"outside")
    (inside / "evil").symlink_to(outside)
    ended = threading.Event()
    swapper = threading.Thread(target=_swap, args=(inside, ended))
    swapper.start()
    root = os.open(inside, FOLDER_FLAGS)
    seen = set()
    try:
        for _ in range(10_000):
            seen.add(_read(root))
    finally:
        ended.set()
        swapper.join()
        os.close(root)
    assert b"inside" in seen
    assert b"outside" not in seen


def _swap(inside: Path, ended: threading.Event) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    here, exchange = -100, 2
    while not ended.is_set():
        assert (
            libc.renameat2(here, bytes(inside / "d"), here, bytes(inside / "evil"), exchange) == 0
        )


def _read(root: int) -> bytes:
    try:
        fd = open_below(root, ["d", "f"], os.O_RDONLY)
    except (OSError, PathRefused):
        return b""
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


def test_s33_a_write_beside_a_swapper_stays_inside(tmp_path: Path) -> None:
    files = Workspace(tmp_path / "in").space("")
    (tmp_path / "out").mkdir()
    files.write("d/f", "first", None)
    (files.root / "evil").symlink_to(tmp_path / "out")
    ended = threading.Event()
    swapper = threading.Thread(target=_swap, args=(files.root, ended))
    swapper.start()
    try:
        for number in range(300):
            with suppress(OSError, PathRefused, FileConflict):
                files.write(f"d/{number}", "x", None)
    finally:
        ended.set()
        swapper.join()
    assert list((tmp_path / "out").iterdir()) == []


@given(st.lists(st.sampled_from(["read", "write", "edit"]), max_size=12))
def test_no_edit_by_hand_is_ever_lost_silently(
    tmp_path_factory: pytest.TempPathFactory, acts: list[str]
) -> None:
    files = Workspace(tmp_path_factory.mktemp("w")).space("")
    read: TextFile = files.write("a.md", "0", None)
    truth = "0"
    for number, act in enumerate(acts, start=1):
        if act == "read":
            read = files.read("a.md")
        elif act == "edit":
            truth = f"by hand {number}"
            (files.root / "a.md").write_text(truth)
        else:
            unchanged = read.text == truth
            try:
                read = files.write("a.md", f"by us {number}", read.sha256)
                assert unchanged
                truth = f"by us {number}"
            except FileConflict:
                assert not unchanged
        assert (files.root / "a.md").read_text() == truth


@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_is_kept_or_visibly_replaced(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    files = Workspace(tmp_path_factory.mktemp("w")).space("")
    file = files.write("a.md", text, None)
    assert file == files.read("a.md")
    assert file.text == text.encode("utf-8", "replace").decode()


def test_of_many_writers_at_once_each_either_writes_or_is_told(tmp_path: Path) -> None:
    files = Workspace(tmp_path).space("")
    files.write("n", "0", None)
    told = []

    def add() -> None:
        for _ in range(20):
            read = files.read("n")
            try:
                files.write("n", str(int(read.text) + 1), read.sha256)
            except FileConflict:
                told.append(1)

    writers = [threading.Thread(target=add) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert int(files.read("n").text) + len(told) == 80


def test_an_atomic_write_replaces_no_link_and_no_folder(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("real")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder"):
        with pytest.raises(PathRefused):
            write_atomic(tmp_path / name, b"x")
    assert (tmp_path / "real").read_text() == "real"
    write_atomic(tmp_path / "config.json", b"{}", mode=0o600)
    assert stat.S_IMODE((tmp_path / "config.json").stat().st_mode) == 0o600


WRITER = """
import os, sys
from pathlib import Path
from memory import failpoints
from memory.workspace.atomic_write import write_atomic
failpoints.arm(dict(os.environ))
path = Path(sys.argv[1])
for number in range(1, 4):
    write_atomic(path, str(number).encode() * 1_000_000)
    print(number, flush=True)
"""


def _write(path: Path, failpoint: str, limit: int = 0) -> "subprocess.CompletedProcess[str]":
    def narrow() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-c", WRITER, str(path)],
        env={**os.environ, "MNEMA_TEST": "1", "MNEMA_FP": failpoint},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        preexec_fn=narrow if limit else None,
    )


@pytest.mark.kill
@pytest.mark.parametrize(
    ("place", "left"),
    [
        ("file.tmp_written", b"1"),
        ("file.synced", b"1"),
        ("file.replaced", b"2"),
        ("file.dir_synced", b"2"),
    ],
)
def test_i22_a_killed_writer_leaves_the_old_or_the_new_file(
    tmp_path: Path, place: str, left: bytes
) -> None:
    path = tmp_path / "file"
    killed = _write(path, f"{place}@2:kill9")
    assert killed.returncode == -9
    assert killed.stdout.split() == ["1"]
    assert path.read_bytes() == left * 1_000_000
    write_atomic(path, b"healed")
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


@pytest.mark.kill
def test_i22_half_a_write_is_never_seen(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert _write(path, "file.tmp_written@3:torn").returncode == -9
    assert path.read_bytes() == b"2" * 1_000_000


@pytest.mark.kill
@pytest.mark.parametrize("failpoint", ["file.tmp_written@2:enospc", "file.synced@2:eio"])
def test_i22_a_full_disk_leaves_the_old_file_and_no_rest(tmp_path: Path, failpoint: str) -> None:
    path = tmp_path / "file"
    assert _write(path, failpoint).returncode == 1
    assert path.read_bytes() == b"1" * 1_000_000
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


@pytest.mark.kill
def test_i22_a_limit_on_file_size_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    _write(path, "", limit=500_000)
    assert path.read_bytes() == b"old"
