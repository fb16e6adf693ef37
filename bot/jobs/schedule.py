"""When a job is due: one moment, every so many minutes, or a cron expression, in a time zone.
Pure.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice, pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, join_phrases
from memory.text.calendar_words import weekday_number

MAX_AHEAD = timedelta(days=5 * 366)
MIN_MINUTES, OWNER_MIN_MINUTES = 15, 1  # between two runs
DAY_MINUTES = 1440
CHECKED_RUNS = 50  # of which the distances are checked
LOCAL_FORMAT = "%Y-%m-%dT%H:%M"
_QUIET = re.compile(
    r"(?P<h1>\d{1,2})(?:[:：](?P<m1>\d{2}))?\s{0,3}[-–—~到至]\s{0,3}(?P<h2>\d{1,2})(?:[:："
    r"](?P<m2>\d{2}))?"
)


class ScheduleRefused(ValueError):
    """The schedule cannot be kept; the phrase, a clause, says what would be right."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When something happens; exactly one of `at`, `minutes` and `cron` is set."""

    #: Name of an IANA zone.
    zone: str
    #: Local time of the zone, without an offset: 2026-11-30T09:00.
    at: str = ""
    #: Every so many minutes from `start` on; whole days keep the time of day through a clock
    #: change.
    minutes: int = 0
    #: Five fields: minute, hour, day of the month, month, day of the week.
    cron: str = ""
    #: Of `minutes`: unix seconds of the first run.
    start: float = 0.0
    #: Local time after which it no longer happens; "" for never.
    until: str = ""

    @property
    def repeats(self) -> bool:
        return not self.at

    def to_json(self) -> str:
        """Return the stored form."""
        return json.dumps({name: value for name, value in asdict(self).items() if value})

    @classmethod
    def from_json(cls, text: str) -> "Schedule":
        """Read the stored form.

        Raises:
            ScheduleRefused: it is none.
        """
        try:
            found = cls(**json.loads(text))
        except (ValueError, TypeError) as err:
            raise ScheduleRefused(Phrase("the stored schedule cannot be read")) from err
        if bool(found.at) + bool(found.minutes) + bool(found.cron) != 1:
            raise ScheduleRefused(Phrase("the stored schedule says no time"))
        return found


def load_zone(name: str) -> ZoneInfo:
    """Return a zone by its IANA name.

    Raises:
        ScheduleRefused: there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as err:
        raise ScheduleRefused(
            Phrase(
                "there is no time zone {name!r}; use a name such as Asia/Shanghai or Europe/Berlin",
                name=name,
            ),
        ) from err


def next_run(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first run after a moment, in UTC; None if there is none.

    Args:
        after: with a zone.
    """
    return next(iter_runs(schedule, after), None)


