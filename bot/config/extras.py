"""Installed packages: the command that installs an optional extra, and whether there are some with
tools.
"""

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

TOOL_GROUP, GUARD_GROUP = "mnema.tools", "mnema.guards"  # entry points of packages
CHECKOUT = Path(__file__).resolve().parents[2]
_OF_EXTRA = re.compile(r"([^;]++);.*\bextra\s*==\s*[\"']([\w-]+)[\"']")


def install_command(
    extra: str,
    root: Path = CHECKOUT,
    prefix: str = sys.prefix,
    declared: Callable[[str], Sequence[str] | None] = requires,
) -> str:
    """Return the command: from a checkout's lock file, else from the installed package's
    requirements.

    Args:
        root: folder of the packages.
        prefix: of the running interpreter.
        declared: returns the requirements of a distribution.
    """
    locked = (root / "Makefile").is_file() and (root / f"requirements-{extra}.lock").is_file()
    if locked and Path(prefix).resolve() == root / ".venv":
        return f"make -C {shlex.quote(str(root))} extras NAME={extra}"
    try:
        matches = [_OF_EXTRA.fullmatch(line) for line in declared("mnema") or ()]
    except PackageNotFoundError:
        matches = []
    # Not "mnema[extra]": mnema itself may not be on a package index.
    requirements = [match[1].strip() for match in matches if match and match[2] == extra]
    return shlex.join([f"{prefix}/bin/python", "-m", "pip", "install", *requirements])
