"""The commands /remind, /tasks and /heartbeat: what happens later, and unasked."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.commands.base import Command, CommandContext
from bot.jobs.firing import REASON_TEXTS, STATE_TEXTS, job_key
from bot.jobs.heartbeat import HEARTBEAT_FILE, SPACE
from bot.jobs.heartbeat import REASON_TEXTS as BEAT_REASON_TEXTS
from bot.jobs.phrases import NoTime, ReminderPhrase, read_channel, read_quoted, read_reminder
from bot.jobs.progress import KIND_TEXTS, quote_line
from bot.jobs.schedule import ScheduleRefused
from bot.jobs.service import JobRequest, format_job_line, sort_by_time
from bot.jobs.times import NO_QUIET, JobRefused
from channels.phrases import Phrase, join_sentences
from memory.store.automation.background_tasks import TaskRow
from memory.store.automation.jobs import JobKind, JobRow
from memory.store.rows import ConversationRow

JOB_ACTION = "task.own"
MAX_SHOWN_RUNS = 10
MAX_GOAL_CHARS = 100
MAX_CHAT_NAME_CHARS = 40
_BACKGROUND_PATTERN = re.compile(r"cancel\s+w([0-9]{1,9})", re.IGNORECASE)
SHOWN_HASH = 12
_BEAT_TEXTS = {
    "silent": Phrase("nothing to say"),
    "told": Phrase("a notice was sent"),
    "dropped": Phrase("a repeated notice was not sent"),
    "failed": Phrase("failed"),
    "paused": Phrase("paused"),
    "skipped": Phrase("the model was not asked"),
    "on": Phrase("on"),
    "off": Phrase("off"),
}
_DO_WORDS = ("do ", "做 ", "执行 ")
_DEFAULT_WORDS = ("default", "默认")
_OFF_WORDS = (NO_QUIET, "关", "关闭", "无")
_EXTRA_TEXTS = {
    "retry": Phrase("it is being retried"),
    "quiet": Phrase("until the quiet hours end"),
    "late": Phrase("late tasks run one a minute"),
    "asked": Phrase("you asked for it"),
}
_DONE_TEXTS = {
    "pause": Phrase("is paused"),
    "cancel": Phrase("is cancelled"),
    "run": Phrase("runs now"),
}


async def _remind(context: CommandContext) -> str:
    try:
        return await _set(context)
    except JobRefused as err:
        return context.text(err.phrase)


async def _set(context: CommandContext) -> str:
    deliver, text = read_channel(context.arguments.strip())
    kind: JobKind = "say"
    for word in _DO_WORDS:
        if text.lower().startswith(word):
            text, kind = text[len(word) :].strip(), "do"
    if not deliver:
        deliver, text = read_channel(text)
    jobs = context.services.jobs
    try:
        found = await _read(context, text)
    except NoTime:
        return context.text(
            Phrase(
                "I could not tell when and what. Examples: /remind 20m turn off the stove, "
                "/remind tomorrow 8:00 meeting, /remind weekdays 9:00 stand-up, /remind "
                "2026-12-01 09:00 rent, /remind cron 0 9 * * 1 report; to have me do something: "
                "/remind do daily 8:00 look up the weather; for your private chat on another "
                "channel: /remind on telegram 20m turn off the stove."
            ),
        )
    actor = context.actor
    request = JobRequest(
        actor=actor,
        space=context.conversation.place.space,
        conversation=context.conversation.id,
        kind=kind,
        words=found.words,
        schedule=found.schedule,
        deliver=deliver,
    )
    row = await jobs.add(request, tell=False)
    return await _describe(context, row, found)


async def _describe(context: CommandContext, row: JobRow, found: ReminderPhrase | None) -> str:
    """Show a job as it is now, and the hour that was assumed for it."""
    shown = context.text(await context.services.jobs.describe(row))
    if found is None or not found.hour_assumed:
        return shown
    clock = f"{datetime.fromtimestamp(row.next_at, UTC).astimezone(ZoneInfo(found.schedule.zone)):%H:%M}"  # noqa: E501
    return "\n".join(
        (
            shown,
            context.text(Phrase("No hour was given, so {clock} is assumed.", clock=clock)),
        )
    )


async def _tasks(context: CommandContext) -> str:
    if found := _BACKGROUND_PATTERN.fullmatch(context.arguments.strip()):
        return await _cancel_background(context, int(found[1]))
    at_work = [] if context.arguments.strip() else [await _list_background(context)]
    try:
        return "\n\n".join(filter(None, [*at_work, await _show_or_change(context)]))
    except JobRefused as err:
        return context.text(err.phrase)


async def _list_background(context: CommandContext) -> str:
    """List the sub-agents and commands that this chat and the person's other chats have at work; ""
    for none.
    """
    lines = []
    for row, chat in await _load_background(context):
        goal, kind = (
            " ".join(row.goal.split())[:MAX_GOAL_CHARS],
            context.text(KIND_TEXTS[row.kind]),
        )
        progress = await context.services.progress.describe(row, context.lang)
        where = "" if chat.id == context.conversation.id else _format_chat(chat)
        lines.append(" · ".join(filter(None, (f"▶ {row.name}", where, kind, goal, progress))))
    return "\n".join([context.text(Phrase("**Running**")), *lines]) if lines else ""


async def _load_background(context: CommandContext) -> list[tuple[TaskRow, ConversationRow]]:
    """Load what runs in this chat and, for a private one, in the other private chats of its person,
    with the chats.
    """
    here = context.conversation
    found = []
    for row in await context.store.tasks.open_tasks_of_space(here.place.space):
        chat = await context.store.sessions.conversation(row.conversation)
        if chat is not None and (chat.id == here.id or _are_of_one_person(chat, here)):
            found.append((row, chat))
    return found


def _are_of_one_person(chat: ConversationRow, other: ConversationRow) -> bool:
    """Tell whether two chats are private and of one person; a linked account's are not of whose
    memory it shares.
    """
    is_private = "group" not in (chat.place.kind, other.place.kind)
    return is_private and chat.own_space == other.own_space


def _format_chat(chat: ConversationRow) -> str:
    name = chat.own_title or chat.title or chat.place.chat_id
    return f"{chat.place.channel} {quote_line(name[:MAX_CHAT_NAME_CHARS])}"


async def _cancel_background(context: CommandContext, number: int) -> str:
    """End one of the sub-agents and commands that are listed here."""
    listed = [row for row, _ in await _load_background(context) if row.number == number]
    if not listed or not await context.services.cancel_task(listed[0]):
        return context.text(Phrase("No w{number} is running here.", number=number))
    return context.text(Phrase("w{number} was stopped.", number=number))


async def _show_or_change(context: CommandContext) -> str:
    word, _, rest = context.arguments.strip().partition(" ")
    match word.lower():
        case "":
            return await _list(context)
        case "zone":
            return await _zone(context, rest.strip())
        case "quiet":
            return await _quiet(context, rest.strip())
    name, _, words = rest.strip().partition(" ")
    action = word.lower() if rest else "show"
    number = _parse_number(name or word)
    if number is None:
        return _usage(context)
    if action == "show":
        row = await context.services.jobs.jobs.find(context.conversation.place.space, number)
        return await _show(
            context,
            row or await context.services.jobs.find(context.conversation.place.space, number),
        )
    return await _change(context, action, number, words.strip())


async def _change(context: CommandContext, action: str, number: int, words: str) -> str:
    jobs, by = context.services.jobs, context.actor.id
    if action not in _DONE_TEXTS and action not in ("resume", "edit"):
        return _usage(context)
    row = await jobs.find(context.conversation.place.space, number)
    if not _may_change(context, row):
        return context.text(Phrase("Only the person who set it can change it."))
    match action:
        case "pause":
            await jobs.pause(row, by)
        case "resume":
            return context.text(format_job_line(await jobs.resume(row, by), context.services.now()))
        case "cancel":
            await jobs.end(row, by)
        case "run":
            await jobs.run_now(row, by)
        case _:
            return await _edit(context, row, words)
    return context.text(Phrase("r{number} {what}.", number=row.number, what=_DONE_TEXTS[action]))


async def _edit(context: CommandContext, row: JobRow, text: str) -> str:
    """Change time and words, the time alone, or the words alone."""
    if not text:
        return context.text(
            Phrase("Add the new time, the new words or both, as in /tasks edit r3 tomorrow 9:00."),
        )
    found, words = None, read_quoted(text)
    if not words:
        try:
            found = await _read(context, text)
            words = found.words
        except NoTime:
            words = text
        except JobRefused as err:
            hint = Phrase("To change only the words, put them in quotation marks.")
            return context.text(join_sentences([err.phrase, hint]))
    schedule = found.schedule if found else None
    is_here = row.conversation == context.conversation.id
    edited = await context.services.jobs.edit(row, context.actor, words, schedule, tell=not is_here)
    return "\n".join(
        (_format_changes(context, row, edited), await _describe(context, edited, found))
    )


def _format_changes(context: CommandContext, former: JobRow, edited: JobRow) -> str:
    """Say which of time and words an edit has changed."""
    match edited.schedule != former.schedule, edited.body != former.body:
        case True, True:
            what = Phrase("has a new time and new words")
        case True, False:
            what = Phrase("has a new time and the same words")
        case False, True:
            what = Phrase("has new words and the same time")
        case _:
            what = Phrase("is unchanged")
    return context.text(Phrase("r{number} {what}.", number=former.number, what=what))


async def _read(context: CommandContext, text: str) -> ReminderPhrase:
    """Read when and what, in the person's zone.

    Raises:
        NoTime: the text names no time.
        JobRefused: it is not understood.
    """
    zone = await context.services.jobs.times.zone_of(context.actor)
    try:
        return read_reminder(text, context.services.now().astimezone(ZoneInfo(zone)), zone)
    except NoTime:
        raise
    except ScheduleRefused as err:
        raise JobRefused.of(err) from err


async def _zone(context: CommandContext, name: str) -> str:
    times, actor = context.services.jobs.times, context.actor
    if name:
        chosen = "" if name.lower() in _DEFAULT_WORDS else name
        await times.choose(actor, context.conversation.place.space, zone=chosen)
    zone = await times.zone_of(actor)
    now = f"{context.services.now().astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"
    return context.text(
        Phrase(
            "Your time zone is {zone}, where it is {now}. To change it: /tasks zone "
            "Europe/Berlin; to use the configured one: /tasks zone default.",
            zone=zone,
            now=now,
        ),
    )


async def _quiet(context: CommandContext, hours: str) -> str:
    times, actor = context.services.jobs.times, context.actor
    if hours:
        lower = hours.lower()
        chosen = "" if lower in _DEFAULT_WORDS else NO_QUIET if lower in _OFF_WORDS else hours
        await times.choose(actor, context.conversation.place.space, quiet=chosen)
    quiet = times.quiet_of(await times.setting(actor.channel, actor.account, actor.id))
    if not quiet:
        return context.text(
            Phrase(
                "There are no quiet hours: tasks run at any time. To set some: /tasks quiet "
                "22:30-07:30."
            ),
        )
    begin, end = quiet
    return context.text(
        Phrase(
            "Quiet hours are {begin} to {end}: tasks wait until {end}; reminders still come. To "
            "change them: /tasks quiet 23:00-07:00; to turn them off: /tasks quiet off.",
            begin=begin,
            end=end,
        ),
    )


def _may_change(context: CommandContext, row: JobRow) -> bool:
    actor = context.actor
    return actor.role == "owner" or (actor.channel, actor.id) == (row.channel, row.person)


async def _list(context: CommandContext) -> str:
    jobs = context.services.jobs
    rows = sort_by_time(await jobs.jobs.open_jobs(context.conversation.place.space))
    if not rows:
        return context.text(
            Phrase("There are no reminders or tasks. /remind tomorrow 8:00 meeting sets one."),
        )
    lines = [context.text(format_job_line(row, context.services.now())) for row in rows]
    held: set[str] = set()
    for conversation in {row.conversation for row in rows}:
        held.update(
            source.rpartition(":")[0] for source in await jobs.jobs.held_sources(conversation)
        )
    for index, row in enumerate(rows):
        if f"job:{row.id}" in held:
            lines[index] += "\n" + context.text(Phrase("(one is held until you write)"))
    return "\n".join(lines)


async def _show(context: CommandContext, row: JobRow) -> str:
    jobs = context.services.jobs
    zone = ZoneInfo(await jobs.times.zone_of(context.actor))
    lines = [context.text(format_job_line(row, context.services.now()))]
    if row.state == "done":
        lines = [context.text(Phrase("r{number}, ended", number=row.number)), row.body]
    if row.state == "paused":
        why = context.text(REASON_TEXTS.get(row.reason, Phrase("by you")))
        lines.append(context.text(Phrase("Paused: {why}", why=why)))
    if row.extra and row.state == "on":
        why = context.text(_EXTRA_TEXTS[row.extra])
        lines.append(context.text(Phrase("Postponed this time: {why}", why=why)))
    held = await jobs.jobs.held_sources(row.conversation)
    for run in await jobs.jobs.occurrences(row.id, MAX_SHOWN_RUNS):
        state = context.text(STATE_TEXTS[run.state])
        if {job_key(row.id, run.due), f"{run.inbox_row}:answer"} & set(held):
            state = context.text(Phrase("held until you write"))
        reason = context.text(REASON_TEXTS[run.reason]) if run.reason in REASON_TEXTS else ""
        when = datetime.fromtimestamp(run.due, UTC).astimezone(zone)
        lines.append(f"- {when:%Y-%m-%d %H:%M} {state}" + (f" ({reason})" if reason else ""))
    return "\n".join(lines)


def _parse_number(text: str) -> int | None:
    digits = text.strip().lower().removeprefix("r")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _usage(context: CommandContext) -> str:
    return context.text(
        Phrase(
            "Usage: /tasks, /tasks r3, /tasks edit r3 tomorrow 9:00, /tasks pause r3, /tasks "
            "resume r3, /tasks cancel r3, /tasks run r3, /tasks zone, /tasks quiet"
        ),
    )


async def _heartbeat(context: CommandContext) -> str:
    heartbeat, word = context.services.heartbeat, context.arguments.strip().lower()
    match word:
        case "":
            return await _show_heartbeat(context)
        case "on" | "off":
            await heartbeat.set("on" if word == "on" else "off", context.actor.id)
            return await _show_heartbeat(context)
        case "now":
            beat = await heartbeat.beat(asked=True)
            return _format_beat(context, beat.decision, beat.reason)
        case "last":
            return await _last(context)
    return context.text(
        Phrase("Usage: /heartbeat [on|off|now|last]"),
    )


async def _show_heartbeat(context: CommandContext) -> str:
    every = context.services.config.current.heartbeat.every
    state = await context.services.store.heartbeats.state(SPACE)
    if state is not None and state.decision != "on":
        return (
            context.text(Phrase("The heartbeat"))
            + context.text(Phrase(": "))
            + _format_beat(context, state.decision, state.reason)
        )
    if not every:
        return context.text(
            Phrase(
                "The heartbeat is off: set heartbeat.every (minutes), and write what to watch "
                "for into {heartbeat_file} in the workspace.",
                heartbeat_file=HEARTBEAT_FILE,
            ),
        )
    looked = context.services.heartbeat.looks
    last = ""
    if looked:
        at, beat = looked[-1]
        ago = timedelta(seconds=max(0.0, context.services.now().timestamp() - at))
        minutes = round(ago.total_seconds() / 60)
        what = _format_beat(context, beat.decision, beat.reason)
        last = context.text(
            Phrase("The latest, {minutes} min ago: {what}", minutes=minutes, what=what)
        )
    return "\n".join(
        filter(
            None,
            (
                context.text(Phrase("The heartbeat runs every {every} min.", every=every)),
                last,
            ),
        )
    )


async def _last(context: CommandContext) -> str:
    found = await context.services.store.heartbeats.beats(SPACE, 1)
    if not found:
        return context.text(Phrase("The model has not been asked yet."))
    [row] = found
    when = datetime.fromtimestamp(row.at, UTC).astimezone(context.services.now().tzinfo)
    return context.text(
        Phrase(
            "{when:%Y-%m-%d %H:%M} {beat}, inputs {sha256}, {tokens:,} tokens",
            when=when,
            beat=_format_beat(context, row.decision, row.reason),
            sha256=row.sha256[:SHOWN_HASH],
            tokens=row.tokens,
        ),
    )


def _format_beat(context: CommandContext, decision: str, reason: str) -> str:
    what = context.text(_BEAT_TEXTS[decision])
    why = context.text(BEAT_REASON_TEXTS[reason]) if reason else ""
    return what + (context.text(Phrase(" ({why})", why=why)) if why else "")


JOB_COMMANDS = (
    Command(
        name="remind",
        usage=Phrase("WHEN WHAT"),
        action=JOB_ACTION,
        about=Phrase("get a reminder at a time you choose"),
        run=_remind,
    ),
    Command(
        name="tasks",
        usage=Phrase("[show|edit|pause|resume|cancel|run NUMBER | zone | quiet]"),
        action=JOB_ACTION,
        about=Phrase("see and change your reminders and tasks"),
        run=_tasks,
    ),
    Command(
        name="heartbeat",
        usage=Phrase("[on|off|now|last]"),
        action="heartbeat",
        about=Phrase("let the bot check things regularly and speak up if needed"),
        run=_heartbeat,
    ),
)