def iter_runs(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """Yield the runs after a moment, in UTC."""
    zone = load_zone(schedule.zone)
    until = resolve_local(schedule.until, zone) if schedule.until else None
    for moment in _all_runs(schedule, zone, after):
        if until is not None and moment > until:
            return
        yield moment


def _all_runs(schedule: Schedule, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    if schedule.at:
        moment = resolve_local(schedule.at, zone)
        if moment > after:
            yield moment
        return
    if schedule.minutes and schedule.minutes % DAY_MINUTES == 0:
        yield from _runs_by_day(schedule, zone, after)
    if schedule.minutes:
        start, step = (
            datetime.fromtimestamp(schedule.start, UTC),
            timedelta(minutes=schedule.minutes),
        )
        count = max(0, (after - start) // step + 1)
        while True:
            yield start + count * step
            count += 1
    for local in CronSim(schedule.cron, after.astimezone(zone)):
        yield local.astimezone(UTC)


def _runs_by_day(schedule: Schedule, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    first = datetime.fromtimestamp(schedule.start, zone).replace(tzinfo=None)
    step = timedelta(minutes=schedule.minutes)
    count = max(0, (after.astimezone(zone).replace(tzinfo=None) - first) // step)
    while True:
        moment = resolve_local((first + count * step).isoformat(), zone)
        if moment > after:
            yield moment
        count += 1


def resolve_local(text: str, zone: tzinfo) -> datetime:
    """Return the moment of a local time, in UTC: the first of two, and the end of a gap for a time
    that is skipped.

    Raises:
        ScheduleRefused: not a local time, or one with an offset.
    """
    try:
        local = datetime.fromisoformat(text)
    except ValueError as err:
        raise ScheduleRefused(
            Phrase("{words!r} is not a local time such as 2026-11-30T09:00", words=text),
        ) from err
    if local.tzinfo is not None:
        raise ScheduleRefused(
            Phrase("give the local time without an offset, and the zone by its name"),
        )
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) == local:
        return first
    # The clock jumps over it: find the first second after the jump, between the moments by the two
    # offsets.
    low, high = (int(local.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (1, 0))
    before = _offset_at(low, zone)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset_at(middle, zone) == before else (low, middle)
    return datetime.fromtimestamp(high, UTC)


def _offset_at(moment: int, zone: tzinfo) -> timedelta | None:
    return datetime.fromtimestamp(moment, zone).utcoffset()


def check_schedule(schedule: Schedule, now: datetime, *, owner: bool) -> datetime:
    """Return the first run of a new schedule, in UTC.

    Raises:
        ScheduleRefused: unknown zone, a malformed or past time, more than five years ahead, or runs
            too close.
    """
    if bool(schedule.at) + bool(schedule.minutes) + bool(schedule.cron) != 1:
        raise ScheduleRefused(
            Phrase("give exactly one of a time, a number of minutes and a cron expression"),
        )
    load_zone(schedule.zone)
    if schedule.cron:
        _check_cron(schedule.cron)
    if schedule.minutes * 60 > MAX_AHEAD.total_seconds():
        raise _too_far()
    runs = list(islice(iter_runs(schedule, now), CHECKED_RUNS if schedule.repeats else 1))
    if not runs:
        if schedule.at:
            raise ScheduleRefused(Phrase("that time has passed"))
        raise ScheduleRefused(Phrase("it would never happen"))
    if runs[0] - now > MAX_AHEAD:
        raise _too_far()
    least = OWNER_MIN_MINUTES if owner else MIN_MINUTES
    closest = min((later - earlier for earlier, later in pairwise(runs)), default=None)
    if closest is not None and closest < timedelta(minutes=least):
        raise ScheduleRefused(Phrase("the shortest interval is {least} minutes", least=least))
    return runs[0]


def _too_far() -> ScheduleRefused:
    return ScheduleRefused(Phrase("that is more than five years ahead"))


def _check_cron(cron: str) -> None:
    if len(cron.split()) != 5:
        raise ScheduleRefused(
            Phrase("a cron expression has five fields: minute, hour, day, month, day of the week"),
        )
    try:
        CronSim(cron, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError as err:
        raise ScheduleRefused(
            Phrase("{cron!r} is not a cron expression: {err}", cron=cron, err=err)
        ) from err


def quiet_until(quiet: Sequence[str], moment: datetime, zone: tzinfo) -> datetime | None:
    """Return when the quiet hours end in which a moment lies, in UTC; None outside of them.

    Args:
        quiet: local begin and end, HH:MM; empty for none.
    """
    if len(quiet) != 2 or quiet[0] == quiet[1]:
        return None
    begin, end = quiet
    local = moment.astimezone(zone)
    clock = f"{local:%H:%M}"
    over_night = begin > end
    if not (clock >= begin or clock < end if over_night else begin <= clock < end):
        return None
    day = local.date() + timedelta(days=1 if over_night and clock >= begin else 0)
    first = resolve_local(f"{day}T{end}", zone)
    if first > moment:
        return first
    # The clock was put back, and shows the end of the quiet hours a second time.
    return datetime.fromisoformat(f"{day}T{end}").replace(tzinfo=zone, fold=1).astimezone(UTC)


def parse_quiet(text: str) -> tuple[str, str] | None:
    """Read quiet hours such as "23:00-7:30" or "23-7"; None if they are none. Pure."""
    found = _QUIET.fullmatch(text.strip())
    if found is None:
        return None
    begin, end = (
        f"{int(found[hour]):02}:{int(found[minute] or 0):02}"
        for hour, minute in (("h1", "m1"), ("h2", "m2"))
    )
    return (
        (begin, end)
        if begin < "24" and end < "24" and begin[3:] < "60" and end[3:] < "60"
        else None
    )


def format_moment(moment: datetime, zone: str, now: datetime) -> Phrase:
    """Format a moment with its zone and distance: "2026-11-24 Tue 08:00 Asia/Shanghai (in 13
    h)".
    """
    local, span = moment.astimezone(load_zone(zone)), moment - now
    if span >= timedelta(0):
        phrase = Phrase("{date} {weekday} {clock} {zone} (in {span})")
    else:
        phrase = Phrase("{date} {weekday} {clock} {zone} ({span} ago)")
    return phrase.fill(
        date=f"{local:%Y-%m-%d}",
        weekday=_WEEKDAYS[local.weekday()],
        clock=f"{local:%H:%M}",
        zone=zone,
        span=_round_span(span),
    )


def format_repetition(schedule: Schedule) -> Phrase:
    """Format how a schedule repeats, such as "weekdays 9:00"; empty for one that does not."""
    if schedule.minutes:
        return _format_interval(schedule.minutes)
    return _format_cron(schedule.cron) if schedule.cron else NO_PHRASE


def _format_interval(minutes: int) -> Phrase:
    unit_minutes, one, many = next(unit for unit in _UNITS if minutes % unit[0] == 0)
    count = minutes // unit_minutes
    return one if count == 1 else many.fill(count=count)


def _format_cron(cron: str) -> Phrase:
    """Format the usual forms of cron expressions in words, and any other one as it is."""
    minute, hours, days = cron.lower().split(maxsplit=2)
    as_written = Phrase("cron {expression}", expression=cron)
    if not (minute.isdigit() and hours.replace(",", "").isdigit()):
        return as_written
    clocks = ", ".join(f"{int(hour)}:{int(minute):02}" for hour in hours.split(","))
    for form, phrase in _CRON_FORMS:
        if (found := form.fullmatch(days)) is not None:
            names = {name: _cron_name(name, text) for name, text in found.groupdict().items()}
            return Phrase("{days} {clocks}", days=phrase.fill(**names), clocks=clocks)
    return as_written


def _cron_name(name: str, text: str) -> AnyPhrase | str:
    """Return what a number in a cron expression is called."""
    if name == "month":
        return _MONTHS[int(text) - 1]
    if name == "which":
        return _WHICH[int(text) - 1]
    if name == "weekdays":
        numbers = re.sub(r"[a-z]{3}", lambda day: str(weekday_number(day[0])), text)
        parts = [_WEEKDAY_SIGNS.get(sign) or _WEEKDAYS[(int(sign) - 1) % 7] for sign in numbers]
        return join_phrases(parts, NO_PHRASE)
    return text


_UNITS = (
    (7 * DAY_MINUTES, Phrase("every week"), Phrase("every {count} weeks")),
    (DAY_MINUTES, Phrase("every day"), Phrase("every {count} days")),
    (60, Phrase("every h"), Phrase("every {count} h")),
    (1, Phrase("every min"), Phrase("every {count} min")),
)
_WEEKDAYS = (
    Phrase("Mon"),
    Phrase("Tue"),
    Phrase("Wed"),
    Phrase("Thu"),
    Phrase("Fri"),
    Phrase("Sat"),
    Phrase("Sun"),
)
_WEEKDAY_SIGNS = {",": Phrase(", "), "-": Phrase("-", context="from one weekday to another")}
_MONTHS = (
    Phrase("Jan"),
    Phrase("Feb"),
    Phrase("Mar"),
    Phrase("Apr"),
    Phrase("May"),
    Phrase("Jun"),
    Phrase("Jul"),
    Phrase("Aug"),
    Phrase("Sep"),
    Phrase("Oct"),
    Phrase("Nov"),
    Phrase("Dec"),
)
_WHICH = (
    Phrase("first"),
    Phrase("second"),
    Phrase("third"),
    Phrase("fourth"),
    Phrase("fifth"),
)
_WEEKDAY = r"(?:[0-7]|mon|tue|wed|thu|fri|sat|sun)"
# The fields day, month and weekday of a cron expression, and how they are said.
_CRON_FORMS: tuple[tuple[re.Pattern[str], Phrase], ...] = (
    (re.compile(r"\* \* \*"), Phrase("daily")),
    (re.compile(r"\* \* (?:1-5|mon-fri)"), Phrase("weekdays")),
    (re.compile(r"\* \* (?:6,7|6-7|0,6|6,0|sat,sun|sat-sun)"), Phrase("weekends")),
    (
        re.compile(rf"\* \* (?P<weekdays>{_WEEKDAY}(?:[,-]{_WEEKDAY}){{0,6}})"),
        Phrase("every {weekdays}"),
    ),
    (
        re.compile(rf"\* \* (?P<weekdays>{_WEEKDAY})#(?P<which>[1-5])"),
        Phrase("{which} {weekdays} of the month"),
    ),
    (
        re.compile(rf"\* \* (?P<weekdays>{_WEEKDAY})l"),
        Phrase("last {weekdays} of the month"),
    ),
    (re.compile(r"l \* \*"), Phrase("last day of the month")),
    (re.compile(r"(?P<day>\d{1,2}) \* \*"), Phrase("monthly on day {day}")),
    (
        re.compile(r"(?P<day>\d{1,2}) (?P<month>[1-9]|1[0-2]) \*"),
        Phrase("yearly on {day} {month}"),
    ),
)


def _round_span(span: timedelta) -> Phrase:
    """Return a time span in one unit."""
    minutes = round(abs(span.total_seconds()) / 60)
    if minutes < 100:
        return Phrase("{amount} min", amount=minutes)
    if minutes < 60 * 48:
        return Phrase("{amount} h", amount=round(minutes / 60))
    return Phrase("{amount} d", amount=round(minutes / 60 / 24))
