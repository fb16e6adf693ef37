"""What the memory held at the end of a day: the lines that were in force then, from their records.

Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from memory.longterm.similarity import question_relevances
from memory.recall.dates.parse import find_dates
from memory.recall.documents import LONG_TERM, Passage, ScoreSplit
from memory.store.longterm.rows import MemoryRow
from memory.workspace.files import SPACES_FOLDER

MAX_LINES = 5_000  # that a space's MEMORY.md has a record of at one moment
MIN_RELEVANCE = 0.3  # of a line's words for the question; lines below are not shown


def end_of_day(day: str, zone: tzinfo) -> datetime:
    """Return the moment at which a day (YYYY-MM-DD) ends in a zone."""
    following = date.fromisoformat(day) + timedelta(days=1)
    return datetime.combine(following, time.min, zone).astimezone(UTC)


def read_as_of(words: str, now: datetime) -> tuple[date, str] | None:
    """Read the day that words begin with, and what follows it; None if they begin with none.

    Of a day without a year, or a weekday, the newest one that has begun counts, and of several days
    the last one.

    Args:
        now: in the person's time zone.
    """
    text = words.strip()
    spans = [span for span in find_dates(text, now) if not span.start]
    if not spans:
        return None
    days = [min(span.last, now.date()) if span.first <= now.date() else span.last for span in spans]
    begun = [day for day in days if day <= now.date()]
    return max(begun, default=min(days)), text[len(spans[0].text) :].lstrip(" ,，:：的").rstrip()


def rank_facts(rows: Sequence[MemoryRow], question: str, zone: tzinfo, limit: int) -> list[Passage]:
    """Return the lines that have the question's words, best first; of equal ones the newest."""
    relevances = question_relevances(question, [row.text for row in rows])
    found = [
        (relevance, row)
        for relevance, row in zip(relevances, rows, strict=True)
        if relevance >= MIN_RELEVANCE
    ]
    found.sort(key=lambda item: (item[0], item[1].began, item[1].id), reverse=True)
    return [to_passage(row, zone, relevance) for relevance, row in found[:limit]]


def to_passage(row: MemoryRow, zone: tzinfo, score: float = 1.0) -> Passage:
    """Return a line as a search result; its text names the days from and to which it held."""
    began = f"{row.began.astimezone(zone):%Y-%m-%d}"
    ended = f"{row.valid_until.astimezone(zone):%Y-%m-%d}" if row.valid_until else ""
    validity = f"{began} – {ended}".strip()
    return Passage(
        text=f"[{validity}] {row.text}",
        words=row.text,
        kind="memory",
        date=began,
        score=round(score, 4),
        space=row.space,
        split=ScoreSplit(words=1.0),
        path=f"{SPACES_FOLDER}/{row.space}/{LONG_TERM}" if row.space else LONG_TERM,
    )


def join_results(
    facts: Sequence[Passage], passages: Iterable[Passage], limit: int
) -> list[Passage]:
    """Put the lines in force before the other passages, which keep at least half of the places."""
    passages = list(passages)
    kept = facts[: max(limit - len(passages), (limit + 1) // 2)]
    lowest = kept[-1].score if kept else 1.0
    others = [replace(one, score=round(one.score * lowest, 4)) for one in passages]
    return [*kept, *others][:limit]
