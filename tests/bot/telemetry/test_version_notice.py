"""The owner is told that another version is installed than runs, until it does."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from bot.telemetry.faults import VERSION_SUBJECT, TroubleList, troubles_to_json
from bot.telemetry.version_notice import CHECK_SECONDS, VersionNotice
from tests.bot.inside import inside


class Machine:
    """What is installed, and the time."""

    def __init__(self, version: str) -> None:
        self.version, self.now = version, 0.0

    def installed(self) -> str:
        if not self.version:
            raise PackageNotFoundError("mnema-bot")
        return self.version

    def clock(self) -> float:
        return self.now


def test_another_version_is_a_trouble_until_it_runs() -> None:
    machine, troubles = Machine("1.0"), TroubleList()
    notice = VersionNotice(troubles, machine.installed, machine.clock)
    for version, told in (("1.0", ()), ("1.1", ("1.1", "1.0")), ("", ("1.1", "1.0")), ("1.0", ())):
        machine.version, machine.now = version, machine.now + CHECK_SECONDS + 1
        notice.check()
        said = troubles_to_json(troubles.current(), "zh").get(VERSION_SUBJECT, "")
        assert bool(said) == bool(told)
        assert all(f"{one} 版" in said for one in told)


def test_the_disk_is_read_once_a_minute() -> None:
    machine, troubles = Machine("1.0"), TroubleList()
    notice = VersionNotice(troubles, machine.installed, machine.clock)
    machine.version, machine.now = "1.1", CHECK_SECONDS - 1
    notice.check()
    assert troubles.current() == ()


def test_a_program_that_is_not_installed_has_no_notice() -> None:
    machine, troubles = Machine(""), TroubleList()
    notice = VersionNotice(troubles, machine.installed, machine.clock)
    machine.version, machine.now = "1.1", CHECK_SECONDS + 1
    notice.check()
    assert troubles.current() == ()


def test_the_version_is_read_from_the_disk_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1.0", "2.0"):
        folder = tmp_path / f"mnema_bot-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: mnema-bot\nVersion: {version}\n"
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    machine, troubles = Machine("1.0"), TroubleList()
    (tmp_path / "mnema_bot-2.0.dist-info").rename(tmp_path / "later")
    notice = VersionNotice(troubles, clock=machine.clock)
    (tmp_path / "mnema_bot-1.0.dist-info").rename(tmp_path / "former")
    (tmp_path / "later").rename(tmp_path / "mnema_bot-2.0.dist-info")
    machine.now = CHECK_SECONDS + 1
    notice.check()
    assert "Version 2.0 is installed, but 1.0 is still running" in str(troubles.current()[0].reason)


async def test_a_bot_looks_at_it(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        machine = Machine("1.0")
        it.bot.version_notice = VersionNotice(it.bot.troubles, machine.installed, machine.clock)
        machine.version, machine.now = "1.1", CHECK_SECONDS + 1
        it.bot.check_files()
        assert [trouble.what for trouble in it.bot.troubles.current()] == [VERSION_SUBJECT]
