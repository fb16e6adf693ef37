"""What the bot says of itself in every conversation: SOUL.md, the rules for its tools, its
channels.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from bot.agent.prompt.system_rules import system_rules
from bot.telemetry.faults import TroubleList
from memory.context.system_prompt import SOUL
from memory.conversation import ToolSpec
from memory.workspace.atomic_write import write_atomic
from memory.workspace.files import Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused
from memory.workspace.templates import remove_hint

AWARENESS_SECONDS = 300.0  # the list of channels is cached this long. Source: the budget seed
_FALLBACK_SOUL = "You are mnema, a friendly and honest assistant that does not forget."
FileStamp = tuple[int, int, int, int]
NO_STAMP: FileStamp = (0, 0, 0, 0)
UNREADABLE_STAMP: FileStamp = (-1, -1, -1, -1)


def file_stamp(path: Path) -> FileStamp:
    """Return a value that changes when the file does; NO_STAMP if there is none."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return NO_STAMP
    except OSError:
        return UNREADABLE_STAMP
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


class PersonaFiles:
    """The bot's description of itself: SOUL.md, the rules for its tools, and its channels.

    Args:
        specs: returns the tools in the prompt of a space.
        deferred: returns the names of the bot's own tools that are not in it, but can be found.
        notes_facts: tells whether what people say of themselves is noted after the turn.
        troubles: notified when SOUL.md cannot be read.
        last_good: file for the newest readable text of SOUL.md, for the next start; None for none.
    """

    def __init__(
        self,
        workspace: Workspace,
        specs: Callable[[str], tuple[ToolSpec, ...]],
        channels: Callable[[], Iterable[str]],
        *,
        deferred: Callable[[str], tuple[str, ...]] = lambda space: (),
        notes_facts: Callable[[], bool] = lambda: True,
        troubles: TroubleList | None = None,
        last_good: Path | None = None,
    ) -> None:
        self.workspace = workspace
        self.specs = specs
        self.troubles = troubles or TroubleList()
        self._deferred = deferred
        self.notes_facts = notes_facts
        self._channels = channels
        self._last_good = last_good
        self._soul = ""
        self._stored_soul = ""
        self._soul_stamp = NO_STAMP
        self._awareness = ""
        self._built = -AWARENESS_SECONDS

    def soul(self) -> str:
        """Return SOUL.md, read again when it changed; the built-in text if there is none.

        While it cannot be read, its last readable text is returned.
        """
        stamp = file_stamp(self.workspace.root / SOUL)
        try:
            if stamp == NO_STAMP:
                self._soul = _FALLBACK_SOUL
            elif stamp != self._soul_stamp:
                self._soul = (
                    remove_hint(self.workspace.space("").read(SOUL).text).strip() or _FALLBACK_SOUL
                )
            self._soul_stamp = stamp
        except FileNotFoundError:
            self._soul, self._soul_stamp = _FALLBACK_SOUL, NO_STAMP
        except (PathRefused, FileTooBig, OSError) as err:
            self.troubles.unreadable("", SOUL, err)
            self._soul_stamp = NO_STAMP
            self._soul = self._soul or self._load_last_good()
            return self._soul
        self.troubles.readable("", SOUL)
        return self._soul

    def store(self) -> None:
        """Store the text for a start at which SOUL.md cannot be read; blocks."""
        text = self._soul
        if (
            self._last_good is not None
            and self._soul_stamp != NO_STAMP
            and text != self._stored_soul
        ):
            with suppress(PathRefused, OSError):
                if self._load_last_good() != text:
                    write_atomic(self._last_good, text.encode("utf-8", "replace"))
                self._stored_soul = text

    def _load_last_good(self) -> str:
        with suppress(OSError):
            if self._last_good is not None:
                return self._last_good.read_text("utf-8", "replace") or _FALLBACK_SOUL
        return _FALLBACK_SOUL

    def rules(self, space: str) -> str:
        """Return the rules for the tools offered now in a space."""
        return system_rules(self.offered(space), notes_facts=self.notes_facts())

    def offered(self, space: str) -> tuple[str, ...]:
        """Return the names of the tools offered now in a space: in its prompt, or found."""
        return (*(spec.name for spec in self.specs(space)), *self._deferred(space))

    def awareness(self) -> str:
        """Return the channels that people reach the bot on; the tools have their own
        descriptions.
        """
        now = time.monotonic()
        if now - self._built >= AWARENESS_SECONDS:
            self._awareness = f"Your channels: {', '.join(sorted(self._channels()))}."
            self._built = now
        return self._awareness
