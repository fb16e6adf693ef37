"""The command /trace: how a message was processed, one line per event."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import tzinfo
from typing import Any

from bot.commands.base import Command, CommandContext
from channels.phrases import NO_PHRASE, Phrase
from memory.store.conversations.traces import Trace, TraceEvent

STATE_TEXTS: Mapping[str, Phrase] = {
    "new": Phrase("waiting"),
    "running": Phrase("at work"),
    "waiting": Phrase("waiting for a tool"),
    "done": Phrase("done"),
    "dead": Phrase("given up after crashes"),
    "ignored": Phrase("ignored"),
    "aside": Phrase("stored as background"),
    "cancelled": Phrase("cancelled"),
    "failed": Phrase("failed"),
    "interrupted": Phrase("interrupted"),
    "planned": Phrase("not started"),
    "started": Phrase("at work"),
    "denied": Phrase("not allowed"),
    "unknown": Phrase("outcome unknown"),
    "pending": Phrase("to be sent"),
    "sending": Phrase("being sent"),
    "sent": Phrase("accepted by the platform"),
    "dropped": Phrase("dropped"),
    "summarised": Phrase("at work"),
    "checked": Phrase("at work"),
    "logged": Phrase("at work"),
    "folded": Phrase("done"),
    "stale": Phrase("not used"),
    "undone": Phrase("undone"),
}
PART_TEXTS: Mapping[str, Phrase] = {
    "final": Phrase("answer"),
    "media": Phrase("file"),
    "progress": Phrase("progress"),
    "notice": Phrase("notice"),
}


def format_trace(trace: Trace, lang: str, zone: tzinfo | None) -> list[str]:
    """Format the trace id and state, then one line per event with its local time. Pure."""
    state = _format_state(trace.state)
    head = Phrase("trace {id} · {state}", id=trace.id, state=state).text(lang)
    return [head, *(_format_event(event, lang, zone) for event in trace.events)]


def trace_to_json(trace: Trace, zone: tzinfo | None) -> dict[str, Any]:
    """Return the trace as JSON values, with the lines in both languages; empty fields are left out.

    Pure.
    """
    return {
        "trace": trace.id,
        "message_id": trace.message,
        "state": trace.state,
        "events": [_event_to_json(event) for event in trace.events],
        "zh": format_trace(trace, "zh", zone),
        "en": format_trace(trace, "en", zone),
    }


def _event_to_json(event: TraceEvent) -> dict[str, Any]:
    fields = {
        name: value for name, value in asdict(event).items() if value not in ("", 0, 0.0, None)
    }
    if event.at:
        fields["at"] = event.at.isoformat()
    if "seconds" in fields:
        fields["seconds"] = round(event.seconds, 3)
    return fields


def _format_event(event: TraceEvent, lang: str, zone: tzinfo | None) -> str:
    when = (
        f"{event.at.astimezone(zone):%Y-%m-%d %H:%M:%S}"
        if event.at
        else (Phrase("no time yet").text(lang))
    )
    return f"- {when} {_EVENT_FORMATTERS[event.kind](event).text(lang)}"


def _format_received(event: TraceEvent) -> Phrase:
    tries = _format_attempts(event.attempts, 0)
    why = Phrase(": {why}", why=event.why) if event.why else NO_PHRASE
    return Phrase(
        "received ({name}){tries}{why}",
        name=event.name,
        tries=tries,
        why=why,
    )


def _format_claimed(event: TraceEvent) -> Phrase:
    if not event.attempts:
        return Phrase("started")
    return Phrase(
        "started, resumed {times} after a restart",
        times=_format_times(event.attempts),
    )


def _format_model_call(event: TraceEvent) -> Phrase:
    took = _format_seconds(event.seconds)
    return Phrase(
        "model {name}: {input:,} tokens in ({cached:,} cached), {output:,} out{took}",
        name=event.name,
        input=event.input,
        cached=event.cached,
        output=event.output,
        took=took,
    )


def _format_tool_call(event: TraceEvent) -> Phrase:
    took, tries = _format_seconds(event.seconds), _format_attempts(event.attempts)
    return Phrase(
        "tool {name}: {state}{tries}{took}",
        name=event.name,
        state=_format_state(event.state),
        tries=tries,
        took=took,
    )


def _format_fold(event: TraceEvent) -> Phrase:
    return Phrase(
        "older turns folded: {state} ({why})",
        state=_format_state(event.state),
        why=event.why,
    )


def _format_ended(event: TraceEvent) -> Phrase:
    took = _format_seconds(event.seconds)
    return Phrase(
        "ended: {state}{took}",
        state=_format_state(event.state),
        took=took,
    )


def _format_part(event: TraceEvent) -> Phrase:
    kind = PART_TEXTS.get(event.name, event.name)
    took, tries = _format_seconds(event.seconds), _format_attempts(event.attempts)
    why = f": {event.why}" if event.why else ""
    return Phrase(
        "{kind} {part}/{parts}: {state}{tries}{took}{why}",
        kind=kind,
        part=event.part,
        parts=event.parts,
        state=_format_state(event.state),
        tries=tries,
        took=took,
        why=why,
    )


_EVENT_FORMATTERS: Mapping[str, Callable[[TraceEvent], Phrase]] = {
    "received": _format_received,
    "claimed": _format_claimed,
    "model": _format_model_call,
    "tool": _format_tool_call,
    "fold": _format_fold,
    "ended": _format_ended,
    "part": _format_part,
}


def _format_state(state: str) -> Phrase | str:
    return STATE_TEXTS.get(state, state)


def _format_seconds(seconds: float) -> Phrase:
    return Phrase(", {seconds:.2f} s", seconds=seconds) if seconds else NO_PHRASE


def _format_attempts(attempts: int, usual: int = 1) -> Phrase:
    return (
        Phrase(", tried {times}", times=_format_times(attempts)) if attempts > usual else NO_PHRASE
    )


def _format_times(count: int) -> Phrase:
    return Phrase("once", "{count} times", count=count)


NEWEST_WORDS = ("", "last", "上一条")


async def _trace(context: CommandContext) -> str:
    """Trace a message of this conversation; in a group, only the sender's own."""
    message = context.arguments.strip().lower()
    found = await context.store.sessions.trace(
        context.conversation.id,
        of="" if message in NEWEST_WORDS else message,
        sender=context.row.sender_id if context.scope.kind == "group" else "",
        below=context.row.line,
    )
    if found is not None:
        return "\n".join(format_trace(found, context.lang, context.services.now().tzinfo))
    if message in NEWEST_WORDS:
        return context.text(Phrase("There is no message of yours here yet."))
    return context.text(
        Phrase("There is no message of yours here with the id {message}.", message=message[:60]),
    )


TRACE_COMMAND = Command(
    name="trace",
    usage=Phrase("[last | ID]"),
    action="trace",
    about=Phrase("see how a message was processed, step by step"),
    run=_trace,
)
