"""The command /trace: how a message was processed, one line per event."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import tzinfo
from typing import Any

from bot.commands.base import Command, CommandContext
from memory.store.conversations.traces import Trace, TraceEvent

STATE_TEXTS: Mapping[str, tuple[str, str]] = {
    "new": ("在排队", "waiting"),
    "running": ("进行中", "at work"),
    "waiting": ("等待工具", "waiting for a tool"),
    "done": ("完成", "done"),
    "dead": ("多次中断后放弃", "given up after crashes"),
    "ignored": ("未处理", "ignored"),
    "aside": ("作为背景留存", "kept as background"),
    "cancelled": ("已取消", "cancelled"),
    "failed": ("失败", "failed"),
    "interrupted": ("被中断", "interrupted"),
    "planned": ("未开始", "not begun"),
    "started": ("进行中", "at work"),
    "denied": ("未获允许", "not allowed"),
    "unknown": ("结果不明", "outcome unknown"),
    "pending": ("待发送", "to be sent"),
    "sending": ("发送中", "being sent"),
    "sent": ("已送达平台", "taken by the platform"),
    "dropped": ("不再发送", "dropped"),
    "summarised": ("进行中", "at work"),
    "checked": ("进行中", "at work"),
    "logged": ("进行中", "at work"),
    "folded": ("完成", "done"),
    "stale": ("作废", "not used"),
    "undone": ("已撤销", "undone"),
}
PART_TEXTS: Mapping[str, tuple[str, str]] = {
    "final": ("回复", "answer"),
    "media": ("文件", "file"),
    "progress": ("进度", "progress"),
    "notice": ("通知", "notice"),
}


def format_trace(trace: Trace, lang: str, zone: tzinfo | None) -> list[str]:
    """Format the trace id and state, then one line per event with its local time. Pure."""
    state = _format_state(trace.state, lang)
    head = f"记录 {trace.id} · {state}" if lang == "zh" else f"trace {trace.id} · {state}"
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
        else ("还没有时间" if lang == "zh" else "no time yet")
    )
    zh, en = _EVENT_FORMATTERS[event.kind](event)
    return f"- {when} {zh if lang == 'zh' else en}"


def _format_received(event: TraceEvent) -> tuple[str, str]:
    tries = _format_attempts(event.attempts, 0)
    why = (f"：{event.why}", f": {event.why}") if event.why else ("", "")
    return f"收到（{event.name}）{tries[0]}{why[0]}", f"received ({event.name}){tries[1]}{why[1]}"


def _format_claimed(event: TraceEvent) -> tuple[str, str]:
    if not event.attempts:
        return "开始处理", "begun"
    return (
        f"开始处理，重启后接手 {event.attempts} 次",
        f"begun, taken up again {_format_times(event.attempts)} after a restart",
    )


def _format_model_call(event: TraceEvent) -> tuple[str, str]:
    took = _format_seconds(event.seconds)
    return (
        (
            f"模型 {event.name}：输入 {event.input:,}（缓存 {event.cached:,}），输出 "
            f"{event.output:,} tokens{took[0]}"
        ),
        (
            f"model {event.name}: {event.input:,} tokens in ({event.cached:,} cached), "
            f"{event.output:,} out{took[1]}"
        ),
    )


def _format_tool_call(event: TraceEvent) -> tuple[str, str]:
    took, tries = _format_seconds(event.seconds), _format_attempts(event.attempts)
    return (
        f"工具 {event.name}：{_format_state(event.state, 'zh')}{tries[0]}{took[0]}",
        f"tool {event.name}: {_format_state(event.state, 'en')}{tries[1]}{took[1]}",
    )


def _format_fold(event: TraceEvent) -> tuple[str, str]:
    return (
        f"整理较早的对话：{_format_state(event.state, 'zh')}（{event.why}）",
        f"older turns folded: {_format_state(event.state, 'en')} ({event.why})",
    )


def _format_ended(event: TraceEvent) -> tuple[str, str]:
    took = _format_seconds(event.seconds)
    return (
        f"结束：{_format_state(event.state, 'zh')}{took[0]}",
        f"ended: {_format_state(event.state, 'en')}{took[1]}",
    )


def _format_part(event: TraceEvent) -> tuple[str, str]:
    kind = PART_TEXTS.get(event.name, (event.name, event.name))
    took, tries = _format_seconds(event.seconds), _format_attempts(event.attempts)
    why = f": {event.why}" if event.why else ""
    return (
        (
            f"{kind[0]} {event.part}/{event.parts}："
            f"{_format_state(event.state, 'zh')}{tries[0]}{took[0]}{why}"
        ),
        (
            f"{kind[1]} {event.part}/{event.parts}: "
            f"{_format_state(event.state, 'en')}{tries[1]}{took[1]}{why}"
        ),
    )


_EVENT_FORMATTERS: Mapping[str, Callable[[TraceEvent], tuple[str, str]]] = {
    "received": _format_received,
    "claimed": _format_claimed,
    "model": _format_model_call,
    "tool": _format_tool_call,
    "fold": _format_fold,
    "ended": _format_ended,
    "part": _format_part,
}


def _format_state(state: str, lang: str) -> str:
    zh, en = STATE_TEXTS.get(state, (state, state))
    return zh if lang == "zh" else en


def _format_seconds(seconds: float) -> tuple[str, str]:
    return (f"，用时 {seconds:.2f} 秒", f", {seconds:.2f} s") if seconds else ("", "")


def _format_attempts(attempts: int, usual: int = 1) -> tuple[str, str]:
    return (
        (f"，第 {attempts} 次", f", tried {_format_times(attempts)}")
        if attempts > usual
        else ("", "")
    )


def _format_times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


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
        return context.text("这里还没有你的消息。", "There is no message of yours here yet.")
    return context.text(
        f"这里没有编号为 {message[:60]} 的消息。",
        f"There is no message of yours here with the id {message[:60]}.",
    )


TRACE_COMMAND = Command(
    name="trace",
    usage="[last | ID]",
    usage_zh="[上一条 | 编号]",
    action="trace",
    zh="查看一条消息的处理经过",
    en="see how a message was processed, step by step",
    run=_trace,
)
