"""Tells the owner that a damaged database was replaced, until the damaged file is no longer
kept.
"""

from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path

import structlog

from bot.telemetry.faults import DATABASE_SUBJECT, Trouble, TroubleList
from channels.phrases import Phrase, PhraseList, join_sentences
from memory.store.maintenance.repair import (
    NOTE_CHANNEL,
    NOTE_NAME,
    RepairReport,
    RepairSource,
    load_report,
)
from memory.store.store import Store

log = structlog.get_logger(__name__)
MAX_NAMED = 5  # conversations
_HEADS: dict[RepairSource, Phrase] = {
    "snapshot": Phrase(
        "The database was damaged and was restored to its state of {at}; {conversations} had "
        "newer messages."
    ),
    "log": Phrase(
        "The log of the database was damaged and could be read only up to {at}; {conversations} "
        "had newer messages."
    ),
    "nothing": Phrase(
        "The database was damaged and there was no snapshot, so a new one was created; "
        "{conversations} had messages."
    ),
}
_COPIED = Phrase("{messages} messages were copied from the damaged file.")
_LEFT = Phrase(
    "{count} could not be copied completely, and their newest messages are only in the damaged "
    "file: {names}."
)
_KEYS_ONLY = Phrase(
    "Received messages whose text could not be read: {keys_only}. They are not processed again; "
    "ask for anything unanswered to be sent again."
)
_RIGHTS_UNKNOWN = Phrase(
    "What was revoked or forgotten since then could not be read: check Access, and forget it again."
)
_TAIL = Phrase(
    "The damaged file is data/{aside}. Once you have seen this, move or delete the file, and "
    "this note disappears."
)


def describe_repair(report: RepairReport, zone: tzinfo) -> PhraseList:
    """Say what was done, what is missing, and what to do."""
    names = ", ".join(report.left[:MAX_NAMED]) + (" …" if len(report.left) > MAX_NAMED else "")
    conversations = Phrase("1 conversation", "{count} conversations", count=report.newer)
    sentences = [
        _HEADS[report.source].fill(
            at=f"{datetime.fromtimestamp(report.as_of, zone):%Y-%m-%d %H:%M}",
            conversations=conversations,
        )
    ]
    if report.messages > 0:
        sentences.append(_COPIED.fill(messages=report.messages))
    if report.left:
        sentences.append(_LEFT.fill(count=len(report.left), names=names))
    if report.keys_only > 0:
        sentences.append(_KEYS_ONLY.fill(keys_only=report.keys_only))
    if not report.rights_known:
        sentences.append(_RIGHTS_UNKNOWN)
    return join_sentences([*sentences, _TAIL.fill(aside=report.aside)])


def describe_lost_acts(count: int) -> Phrase:
    """Say that acts are missing which a checkpoint knows."""
    return Phrase(
        "The database lacks its newest records: the last {count} entries noted in "
        "data/audit_heads are gone, as if its log had been shortened or removed. Messages from "
        "that time may be gone too; check what was said last, and restore a backup if necessary.",
        count=count,
    )


async def load_repair(store: Store, data: Path) -> RepairReport | None:
    """Load what was done about a damaged database; None if nothing, or once the damaged file was
    taken away.
    """
    note = (await store.notes.load(NOTE_CHANNEL, NOTE_NAME)).get(NOTE_NAME)
    report = load_report(note) if note else None
    return report if report is not None and (data / report.aside).exists() else None


class RepairNotice:
    """The trouble that lasts while the damaged file is kept."""

    def __init__(
        self, store: Store, data: Path, zone: Callable[[], tzinfo], troubles: TroubleList
    ) -> None:
        """Bind to a bot. data: folder of the database."""
        self._store, self._data, self._zone, self._troubles = store, data, zone, troubles
        self._kept: Path | None = None

    async def open(self) -> None:
        """Add the trouble, if there is one."""
        report = await load_repair(self._store, self._data)
        if report is not None:
            reason = describe_repair(report, self._zone())
            log.warning(str(reason))
            self._kept = self._data / report.aside
            self._troubles.add(
                Trouble(what=DATABASE_SUBJECT, reason=reason, at=0.0, key=report.aside)
            )

    def report_lost_acts(self, count: int) -> None:
        """Add the trouble that acts are missing; it lasts as long as this process."""
        reason = describe_lost_acts(count)
        log.warning(str(reason))
        self._troubles.add(Trouble(what=DATABASE_SUBJECT, reason=reason, at=0.0))

    def check(self) -> None:
        """End the trouble once the damaged file was taken away; blocks."""
        if self._kept is not None and not self._kept.exists():
            self._troubles.end(DATABASE_SUBJECT)
            self._kept = None
