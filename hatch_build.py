"""Puts the lock files into the wheel: `mnema extras add` installs from them, with their hashes."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

EDITABLE = "editable"  # a checkout has the files already, and must not get a second `bot` folder


class LockFiles(BuildHookInterface):
    """Adds each lock file of the root that is not listed in `not-shipped` as `bot/locks/NAME`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Extend what goes into the wheel. version: "standard" or "editable"."""
        if version == EDITABLE:
            return
        for lock in sorted(Path(self.root).glob("requirements*.lock")):
            if lock.name not in self.config["not-shipped"]:
                build_data["force_include"][str(lock)] = f"bot/locks/{lock.name}"
