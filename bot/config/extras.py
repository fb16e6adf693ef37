"""The installed program: its version, the package manager that owns it, and its optional extras."""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "mnema-bot"  # on a package index; command, packages and home are called mnema
CHECKOUT = Path(__file__).resolve().parents[2]  # where the packages lie: of use if it is a checkout
CONTAINER_VARIABLE = "MNEMA_CONTAINER"  # set by deploy/Containerfile
_UV_RECEIPT, _PIPX_RECEIPT = "uv-receipt.toml", "pipx_metadata.json"
_CACHE_TAG = "CACHEDIR.TAG"  # marks a cache of any program; uvx runs from one


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
    if any((folder / _CACHE_TAG).is_file() for folder in prefix.parents):
        return Installer.UVX
    pip = find_spec("pip") is not None if has_pip is None else has_pip
    return Installer.PIP if pip else Installer.UV


def program_version() -> str:
    """Return the version, as the wheel or the editable install has it."""
    return metadata.version(DISTRIBUTION)


# Extras.

TOOL_GROUP, GUARD_GROUP = "mnema.tools", "mnema.guards"  # entry points of packages
# Extras that add packages, with what they are for (Chinese, English).
EXTRAS = {
    "vectors": ("按意思回忆，用一个嵌入接口", "recall by meaning, with an embeddings endpoint"),
    "embeddings": (
        "同上，模型在本机运行；体积很大",
        "the same with a model on this machine; it is large",
    ),
    "web": ("网页的正文", "the main text of web pages"),
    "mcp": ("来自 MCP 服务器的工具", "tools of servers that speak the Model Context Protocol"),
    "scale": ("PostgreSQL 和多个进程", "PostgreSQL and several processes"),
    "otel": ("把追踪发到 OpenTelemetry 收集器", "traces to an OpenTelemetry collector"),
    "passkeys": ("用通行密钥登录网页", "logins at the page with a passkey"),
}
_OF_EXTRA = re.compile(r"([\w.-]++)[^;]*+;.*\bextra\s*==\s*[\"']([\w-]+)[\"']")


def install_command(extra: str, installer: Installer | None = None) -> str:
    """Return the command that a message names for a missing extra."""
    if (installer or find_installer()) is Installer.CHECKOUT:
        return f"make -C {shlex.quote(str(CHECKOUT))} extras NAME={extra}"
    return f"mnema extras add {extra}"


def lock_file(extra: str) -> Traversable:
    """Return the lock file of an extra: a resource of the wheel, else a file of the checkout."""
    name = f"requirements-{extra}.lock"
    shipped = resources.files("bot") / "locks" / name
    return shipped if shipped.is_file() else CHECKOUT / name


def locked_packages(lock: Traversable) -> list[str]:
    """Return what a lock file pins, as NAME==VERSION."""
    return re.findall(r"^[\w.-]+(?:\[[^\]]*\])?==[\w.!+-]+", lock.read_text("utf-8"), re.MULTILINE)


def present_extras() -> list[str]:
    """Return the extras whose packages are all installed."""
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    return [extra for extra in EXTRAS if _are_installed(_names_of(extra, requirements))]


def _names_of(extra: str, requirements: Sequence[str]) -> Iterator[str]:
    matches = (_OF_EXTRA.fullmatch(line) for line in requirements)
    return (match[1] for match in matches if match and match[2] == extra)


def _are_installed(names: Iterator[str]) -> bool:
    try:
        return all(metadata.version(name) for name in names)
    except metadata.PackageNotFoundError:
        return False
