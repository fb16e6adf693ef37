"""Who the bot is, and what it can do here: SOUL.md, its tools, its channels."""

import time
from collections.abc import Callable, Iterable

from memory.conversation import ToolSpec
from memory.workspace import Workspace

AWARENESS_SECONDS = 300.0
"""How long what the bot knows of itself is good for. Source: the budget seed's five-minute cache."""


class Persona:
    """What the bot says of itself; `awareness` is rebuilt at most every five minutes. specs: the tools offered now."""

    def __init__(
        self, workspace: Workspace, specs: Callable[[], tuple[ToolSpec, ...]], channels: Callable[[], Iterable[str]]
    ) -> None:
        self.workspace = workspace
        self.specs = specs
        self._channels = channels
        self._soul = _FALLBACK_SOUL
        self._soul_seen = (0, 0, 0)
        self._awareness = ""
        self._offered: tuple[str, ...] = ()
        self._built = -AWARENESS_SECONDS

    def soul(self) -> str:
        """SOUL.md as the owner wrote it, read again when it changed; the built-in one where there is none."""
        try:
            found = (self.workspace.root / "SOUL.md").stat()
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if seen != self._soul_seen:
                self._soul = self.workspace.space("").read("SOUL.md").text.strip() or _FALLBACK_SOUL
                self._soul_seen = seen
        except FileNotFoundError:
            self._soul, self._soul_seen = _FALLBACK_SOUL, (0, 0, 0)
        return self._soul

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


_FALLBACK_SOUL = "You are mnema, a friendly and honest assistant that does not forget."
