"""`mnema --version`, `mnema extras` and `mnema upgrade`: the program where it is installed."""

import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
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
    find_missing_model,
    has_locked_versions,
    install_command,
    lock_file,
    locked_packages,
    present_extras,
    program_version,
)
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import store_exists
from bot.texts import show_before_messages
from channels.phrases import Phrase, PhraseList, join_phrases

extras_app = typer.Typer(
    help="List the optional extras, or install some.", invoke_without_command=True
)
_MARKS = Phrase(
    "+ is installed, ~ is installed in versions other than the locked ones, - is not installed; "
    "mnema extras add NAME installs the locked versions."
)
_INSTALLER_NAMES = {
    Installer.CHECKOUT: Phrase("a checkout"),
    Installer.CONTAINER: Phrase("a container image"),
}
_IN_CONTAINER = Phrase(
    "An image gets its extras when it is built, not while it runs: build it with --build-arg "
    'EXTRAS="{extras}", then start it again.'
)
_IN_UVX = Phrase(
    "uvx runs mnema from a temporary folder: install it with uv tool install {name}, then run "
    "mnema extras add {extras} again."
)


def _listed(names: Iterable[str]) -> PhraseList:
    return join_phrases(names, Phrase(", "))


def describe_version() -> str:
    """Return the version, the version of Python, and the extras that are present."""
    program, python = f"mnema {program_version()}", f"Python {platform.python_version()}"
    extras = present_extras()
    return show_before_messages(
        Phrase(
            "{program} ({python}; extras: {extras})",
            program=program,
            python=python,
            extras=_listed(extras) if extras else Phrase("none", context="no extras"),
        ),
    )


@extras_app.callback()
def extras(ctx: typer.Context) -> int:
    """List the optional extras, or install some: mnema extras add NAME."""
    if ctx.invoked_subcommand is None:
        present = present_extras()
        for name, about in EXTRAS.items():
            mark = "-"
            if name in present:
                mark = "+" if has_locked_versions(name) else "~"
            print(f"{mark} {name:<11} {show_before_messages(about)}")
        print(show_before_messages(_MARKS))
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
            show_before_messages(
                Phrase(
                    "There is no extra {unknown!r}. Available: {extras}.",
                    unknown=unknown[0],
                    extras=_listed(EXTRAS),
                ),
            )
        )
    if "embeddings" in wanted and (missing_model := find_missing_model()):
        raise MnemaError(show_before_messages(missing_model))
    present = present_extras()
    missing = [name for name in wanted if name not in present or not has_locked_versions(name)]
    if not missing:
        print(
            show_before_messages(
                Phrase(
                    "{wanted}: already installed.",
                    wanted=_listed(wanted),
                )
            )
        )
        return EXIT_DONE
    commands = extras_commands(find_installer(), missing)
    packages = {pin for name in missing for pin in locked_packages(lock_file(name))}
    confirm(
        show_before_messages(
            Phrase(
                "Install {missing} into {prefix}? Up to {count} packages.",
                missing=_listed(missing),
                prefix=sys.prefix,
                count=len(packages),
            ),
        ),
        yes=yes,
    )
    for command in commands:
        _run(command)
    print(
        show_before_messages(
            Phrase(
                "{missing}: installed; restart mnema to use it.",
                missing=_listed(missing),
            ),
        )
    )
    return EXIT_DONE


def extras_commands(installer: Installer, names: Sequence[str]) -> list[list[str]]:
    """Return the commands that install extras with hashes and then check what is installed.

    Raises:
        MnemaError: this kind of installation cannot be added to, or its package manager is missing.
    """
    if installer is Installer.CONTAINER:
        raise MnemaError(show_before_messages(_IN_CONTAINER.fill(extras=" ".join(names))))
    if installer is Installer.UVX:
        refusal = _IN_UVX.fill(name=DISTRIBUTION, extras=" ".join(names))
        raise MnemaError(show_before_messages(refusal))
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
        raise MnemaError(
            show_before_messages(
                Phrase(
                    "{name} is needed but is not on the PATH; add its folder to PATH.",
                    name=name,
                ),
            )
        )
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
        name = Path(command[0]).name
        raise MnemaError(
            show_before_messages(
                Phrase(
                    "{name} exited with {code}; its output above says why.", name=name, code=code
                ),
            )
        )


def upgrade_steps(installer: Installer, extras: Sequence[str]) -> list[str]:
    """Return what a person does to upgrade, and to bring these extras to the versions that the new
    program is locked with: each installer leaves them at the former ones.
    """
    if installer in (Installer.CONTAINER, Installer.UVX) or not extras:
        return [_upgrade_step(installer, extras)]
    if installer is Installer.CHECKOUT:
        return [
            _upgrade_step(installer, extras),
            *(install_command(name, installer) for name in extras),
        ]
    return [_upgrade_step(installer, extras), f"mnema extras add {' '.join(extras)}"]


def _upgrade_step(installer: Installer, extras: Sequence[str]) -> str:
    checkout = shlex.quote(str(CHECKOUT))
    with_extras = f' --build-arg EXTRAS="{" ".join(extras)}"' if extras else ""
    return {
        Installer.CHECKOUT: f"git -C {checkout} pull && {checkout}/scripts/setup.sh",
        Installer.CONTAINER: show_before_messages(
            Phrase(
                "build{with_extras} or pull the new image, then start it on the same volume",
                with_extras=with_extras,
            ),
        ),
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
        print(
            show_before_messages(
                Phrase(
                    "{version}, installed by {installer}. To upgrade:",
                    version=describe_version(),
                    installer=_INSTALLER_NAMES.get(installer, installer),
                ),
            )
        )
        if store_exists(home):
            print(f"  mnema --home {shlex.quote(str(home.root))} backup {_backup_name()}")
        for step in upgrade_steps(installer, present_extras()):
            print(f"  {step}")
        print(
            show_before_messages(
                Phrase(
                    "Then start mnema run again; the first start brings the database up to date."
                ),
            )
        )
        return EXIT_DONE
    if home.address():
        raise MnemaError(
            show_before_messages(
                Phrase(
                    "mnema run is running in {root}, and its files would be replaced: stop it "
                    "first.",
                    root=home.root,
                ),
            )
        )
    uv = _find_program("uv")
    confirm(
        show_before_messages(
            Phrase(
                "Back up {root}, then upgrade {distribution} {program_version}?",
                root=home.root,
                distribution=DISTRIBUTION,
                program_version=program_version(),
            ),
        ),
        yes=yes,
    )
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
