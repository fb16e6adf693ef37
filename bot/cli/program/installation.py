"""`mnema --version`, `mnema extras` and `mnema upgrade`: the program where it is installed."""

import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import EXIT_DONE, YesOption, confirm
from bot.config.extras import (
    CHECKOUT,
    DISTRIBUTION,
    EXTRAS,
    Installer,
    find_installer,
    lock_file,
    locked_packages,
    present_extras,
    program_version,
)
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import store_exists
from bot.texts import detect_machine_language

extras_app = typer.Typer(
    help="List the optional extras, or install some.", invoke_without_command=True
)
_LIST_HINT = "+ is installed; mnema extras add NAME installs another."
_IN_CONTAINER = (
    "An image gets its extras when it is built, not while it runs: "
    'build it with --build-arg EXTRAS="{extras}", then start it again.'
)
_IN_UVX = (
    "uvx runs mnema from a folder that is thrown away: install it with uv tool install {name}, "
    "then run mnema extras add {extras} again."
)


def describe_version() -> str:
    """Return the version, the version of Python, and the extras that are present."""
    extras = ", ".join(present_extras()) or "none"
    return f"mnema {program_version()} (Python {platform.python_version()}; extras: {extras})"


@extras_app.callback()
def extras(ctx: typer.Context) -> int:
    """List the optional extras, or install some: mnema extras add NAME."""
    if ctx.invoked_subcommand is None:
        is_chinese, present = detect_machine_language() == "zh", present_extras()
        for name, (zh, en) in EXTRAS.items():
            print(f"{'+' if name in present else '-'} {name:<11} {zh if is_chinese else en}")
        hint = "+ 表示已安装；其他的用 mnema extras add 名称 安装。" if is_chinese else _LIST_HINT
        print(hint)
    return EXIT_DONE


@extras_app.command("add")
def add(
    names: Annotated[list[str], typer.Argument(help="Names that mnema extras lists.")],
    yes: YesOption = False,
) -> int:
    """Install extras where the program is installed, from its lock files, each file checked by its
    hash.
    """
    wanted = list(dict.fromkeys(names))
    if unknown := [name for name in wanted if name not in EXTRAS]:
        raise typer.BadParameter(
            f"There is no extra {unknown[0]!r}; there are {', '.join(EXTRAS)}."
        )
    missing = [name for name in wanted if name not in present_extras()]
    if not missing:
        print(f"{', '.join(wanted)}: already installed.")
        return EXIT_DONE
    commands = extras_commands(find_installer(), missing)
    packages = {pin for name in missing for pin in locked_packages(lock_file(name))}
    confirm(
        f"Install {', '.join(missing)} into {sys.prefix}? Up to {len(packages)} packages.", yes=yes
    )
    for command in commands:
        _run(command)
    print(f"{', '.join(missing)}: installed; restart mnema to use it.")
    return EXIT_DONE


def extras_commands(installer: Installer, names: Sequence[str]) -> list[list[str]]:
    """Return the commands that install extras with hashes and then check what is installed.

    Raises:
        MnemaError: this kind of installation cannot be added to, or its package manager is missing.
    """
    if installer is Installer.CONTAINER:
        raise MnemaError(_IN_CONTAINER.format(extras=" ".join(names)))
    if installer is Installer.UVX:
        raise MnemaError(_IN_UVX.format(name=DISTRIBUTION, extras=" ".join(names)))
    if installer is Installer.CHECKOUT:
        return [[str(CHECKOUT / "scripts" / "setup.sh"), "extra", name] for name in names]
    pip, where = _pip_of(installer)
    locks = [word for name in names for word in ("-r", _path_of_lock(name))]
    # a lock is complete beside the core's: with --no-deps nothing is installed that has no hash
    return [
        [*pip, "install", *where, "--require-hashes", "--no-deps", *locks],
        [*pip, "check", *where],
    ]


