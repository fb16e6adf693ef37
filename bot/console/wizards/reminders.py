"""The wizards of reminders and of tasks: a time in words or picked, shown as it was understood."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import ClassVar
from zoneinfo import ZoneInfo

from starlette.requests import Request

from bot.access.permissions import CONSOLE_OWNER, Actor
from bot.console.transcripts import WEB_PLACE, conversation_name
from bot.console.wizards.base import (
    FindingState,
    WizardEnd,
    WizardField,
    WizardFinding,
    WizardForm,
    WizardInput,
    WizardKind,
    WizardOption,
    WizardReport,
    refuse,
)
from bot.jobs.phrases import read_reminder
from bot.jobs.schedule import (
    DAY_MINUTES,
    LOCAL_FORMAT,
    Schedule,
    ScheduleRefused,
    check_schedule,
    format_moment,
    format_repetition,
    iter_runs,
    load_zone,
    resolve_local,
)
from bot.jobs.service import MAX_BODY_CHARS, JobRequest, JobService
from bot.jobs.times import JobRefused
from channels.phrases import AnyPhrase, Phrase, untranslated
from channels.web.requests import SMALL_BODY
from memory.store.automation.jobs import JobKind
from memory.store.rows import ConversationRow, Place
from memory.store.store import Store

SHOWN_RUNS = 3
MAX_CHATS = 20
NEW_CHAT = "reminders"  # name of the chat that is made for them
ACTOR = Actor(
    channel=WEB_PLACE[0], account=WEB_PLACE[1], id=CONSOLE_OWNER.id, role=CONSOLE_OWNER.role
)
WORDS, PICKED = "words", "picked"
SENTENCE = WizardField(
    name="sentence",
    title=Phrase("When, and what"),
    example=Phrase("tomorrow at 9 pay the rent"),
    help=Phrase(
        "In your own words, such as “every monday 9:00 water the plants” or “in 20 minutes tea”."
    ),
)
MOMENT = WizardField(name="moment", title=Phrase("Date and time"), form="moment")
REPETITION = WizardField(
    name="repetition",
    title=Phrase("Repetition"),
    form="choice",
    required=False,
    options=(
        WizardOption(value="", title=Phrase("only once")),
        WizardOption(value="day", title=Phrase("every day")),
        WizardOption(value="weekdays", title=Phrase("weekdays")),
        WizardOption(value="week", title=Phrase("every week")),
        WizardOption(value="month", title=Phrase("every month")),
        WizardOption(value="year", title=Phrase("every year")),
    ),
)
WHAT = WizardField(name="what", title=Phrase("What"), form="long", example=Phrase("pay the rent"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Understood:
    """What was filled in, as it was read."""

    schedule: Schedule
    what: str
    hour_assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderWizard:
    """Makes a reminder, or with the kind of job "do" a task."""

    max_body: ClassVar[int] = SMALL_BODY
    action: ClassVar[str] = "console.write"
    kinds: ClassVar[tuple[str, ...]] = (WORDS, PICKED)

    kind: JobKind
    jobs: JobService
    store: Store
    #: The current time, with a zone.
    now: Callable[[], datetime]

    @property
    def name(self) -> str:
        return "reminder" if self.kind == "say" else "task"

    async def form(self) -> WizardForm:
        """Return the two ways to say a time, and the chats that it may be for."""
        zone = await self.jobs.times.zone_of(ACTOR)
        chat = await self._chat_field()
        local = self.now().astimezone(ZoneInfo(zone))
        is_task = self.kind == "do"
        return WizardForm(
            title=Phrase("New task") if is_task else Phrase("New reminder"),
            about=Phrase(
                "The model does it at that time, and the answer comes to the chat. Times are in "
                "{zone}, where it is {clock} now.",
                zone=zone,
                clock=f"{local:%H:%M}",
            )
            if is_task
            else Phrase(
                "Your words are sent to you at that time, without a model. Times are in {zone}, "
                "where it is {clock} now.",
                zone=zone,
                clock=f"{local:%H:%M}",
            ),
            choose=Phrase("How to say when"),
            kinds=(
                WizardKind(id=WORDS, title=Phrase("In words"), fields=(SENTENCE, chat)),
                WizardKind(
                    id=PICKED,
                    title=Phrase("By calendar"),
                    fields=(MOMENT, REPETITION, WHAT, chat),
                ),
            ),
            kind=WORDS,
            test=Phrase("Show how this is understood"),
            finish=Phrase("Set"),
            result=Phrase("Understood as"),
            untested=Phrase("Nothing is set yet."),
            testing=Phrase("Reading…"),
        )

    async def test(self, given: WizardInput, request: Request) -> WizardReport:
        """Show the next times and the words."""
        understood = await self._read(given)
        zone = understood.schedule.zone
        runs = islice(iter_runs(understood.schedule, self.now()), SHOWN_RUNS)
        findings = [
            _finding("what", Phrase("What"), untranslated(understood.what)),
            _finding(
                "repetition",
                Phrase("Repetition"),
                format_repetition(understood.schedule) or Phrase("only once"),
            ),
            *(
                _finding(
                    f"time-{number}",
                    Phrase("Time {number}", number=number),
                    format_moment(run, zone, self.now()),
                )
                for number, run in enumerate(runs, start=1)
            ),
        ]
        if understood.hour_assumed:
            assumed = Phrase("No hour was given, so the usual one is assumed.")
            findings.append(_finding("hour", Phrase("Hour"), assumed, state="unknown"))
        return WizardReport(findings=findings, ok=True)

    async def finish(self, given: WizardInput, request: Request) -> WizardEnd:
        """Set it, and tell its chat."""
        understood = await self._read(given)
        conversation = await self._find_chat(given.get("chat"))
        try:
            row = await self.jobs.add(
                JobRequest(
                    actor=ACTOR,
                    space="",
                    conversation=conversation,
                    kind=self.kind,
                    words=understood.what,
                    schedule=understood.schedule,
                )
            )
        except JobRefused as err:
            raise refuse("what", err.phrase) from err
        return WizardEnd(text=Phrase("r{number} is set.", number=row.number), path="/tasks")

    async def _read(self, given: WizardInput) -> _Understood:
        """Return when and what.

        Raises:
            HttpRefusal: it is not understood, or cannot be.
        """
        zone = await self.jobs.times.zone_of(ACTOR)
        place = SENTENCE if given.kind == WORDS else MOMENT
        try:
            understood = (
                self._read_words(given, zone) if given.kind == WORDS else _read_picked(given, zone)
            )
            check_schedule(understood.schedule, self.now(), owner=True)
        except ScheduleRefused as err:
            raise refuse(place.name, JobRefused.of(err).phrase) from err
        if not understood.what:
            missing = Phrase("Also say what it is about, after the time.")
            raise refuse(SENTENCE.name, missing)
        if len(understood.what) > MAX_BODY_CHARS:
            most = Phrase(
                "Say what is to happen, in at most {max_body_chars:,} characters.",
                max_body_chars=MAX_BODY_CHARS,
            )
            raise refuse(place.name if given.kind == WORDS else WHAT.name, most)
        return understood

    def _read_words(self, given: WizardInput, zone: str) -> _Understood:
        local = self.now().astimezone(ZoneInfo(zone))
        found = read_reminder(given.need(SENTENCE), local, zone)
        return _Understood(
            schedule=found.schedule, what=found.words, hour_assumed=found.hour_assumed
        )

    async def _chat_field(self) -> WizardField:
        """Return the field of the chat that it comes to: the newest one at first."""
        rows, _ = await self.store.conversations.page(limit=MAX_CHATS, own=True)
        options = [
            WizardOption(value=conversation_name(row), title=untranslated(_chat_title(row)))
            for row in rows
        ]
        if all(option.value != NEW_CHAT for option in options):
            options.append(WizardOption(value=NEW_CHAT, title=Phrase("a separate chat")))
        return WizardField(
            name="chat",
            title=Phrase("Where to send it"),
            form="choice",
            value=options[0].value,
            options=options,
        )

    async def _find_chat(self, name: str) -> str:
        """Return the id of one of the owner's private chats; makes the one for reminders.

        Raises:
            HttpRefusal: there is no such chat.
        """
        rows, _ = await self.store.conversations.page(limit=MAX_CHATS, own=True)
        found = next((row.id for row in rows if conversation_name(row) == name), "")
        if not found and name == NEW_CHAT:
            channel, account = WEB_PLACE
            known = await self.store.sessions.find(channel, account, NEW_CHAT)
            found = (
                known.id
                if known
                else await self.store.sessions.import_conversation(
                    Place(
                        channel=channel,
                        account=account,
                        chat_id=NEW_CHAT,
                        thread_id="",
                        kind="dm",
                        space="",
                    ),
                    (),
                )
            )
        if not found:
            raise refuse("chat", Phrase("there is no such conversation"))
        return found


def _chat_title(row: ConversationRow) -> str:
    title = row.own_title or row.title or row.place.chat_id
    return f"{row.place.channel}: {title}"


def _finding(
    step: str, name: AnyPhrase, text: AnyPhrase, state: FindingState = "ok"
) -> WizardFinding:
    return WizardFinding(step=step, name=name, state=state, text=text)


def _read_picked(given: WizardInput, zone: str) -> _Understood:
    """Return when and what of the fields.

    Raises:
        ScheduleRefused: it is no local time.
        HttpRefusal: a field is missing.
    """
    what, typed = given.need(WHAT), given.need(MOMENT)
    first = resolve_local(typed, load_zone(zone))
    local = first.astimezone(load_zone(zone))
    clock = f"{local.minute} {local.hour}"
    match given.get(REPETITION.name):
        case "":
            schedule = Schedule(zone=zone, at=local.strftime(LOCAL_FORMAT))
        case "day":
            schedule = Schedule(zone=zone, minutes=DAY_MINUTES, start=first.timestamp())
        case "week":
            schedule = Schedule(zone=zone, minutes=7 * DAY_MINUTES, start=first.timestamp())
        case "weekdays":
            schedule = Schedule(zone=zone, cron=f"{clock} * * 1-5")
        case "month":
            schedule = Schedule(zone=zone, cron=f"{clock} {local.day} * *")
        case "year":
            schedule = Schedule(zone=zone, cron=f"{clock} {local.day} {local.month} *")
        case other:
            raise refuse(REPETITION.name, Phrase("{value!r} is not a repetition", value=other[:40]))
    return _Understood(schedule=schedule, what=what)
