"""The log file: bounded, whole lines, private, through full disks and with several processes."""

import json
import os
import resource
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest

from bot.telemetry.log import LogFile
from tests.bot.telemetry.test_log import lines, path  # noqa: F401  a fixture


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Limit the size of files of this process, which looks like a full disk."""
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, former)


def test_I26_so_many_full_files_are_kept_and_no_more(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "m.log", 100, 3)
    for number in range(100):
        log.write(f"{number:030d}\n")
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["m.log", "m.log.1", "m.log.2", "m.log.3"]
    held = [
        int(line) for name in reversed(names) for line in (tmp_path / name).read_text().splitlines()
    ]
    assert held == list(range(held[0], 100))
    fewer = LogFile(tmp_path / "m.log", 100, 1)
    for number in range(3):
        fewer.write(f"{number:030d}\n")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.log", "m.log.1"]


def test_only_its_owner_may_read_it_whatever_it_was(tmp_path: Path) -> None:
    (tmp_path / "m.log").write_text("older\n")
    (tmp_path / "m.log").chmod(0o644)
    log = LogFile(tmp_path / "m.log", 10, 2)
    log.write("more than ten\n")
    log.write("and again\n")
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


def test_I24_a_full_disk_stops_nobody_and_the_next_line_is_whole(
    path: Path,  # noqa: F811
    capfd: pytest.CaptureFixture[str],
) -> None:
    from bot.telemetry import log

    log.start_logging(path, warn=False)
    log.get_logger("bot.x").info("before")
    with at_most(path.stat().st_size + 20):
        for _ in range(3):
            log.get_logger("bot.x").info("lost", why="x" * 100)
    log.get_logger("bot.x").info("after")
    whole = [line for line in path.read_text().splitlines() if line.endswith("}")]
    assert [json.loads(line)["event"] for line in whole] == ["before", "after"]
    assert capfd.readouterr().err.count("the log cannot be written") == 1


def write_lines(target: Path, who: str) -> None:
    from bot.telemetry import log

    log.start_logging(target, log.LogSettings(max_bytes=20_000, keep=50), warn=False)
    for number in range(500):
        log.get_logger("bot.x").info("line", who=who, number=number)


def test_two_processes_write_one_log_and_no_line_is_lost_or_torn(tmp_path: Path) -> None:
    target = tmp_path / "log" / "m.log"
    writers = [get_context("fork").Process(target=write_lines, args=(target, who)) for who in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    files = list(target.parent.iterdir())
    assert len(files) > 5
    rows = [row for file in files for row in lines(file)]
    for who in "abc":
        assert sorted(row["number"] for row in rows if row["who"] == who) == list(range(500))


def test_who_is_frozen_in_the_middle_of_a_change_holds_up_nobody(tmp_path: Path) -> None:
    import fcntl

    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    log = LogFile(tmp_path / "m.log", 10, 2)
    for _ in range(3):
        log.write("twelve signs\n")
    assert [file.name for file in tmp_path.iterdir()] == ["m.log"]
    os.close(folder)
    log.write("twelve signs\n")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.log", "m.log.1"]


def test_a_file_that_somebody_took_away_is_begun_again(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "m.log", 1_000, 2)
    log.write("one\n")
    (tmp_path / "m.log").rename(tmp_path / "elsewhere")
    log.write("two\n")
    assert (tmp_path / "m.log").read_text() == "two\n"
