"""Tells the owner that another version is installed than the one that runs."""

import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError

from bot.config.extras import program_version
from bot.telemetry.faults import VERSION_SUBJECT, Trouble, TroubleList
from channels.phrases import Phrase

CHECK_SECONDS = 60.0  # between two looks at what is installed


class VersionNotice:
    """The trouble that lasts until the program is started again.

    Args:
        installed: reads the version from the disk.
    """

    def __init__(
        self,
        troubles: TroubleList,
        installed: Callable[[], str] = program_version,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._troubles = troubles
        self._installed = installed
        self._clock = clock
        self._running = self._read()
        self._next_look = clock() + CHECK_SECONDS

    def check(self) -> None:
        """Look at what is installed, once a minute; blocks."""
        if self._clock() < self._next_look:
            return
        self._next_look = self._clock() + CHECK_SECONDS
        installed = self._read()
        if installed == self._running:
            self._troubles.end(VERSION_SUBJECT)
        elif installed and self._running:
            self._troubles.add(self._trouble(installed))

    def _trouble(self, installed: str) -> Trouble:
        reason = Phrase(
            "Version {installed} is installed, but {running} is still running. Restart mnema: "
            "stop mnema run and start it again, or restart its service (systemctl restart mnema).",
            installed=installed,
            running=self._running,
        )
        return Trouble(
            what=VERSION_SUBJECT, reason=reason, at=self._clock(), key=f"version:{installed}"
        )

    def _read(self) -> str:
        """Return the version that is installed; "" if it is none, as in the middle of an
        upgrade.
        """
        try:
            return self._installed()
        except (PackageNotFoundError, OSError):
            return ""
