"""S50: the sandbox is used only if it holds; where a part is missing or lets something through,
nothing runs.
"""

import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.cli.doctor.texts import show_checks
from bot.cli.doctor.tools import check_tools
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.tools.exec.probe import probe_sandbox
from bot.tools.exec.runner import SandboxError, find_bubblewrap, run_in_sandbox
from bot.tools.exec.sandbox import SandboxCommand, SandboxLimits
from bot.tools.exec.seccomp import build_filter, is_known_machine
from tests.bot.tools.exec.sandboxed import level, needs_sandbox


def program(folder: Path, text: str) -> str:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("text", "why", "chinese"),
    [
        (
            "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
            "bwrap: setting up uid map: Permission denied",
            "bubblewrap 报错：bwrap: setting up uid map: Permission denied",
        ),
        ("exit 1", "ended at once", "一启动就退出了"),
        ("exit 0", "ended at once", "一启动就退出了"),
    ],
)
async def test_S50_bubblewrap_that_fails_means_refusal_with_its_words(
    tmp_path: Path, text: str, why: str, chinese: str
) -> None:
    found = await probe_sandbox(program(tmp_path, text))
    assert found.level == "C"
    assert found.reason
    assert why in found.reason.text("en")
    assert chinese in found.reason.text("zh")


async def test_S50_bubblewrap_that_is_missing_means_refusal(tmp_path: Path) -> None:
    found = await probe_sandbox(str(tmp_path / "none"))
    assert found.level == "C"
    assert found.reason
    assert found.reason.text("zh").startswith("系统报错：")


async def test_S50_nothing_runs_without_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / "space").mkdir()
    command = SandboxCommand(argv=("touch", str(tmp_path / "ran")), space=tmp_path / "space")
    with pytest.raises(SandboxError):
        await run_in_sandbox(command, SandboxLimits(seconds=5), program(tmp_path, "exit 1"))
    assert not (tmp_path / "ran").exists()


def test_I47_where_bubblewrap_makes_all_namespaces_the_sandbox_lets_nothing_through() -> None:
    """Else the tests of the sandbox would be left out for a hole of our own making."""
    bare = [
        "bwrap",
        "--unshare-all",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "true",
    ]
    if (
        shutil.which("bwrap") is None
        or subprocess.run(bare, check=False, capture_output=True).returncode
    ):
        pytest.skip("bubblewrap makes no namespaces here")
    assert not str(level().reason).startswith("the sandbox leaks")


@needs_sandbox
@pytest.mark.parametrize(
    ("dropped", "why", "chinese"),
    [
        ("--unshare-net", "loopback network", "能连上本机网络"),
        ("--disable-userns", "nested", "能嵌套命名空间"),
        ("--remount-ro", "kernel can be changed", "能改动内核的设置"),
    ],
)
async def test_S50_a_sandbox_with_a_hole_is_refused_and_the_hole_named(
    tmp_path: Path, dropped: str, why: str, chinese: str
) -> None:
    width = 2 if dropped == "--remount-ro" else 1
    skip = f"case $a in {dropped}) skip={width};; esac"
    text = f"""
new=
for a in "$@"; do
  skip=${{skip:-0}}
  {skip}
  if [ "$skip" -gt 0 ]; then skip=$((skip-1)); shift; else set -- "$@" "$a"; shift; fi
done
export MARK=1
exec {find_bubblewrap()} "$@"
"""
    found = await probe_sandbox(program(tmp_path, text))
    if dropped == "--remount-ro" and os.geteuid() != 0:
        why, chinese = "can be written to", "能写入"
    assert found.level == "C"
    assert found.reason
    assert why in found.reason.text("en")
    assert found.reason.text("zh").startswith("沙箱隔离不住：")
    assert chinese in found.reason.text("zh")
    assert "can be" not in found.reason.text("zh")


@needs_sandbox
async def test_S50_a_sandbox_that_shows_the_machines_files_is_refused(tmp_path: Path) -> None:
    text = f'exec {find_bubblewrap()} --ro-bind /etc /etc "$@"'
    found = await probe_sandbox(program(tmp_path, text))
    assert found.level == "C"
    assert "/etc/passwd can be read" in str(found.reason)


def test_the_filter_is_made_for_two_machines_and_no_other() -> None:
    machines: list[Any] = ["x86_64", "aarch64", "armv7l", "riscv64", ""]
    assert [is_known_machine(name) for name in machines] == [True, True, False, False, False]
    for name in machines[:2]:
        code = build_filter(name)
        assert len(code) % 8 == 0
        assert len(code) // 8 < 4096
        jumps = [
            (code[i + 2], code[i + 3], i // 8) for i in range(0, len(code), 8) if code[i] & 7 == 5
        ]
        assert all(at + 1 + max(true, false) < len(code) // 8 for true, false, at in jumps)


async def test_doctor_says_whether_commands_run_and_what_would_help(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path)
    off = show_checks(await check_tools(Config(), {}, home), "en")
    [check] = [check for check in off if check.name == "exec"]
    assert check.ok
    assert "Off" in check.message
    enabled = Config.model_validate({"tools": {"exec": {"enabled": True}}})
    on = show_checks(await check_tools(enabled, {}, home), "en")
    [check] = [check for check in on if check.name == "exec"]
    assert check.ok == (level().level == "A")
    assert check.ok or (str(level().reason) in check.message and "exec.md" in check.hint)
    shared = {"tools": {"exec": {"enabled": True}}, "database_url": "postgresql+psycopg://h/d"}
    for lang, message in (
        ("en", "Not offered: on PostgreSQL several"),
        ("zh", "不提供：使用 PostgreSQL 时可能"),
    ):
        checks = await check_tools(Config.model_validate(shared), {}, home)
        [check] = [check for check in show_checks(checks, lang) if check.name == "exec"]
        assert not check.ok
        assert check.message.startswith(message)
