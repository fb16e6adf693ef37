"""The installed program: its version, the package manager that owns it, and its optional extras."""

import os
import platform
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path

from channels.phrases import Phrase

DISTRIBUTION = "mnema-bot"  # on a package index; command, packages and home are called mnema
CHECKOUT = Path(__file__).resolve().parents[2]  # where the packages lie: of use if it is a checkout
CONTAINER_VARIABLE = "MNEMA_CONTAINER"  # set by deploy/Containerfile
_UV_RECEIPT, _PIPX_RECEIPT = "uv-receipt.toml", "pipx_metadata.json"
_CACHE_TAG = "CACHEDIR.TAG"  # marks a cache of any program
_RELOCATABLE = "relocatable = true"  # a line of pyvenv.cfg that only uv writes


class Installer(StrEnum):
    """What a user called to install this program."""

    CHECKOUT = "a checkout"
    CONTAINER = "a container image"
    UV_TOOL = "uv tool"
    UVX = "uvx"
    PIPX = "pipx"
    PIP = "pip"
    UV = "uv pip"


def find_installer(
    prefix: Path = Path(sys.prefix),
    root: Path = CHECKOUT,
    environ: Mapping[str, str] = os.environ,
    *,
    has_pip: bool | None = None,
) -> Installer:
    """Tell what owns the environment of this process.

    Args:
        prefix: of the running interpreter.
        root: folder of the packages.
        has_pip: whether the environment has pip; None to look.
    """
    if environ.get(CONTAINER_VARIABLE):
        return Installer.CONTAINER
    if (root / "Makefile").is_file() and prefix.resolve() == root / ".venv":
        return Installer.CHECKOUT
    if (prefix / _UV_RECEIPT).is_file():
        return Installer.UV_TOOL
    if (prefix / _PIPX_RECEIPT).is_file():
        return Installer.PIPX
    if _is_of_uvx(prefix):
        return Installer.UVX
    pip = find_spec("pip") is not None if has_pip is None else has_pip
    return Installer.PIP if pip else Installer.UV


def _is_of_uvx(prefix: Path) -> bool:
    """Tell whether an environment lies in uv's cache, whose environments can be moved."""
    settings = prefix / "pyvenv.cfg"
    if not settings.is_file() or _RELOCATABLE not in settings.read_text("utf-8").splitlines():
        return False
    return any((folder / _CACHE_TAG).is_file() for folder in prefix.parents)


def program_version() -> str:
    """Return the version, as the wheel or the editable install has it."""
    return metadata.version(DISTRIBUTION)


# Extras.

TOOL_GROUP, GUARD_GROUP = "mnema.tools", "mnema.guards"  # entry points of packages
# Extras that add packages, with what they are for (Chinese, English).
EXTRAS = {
    "vectors": Phrase("recall by meaning, with an embeddings endpoint"),
    "embeddings": Phrase("recall by meaning with a model on this machine: 95 MB, no key, no GPU"),
    "web": Phrase("the main text of web pages"),
    "mcp": Phrase("tools from servers that speak the Model Context Protocol"),
    "scale": Phrase("PostgreSQL and several processes"),
    "otel": Phrase("traces to an OpenTelemetry collector"),
    "passkeys": Phrase("passkey logins on the page"),
}
# Where the model of the extra `embeddings` has a wheel, as (sys.platform, platform.machine()).
# Source: its files on the package index; pyproject.toml has the same as a marker.
MODEL_PLATFORMS = frozenset({("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")})
_NO_MODEL = Phrase(
    "The model of the extra embeddings exists for Linux (x86-64, ARM64) and macOS (Apple "
    "silicon), not for {system} {machine}: set memory.embedding to an embeddings endpoint "
    "instead."
)
_OF_EXTRA = re.compile(r"([\w.-]++)[^;]*+;.*\bextra\s*==\s*[\"']([\w-]+)[\"']")


def install_command(extra: str, installer: Installer | None = None) -> str:
    """Return the command that a message names for a missing extra."""
    match installer or find_installer():
        case Installer.CHECKOUT:
            return f"make -C {shlex.quote(str(CHECKOUT))} extras NAME={extra}"
        case Installer.CONTAINER:
            names = " ".join(dict.fromkeys((*present_extras(), extra)))
            return f'docker build --build-arg EXTRAS="{names}" -f deploy/Containerfile -t mnema .'
        case Installer.UVX:
            return f"uv tool install {DISTRIBUTION} && mnema extras add {extra}"
        case _:
            return f"mnema extras add {extra}"


def find_missing_model(
    system: str = sys.platform, machine: str = platform.machine()
) -> Phrase | None:
    """Return a sentence if the extra `embeddings` has no model for this platform, else None."""
    if (system, machine) in MODEL_PLATFORMS:
        return None
    return _NO_MODEL.fill(system=system, machine=machine)


def lock_file(extra: str) -> Traversable:
    """Return the lock file of an extra: a resource of the wheel, else a file of the checkout."""
    name = f"requirements-{extra}.lock"
    shipped = resources.files("bot") / "locks" / name
    return shipped if shipped.is_file() else CHECKOUT / name


def locked_packages(lock: Traversable) -> list[str]:
    """Return what a lock file pins, as NAME==VERSION."""
    return re.findall(r"^[\w.-]+(?:\[[^\]]*\])?==[\w.!+-]+", lock.read_text("utf-8"), re.MULTILINE)


def present_extras() -> list[str]:
    """Return the extras whose packages are all installed, in any version."""
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    return [extra for extra in EXTRAS if _is_present(_names_of(extra, requirements))]


def has_locked_versions(extra: str) -> bool:
    """Tell whether the packages of a present extra have the versions of its lock file.

    A locked package that is not installed may be for other systems, and does not count; one that
    is locked twice has a version for each of several versions of Python.
    """
    locked: dict[str, list[str]] = {}
    for pin in locked_packages(lock_file(extra)):
        name, _, version = pin.partition("==")
        locked.setdefault(name.partition("[")[0], []).append(version)
    return all(_installed_version(name) in ("", *versions) for name, versions in locked.items())


def _names_of(extra: str, requirements: Sequence[str]) -> list[str]:
    """Return the packages that an extra asks for. requirements: of the program's metadata."""
    matches = (_OF_EXTRA.fullmatch(line) for line in requirements)
    return [match[1] for match in matches if match and match[2] == extra]


def _is_present(names: Sequence[str]) -> bool:
    """Tell whether these packages are installed; no packages are no extra."""
    return bool(names) and all(_installed_version(name) for name in names)


def _installed_version(name: str) -> str:
    """Return the version of an installed package, "" for one that is not."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
