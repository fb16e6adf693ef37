"""What a due moment of a job causes: texts, a task's message, what is too late, and how a run
ended.

Pure.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.jobs.schedule import Schedule, next_run
from bot.messages import MessageBody, dump_body
from channels.message import Quote
from channels.phrases import NO_PHRASE, Phrase
from memory.conversation import Text, load_parts
from memory.store.automation.job_runs import RunEnd, RunOutcome, RunRow
from memory.store.automation.jobs import JobRow
from memory.store.rows import NewInboxRow, Place

LATE_AFTER = timedelta(minutes=1)  # from here on the text says when it was due
MIN_REPEAT_LATE, MAX_REPEAT_LATE = timedelta(minutes=15), timedelta(hours=12)
MAX_OUTCOME_CHARS = 400  # of the answer of an earlier time
MAX_MISSED_CHARS = 200
RETRY_MINUTES = (5, 15, 30)  # after a turn whose model did not answer before it had called a tool
MAX_FAILS = 3  # in a row; then the job is paused
STATE_TEXTS = {
    "told": Phrase("sent"),
    "run": Phrase("running", context="a task"),
    "done": Phrase("done", context="a task"),
    "failed": Phrase("failed", context="a task"),
    "held": Phrase("postponed"),
    "skipped": Phrase("skipped"),
}
REASON_TEXTS = {
    "late": Phrase("late"),
    "quiet": Phrase("quiet hours"),
    "busy": Phrase("the previous run had not ended"),
    "limit": Phrase("the day's task limit was reached"),
    "model": Phrase("the model did not answer"),
    "stopped": Phrase("stopped"),
    "refused": Phrase("not accepted"),
    "gone": Phrase("its message no longer exists"),
    "rights": Phrase("the rights of the person who set it changed"),
    "schedule": Phrase("its time cannot be read"),
    "channel": Phrase("the channel or chat is gone"),
    "fault": Phrase("an error in this program"),
    "failed": Phrase("it failed 3 times in a row"),
}


def job_key(job_id: str, due: float) -> str:
    """Return the key of what a due moment of a job causes."""
    return f"job:{job_id}:{f'{due:.3f}'.rstrip('0').rstrip('.')}"


def is_too_late(
    row: JobRow,
    schedule: Schedule,
    late: timedelta,
    due: datetime,
    later: datetime | None,
    max_late: timedelta,
) -> bool:
    """Tell whether a job is skipped because it is late.

    A text is sent up to `max_late`, as is a single task. A repeated task is worth half of its
    period, between 15 minutes and 12 hours.
    """
    if row.kind == "say" or not schedule.repeats or row.extra:
        return late > max_late
    following = next_run(schedule, due) or later
    period = following - due if following else max_late
    return late > min(max(period / 2, MIN_REPEAT_LATE), MAX_REPEAT_LATE)


def format_late(due: datetime, late: timedelta, zone: str, lang: str) -> str:
    """Say when a late text was due; "" if it is in time."""
    if late <= LATE_AFTER:
        return ""
    local = due.astimezone(ZoneInfo(zone))
    when = f"{local:%H:%M}" if late < timedelta(hours=12) else f"{local:%Y-%m-%d %H:%M}"
    return Phrase(" (was due {when})", when=when).text(lang)


def format_missed(row: JobRow) -> str:
    """Format a missed job as one line."""
    words = " ".join(row.body.split())
    return f"- {_local_time(row, row.next_at)} {words[:MAX_MISSED_CHARS]}"


def build_arrival(
    row: JobRow,
    place: Place,
    sender: str,
    now: datetime,
    lang: str,
    outcomes: Sequence[RunOutcome] = (),
) -> NewInboxRow:
    """Return the message that starts a task's turn; words that outside text may have shaped come as
    a quotation.

    Args:
        sender: id of the person on the channel of that place.
    """
    schedule, due = Schedule.from_json(row.schedule), datetime.fromtimestamp(row.next_at, UTC)
    made = _local_time(row, row.at)[:10]
    late = "" if row.extra else format_late(due, now - due, schedule.zone, lang)
    head = Phrase(
        "⏰ r{number}, set on {made}{late}: ", number=row.number, made=made, late=late
    ).text(lang)
    clean = _format_outcomes(row, [one for one in outcomes if not one.tainted], lang)
    earlier = _format_outcomes(row, [one for one in outcomes if one.tainted], lang)
    if row.tainted:
        asked = Phrase("do the quoted task.").text(lang)
        body = MessageBody(
            text=f"{head}{asked}{clean}", quote=Quote(text=row.body), job=row.id, earlier=earlier
        )
    else:
        body = MessageBody(text=f"{head}{row.body}{clean}", job=row.id, earlier=earlier)
    return NewInboxRow(
        place=place,
        key=job_key(row.id, row.next_at),
        kind="message",
        sender_id=sender,
        body=dump_body(body),
        by_program=True,
    )


def _format_outcomes(row: JobRow, outcomes: Sequence[RunOutcome], lang: str) -> str:
    """List how earlier times ended, newest first; "" for none."""
    if not outcomes:
        return ""
    lines = ["", "", Phrase("Earlier times:").text(lang)]
    for one in outcomes:
        state, reason = (
            STATE_TEXTS[one.state].text(lang),
            REASON_TEXTS.get(one.reason, NO_PHRASE).text(lang),
        )
        parts = load_parts(one.parts) if one.parts else ()
        answer = " ".join("".join(part.text for part in parts if isinstance(part, Text)).split())
        outcome = f": {answer[:MAX_OUTCOME_CHARS]}" if answer and one.state == "done" else ""
        lines.append(
            f"- {_local_time(row, one.due)} {state}" + (f" ({reason})" if reason else "") + outcome
        )
    return "\n".join(lines)


def _local_time(row: JobRow, moment: float) -> str:
    zone = ZoneInfo(Schedule.from_json(row.schedule).zone)
    return f"{datetime.fromtimestamp(moment, UTC).astimezone(zone):%Y-%m-%d %H:%M}"


def plan_end(run: RunRow, row: JobRow, now: float) -> RunEnd:
    """Decide how a run ended and what follows. Pure.

    Args:
        now: unix seconds.
    """
    if run.turn_state == "done":
        return RunEnd(state="done")
    if not run.inbox_state:
        return RunEnd(state="failed", reason="gone", fails=row.fails)
    if run.turn_state == "cancelled":
        return RunEnd(state="failed", reason="stopped", fails=row.fails)
    fails = row.fails + 1
    pause = fails >= MAX_FAILS
    if run.turn_state == "failed" and not run.told:
        retry = RETRY_MINUTES[row.retries] * 60 if row.retries < len(RETRY_MINUTES) else 0
        return RunEnd(
            state="failed",
            reason="model",
            retry_at=now + retry if retry else 0.0,
            fails=fails,
            pause=pause,
        )
    return RunEnd(
        state="failed", reason="" if run.turn_state else "refused", fails=fails, pause=pause
    )
