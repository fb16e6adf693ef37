"""The times in the history of a view: shown where a day begins and where more than an hour has
passed.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache

from memory.context.tokens import TokenCounter
from memory.conversation import Message, Session

GAP = timedelta(hours=1)
# not strftime's, which follow the process's locale
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MARK = re.compile(rf"\[\d{{4}}-\d\d-\d\d (?:{'|'.join(WEEKDAYS)}) \d\d:\d\d\]")


def time_marks(session: Session) -> Mapping[str, str]:
    """The times to show, by the id of the person's message before whose text they stand.

    The first kept turn has one, and each whose message came on another day than the message before
    it or more than an hour later; not the running turn, which carries the clock. They follow from
    stored times and the session's zone alone, so a later turn or a restart changes none of them.
    """
    marks: dict[str, str] = {}
    before: Message | None = None
    for turn in session.turns if session.zone else ():
        first = turn.messages[0]
        if (
            turn.number != session.running
            and first.role == "user"
            and _is_due(before, first, session.zone)
        ):
            marks[first.id] = format_time_mark(first.at.astimezone(session.zone))
        before = turn.messages[-1]
    return marks


def format_time_mark(at: datetime) -> str:
    """Format a local time, such as `[2026-11-20 Fri 14:05]`."""
    return f"[{at:%Y-%m-%d} {WEEKDAYS[at.weekday()]} {at:%H:%M}]"


def is_time_mark(text: str) -> bool:
    """Whether a text of a view is one of its times."""
    return _MARK.fullmatch(text) is not None


def time_mark_tokens(marks: Iterable[str], counter: TokenCounter) -> int:
    """Tokens of the times in a view. A fold leaves at most as many."""
    return sum(_count_cached(counter, mark) for mark in marks)


def _is_due(before: Message | None, message: Message, zone: tzinfo | None) -> bool:
    if before is None or message.at - before.at > GAP:
        return True
    return _local_day(message.at, zone) != _local_day(before.at, zone)


@lru_cache(maxsize=1_024)
def _local_day(at: datetime, zone: tzinfo | None) -> date:
    """Cached, as the rules of the machine's own zone take 2 µs for each of a history's messages."""
    return at.astimezone(zone).date()


@lru_cache(maxsize=4_096)
def _count_cached(counter: TokenCounter, mark: str) -> int:
    return counter.text(mark)
