"""Who the bot is, and what it can do here: SOUL.md, its tools, its channels."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from bot.troubles import Troubles
from memory.context.system import SOUL
from memory.conversation import ToolSpec
from memory.workspace import PathRefused, TooBig, Workspace, write_atomic

AWARENESS_SECONDS = 300.0
"""How long what the bot knows of itself is good for. Source: the budget seed's five-minute cache."""


class Persona:
    """What the bot says of itself; `awareness` is rebuilt at most every five minutes.

    specs: the tools offered now. troubles: told when SOUL.md cannot be read. last_good: where its newest good text is
    stored for the next start, None for nowhere.
    """

    def __init__(
        self,
        workspace: Workspace,
        specs: Callable[[], tuple[ToolSpec, ...]],
        channels: Callable[[], Iterable[str]],
        *,
        troubles: Troubles | None = None,
        last_good: Path | None = None,
    ) -> None:
        self.workspace = workspace
        self.specs = specs
        self.troubles = troubles or Troubles()
        self._channels = channels
        self._last_good = last_good
        self._soul = ""
        self._stored = ""
        self._soul_seen = _UNSEEN
        self._awareness = ""
        self._offered: tuple[str, ...] = ()
        self._built = -AWARENESS_SECONDS

    def soul(self) -> str:
        """SOUL.md as the owner wrote it, read again when it changed; the built-in one where there is none.

        While it cannot be read, its last good text; it is tried again each time.
        """
        try:
            found = os.lstat(self.workspace.root / SOUL)
            seen = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
            if seen != self._soul_seen:
                self._soul = self.workspace.space("").read(SOUL).text.strip() or _FALLBACK_SOUL
                self._soul_seen = seen
        except FileNotFoundError:
            self._soul, self._soul_seen = _FALLBACK_SOUL, _UNSEEN
        except (PathRefused, TooBig, OSError) as err:
            self.troubles.unreadable("", SOUL, err)
            self._soul_seen = _UNSEEN
            self._soul = self._soul or self._load()
            return self._soul
        self.troubles.readable("", SOUL)
        return self._soul

    def store(self) -> None:
        """Store the text for a start at which it cannot be read; blocks, and does nothing where it is stored."""
        text = self._soul
        if self._last_good is not None and self._soul_seen != _UNSEEN and text != self._stored:
            with suppress(PathRefused, OSError):
                if self._load() != text:
                    write_atomic(self._last_good, text.encode("utf-8", "replace"))
                self._stored = text

    def _load(self) -> str:
        with suppress(OSError):
            if self._last_good is not None:
                return self._last_good.read_text("utf-8", "replace") or _FALLBACK_SOUL
        return _FALLBACK_SOUL

    def awareness(self) -> str:
        """One line per tool, and the channels; at once anew when other tools are offered."""
        now = time.monotonic()
        specs = self.specs()
        offered = tuple(spec.name for spec in specs)
        if now - self._built >= AWARENESS_SECONDS or offered != self._offered:
            tools = "\n".join(f"- {spec.name}: {spec.description.splitlines()[0]}" for spec in specs)
            channels = ", ".join(sorted(self._channels()))
            self._awareness = f"Your channels: {channels}.\nYour tools:\n{tools}"
            self._built, self._offered = now, offered
        return self._awareness


_UNSEEN = (0, 0, 0, 0)
_FALLBACK_SOUL = "You are mnema, a friendly and honest assistant that does not forget."