def _pip_of(installer: Installer) -> tuple[list[str], list[str]]:
    """Return the words that call a pip for this environment, and those that follow its
    subcommand.
    """
    if installer is Installer.PIP:
        return [sys.executable, "-m", "pip"], []
    if installer is Installer.PIPX and find_spec("pip"):  # a pipx that works by uv gives no pip
        return [_find_program("pipx"), "runpip", DISTRIBUTION], []
    return [_find_program("uv"), "pip"], ["--python", sys.executable]


def _find_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MnemaError(f"{name} is needed here and is not on the PATH; add its folder to PATH.")
    return found


def _path_of_lock(extra: str) -> str:
    """Return the path of an extra's lock file; a wheel is always unpacked, so it is a file."""
    with resources.as_file(lock_file(extra)) as path:
        return str(path)


def _run(command: Sequence[str]) -> None:
    """Run a command of a package manager, which prints for itself.

    Raises:
        MnemaError: it failed.
    """
    print(f"$ {shlex.join(command)}", file=sys.stderr, flush=True)
    ended = subprocess.run(command, check=False, stdin=subprocess.DEVNULL)  # noqa: S603 - words of our own
    if code := ended.returncode:
        raise MnemaError(f"{Path(command[0]).name} ended with {code}; its lines above say why.")


def upgrade_command(installer: Installer) -> str:
    """Return what a person types to upgrade."""
    checkout = shlex.quote(str(CHECKOUT))
    return {
        Installer.CHECKOUT: f"git -C {checkout} pull && {checkout}/scripts/setup.sh",
        Installer.CONTAINER: "build or pull the new image, then start it on the same volume",
        Installer.UV_TOOL: f"uv tool upgrade {DISTRIBUTION}",
        Installer.UVX: f"uvx {DISTRIBUTION}@latest",
        Installer.PIPX: f"pipx upgrade {DISTRIBUTION}",
        Installer.PIP: f"{shlex.quote(sys.executable)} -m pip install --upgrade {DISTRIBUTION}",
        Installer.UV: (
            f"uv pip install --python {shlex.quote(sys.executable)} --upgrade {DISTRIBUTION}"
        ),
    }[installer]


def upgrade(ctx: typer.Context, yes: YesOption = False) -> int:
    """Say how to upgrade what is installed here; after uv tool install do it, with a backup
    first.
    """
    home: HomeFolder = ctx.obj
    installer = find_installer()
    if installer is not Installer.UV_TOOL:
        print(f"{describe_version()}, installed by {installer}. To upgrade:")
        if store_exists(home):
            print(f"  mnema --home {shlex.quote(str(home.root))} backup {_backup_name()}")
        print(f"  {upgrade_command(installer)}")
        print("Then start mnema run again; the first start brings the database up to date.")
        return EXIT_DONE
    if home.address():
        raise MnemaError(
            f"mnema run is at work in {home.root}, and its files would be replaced: stop it first."
        )
    uv = _find_program("uv")
    confirm(f"Back up {home.root}, then upgrade {DISTRIBUTION} {program_version()}?", yes=yes)
    extras_before = present_extras()
    if store_exists(home):
        home.backups.mkdir(mode=0o700, exist_ok=True)
        _run([*_own_command(home), "backup", str(home.backups / _backup_name())])
    _run([uv, "tool", "upgrade", DISTRIBUTION])
    if extras_before:  # uv tool keeps what its receipt names and removes the rest
        _run([*_own_command(home), "extras", "add", "--yes", *extras_before])
    _run([*_own_command(home), "--version"])
    return EXIT_DONE


def _own_command(home: HomeFolder) -> list[str]:
    """Return how to start this program again, after its files were replaced."""
    return [sys.executable, "-m", "bot", "--home", str(home.root)]


def _backup_name() -> str:
    return f"before-upgrade-{program_version()}-{datetime.now(UTC):%Y%m%d-%H%M%S}.backup"
