"""Faults of this machine that the owner has to fix: unreadable files, and turns that failed."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import structlog

from channels.phrases import NO_PHRASE, AnyPhrase, Phrase
from memory.store.errors import StoreError
from memory.workspace.files import SPACES_FOLDER
from memory.workspace.safe_path import FileTooBig, PathRefused

log = structlog.get_logger(__name__)
POLL_SECONDS = 5.0
TURN_TROUBLE_SECONDS = 600.0  # how long a failed turn counts as a trouble
MAX_TROUBLES = 100
TURNS_SUBJECT, DATABASE_SUBJECT, SNAPSHOT_SUBJECT = "turns", "database", "snapshots"
VERSION_SUBJECT = "version"
# all others are paths of files
SUBJECTS = (TURNS_SUBJECT, DATABASE_SUBJECT, SNAPSHOT_SUBJECT, VERSION_SUBJECT)
TROUBLE_TEXTS = {
    "file": Phrase(
        "{what} cannot be read ({reason}). Until that is fixed, its last good text stays in use. "
        "Make it a plain file that the bot's account can read."
    ),
    TURNS_SUBJECT: Phrase(
        "A message could not be answered because of a fault on this machine ({reason}). Its "
        "sender was asked to send it again later. Check this machine; the log has the details."
    ),
    DATABASE_SUBJECT: Phrase("{reason}"),
    VERSION_SUBJECT: Phrase("{reason}"),
    SNAPSHOT_SUBJECT: Phrase(
        "No snapshot of the database could be taken ({reason}). If it is damaged before one "
        "succeeds, it can be restored only to an older state. Check the disk, and run mnema "
        "doctor."
    ),
}
RECOVERED_TEXT = Phrase("{what} can be read again.")
# Notifies the owner, once for each key; returns whether there is a conversation where they see it.
TellOwner = Callable[[str, AnyPhrase, str], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One fault."""

    #: The file's path below the workspace, or one of SUBJECTS.
    what: str
    #: The system's own message is the same in both languages.
    reason: AnyPhrase
    #: When it last occurred, in seconds of the clock of `TroubleList`.
    at: float
    #: Names this one trouble, so that it is told once and never again; "" for one that may come
    #: back.
    key: str = ""


class TroubleList:
    """The current faults of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, Trouble] = {}

    def unreadable(self, space: str, path: str, err: Exception) -> None:
        """Add a file of a space that could not be read."""
        self._note(_trouble_subject(space, path), err)

    def readable(self, space: str, path: str) -> None:
        """Remove a file that was read, or that does not exist."""
        self._known.pop(_trouble_subject(space, path), None)

    def turn_failed(self, err: Exception) -> None:
        """Add a turn that failed because of this machine."""
        self._note(TURNS_SUBJECT, err)

    def snapshot_failed(self, err: Exception) -> None:
        """Add that no snapshot could be taken."""
        self._note(SNAPSHOT_SUBJECT, err)

    def add(self, trouble: Trouble) -> None:
        """Add a trouble that has its own texts."""
        self._known[trouble.what] = trouble

    def end(self, what: str) -> None:
        """Remove a trouble that is over."""
        self._known.pop(what, None)

    def current(self) -> tuple[Trouble, ...]:
        """Return the current faults, the oldest first."""
        failed = self._known.get(TURNS_SUBJECT)
        if failed is not None and self._clock() - failed.at > TURN_TROUBLE_SECONDS:
            self._known.pop(TURNS_SUBJECT, None)
        return tuple(self._known.values())

    def files(self) -> tuple[tuple[str, str], ...]:
        """Return space and path of each unreadable file. Thread-safe."""
        return tuple(_split_subject(what) for what in tuple(self._known) if what not in SUBJECTS)

    def _note(self, what: str, err: Exception) -> None:
        if what not in self._known:
            log.warning("trouble", what=what, error=type(err).__name__, why=str(err))
            if len(self._known) >= MAX_TROUBLES:
                return
        self._known[what] = Trouble(what=what, reason=fault_reason(err), at=self._clock())


class TroubleNotifications:
    """Notifies the owner once of each trouble, and once when a file can be read again.

    Args:
        check: tries to read the unreadable files again; blocks.
    """

    def __init__(
        self, troubles: TroubleList, check: Callable[[], None], notify_owner: TellOwner
    ) -> None:
        self._troubles = troubles
        self._check = check
        self._notify_owner = notify_owner
        self._notified: set[str] = set()

    async def watch(self) -> None:
        """Check and notify until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as err:
                log.warning("owner not notified", error=type(err).__name__)
            await asyncio.sleep(POLL_SECONDS)

    async def look(self) -> None:
        """Check once and send what is new.

        Raises:
            StoreError: a notification could not be stored; the next call retries.
        """
        await asyncio.to_thread(self._check)
        current = {trouble.what: trouble for trouble in self._troubles.current()}
        for what in current.keys() - self._notified:
            if await self._notify(
                TROUBLE_TEXTS[what if what in SUBJECTS else "file"], current[what]
            ):
                self._notified.add(what)
        for what in self._notified - current.keys():
            if what not in SUBJECTS:
                await self._notify(RECOVERED_TEXT, Trouble(what=what, reason=NO_PHRASE, at=0.0))
            self._notified.discard(what)

    async def _notify(self, phrase: Phrase, trouble: Trouble) -> bool:
        notice = phrase.fill(what=trouble.what, reason=trouble.reason)
        # The key limits this to once an hour, for a fault that comes and goes or that several
        # processes see.
        hour = int(time.time() // 3600)
        once = f"trouble:{phrase is RECOVERED_TEXT}:{trouble.what}:{trouble.reason}:{hour}"
        return await self._notify_owner(
            "", notice, f"trouble:{trouble.key}" if trouble.key else once
        )


def troubles_to_json(troubles: Iterable[Trouble], lang: str = "en") -> dict[str, str]:
    """Convert the troubles for the API: file or one of SUBJECTS to the reason."""
    return {trouble.what: trouble.reason.text(lang) for trouble in troubles}


def fault_reason(err: Exception) -> Phrase:
    """Return why a file could not be read or a turn failed."""
    if isinstance(err, PathRefused):
        return Phrase("it is not a plain file of this account, or is a hard link")
    if isinstance(err, FileTooBig):
        return Phrase("it is too large")
    said = (isinstance(err, OSError) and err.strerror) or str(err) or type(err).__name__
    return Phrase("{words}", words=said)


def _trouble_subject(space: str, path: str) -> str:
    return f"{SPACES_FOLDER}/{space}/{path}" if space else path


def _split_subject(what: str) -> tuple[str, str]:
    if not what.startswith(f"{SPACES_FOLDER}/"):
        return "", what
    _, space, path = what.split("/", 2)
    return space, path
