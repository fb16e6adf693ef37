"""The commands /remind and /tasks: what happens later."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from bot.commands.base import Command, CommandContext
from bot.jobs.phrases import read_reminder
from bot.jobs.service import JobRefused, JobRequest, format_job_line
from memory.store.people.jobs import JobRow

JOB_ACTION = "task.own"
MAX_SHOWN_RUNS = 10
MAX_GOAL_CHARS = 100
_BACKGROUND_PATTERN = re.compile(r"cancel\s+w([0-9]{1,9})", re.IGNORECASE)
_DO_WORDS = ("do ", "做 ", "执行 ")
_STATE_TEXTS = {"told": ("已发送", "sent"), "run": ("已执行", "run"), "skipped": ("已跳过", "skipped")}
_REASON_TEXTS = {
    "late": ("晚了", "late"),
    "rights": ("你的权限变了", "your rights changed"),
    "schedule": ("时间读不出来", "its time cannot be read"),
    "channel": ("渠道或对话不在了", "the channel or chat is gone"),
}


async def _remind(context: CommandContext) -> str:
    try:
        return await _set(context)
    except JobRefused as err:
        return context.text(err.zh, str(err))


async def _set(context: CommandContext) -> str:
    text, kind = context.arguments.strip(), "say"
    for word in _DO_WORDS:
        if text.lower().startswith(word):
            text, kind = text[len(word) :].strip(), "do"
    jobs = context.services.jobs
    found = read_reminder(text, context.services.now().astimezone(ZoneInfo(jobs.zone)), jobs.zone)
    if found is None:
        return context.text(
            "没看懂是什么时候、什么事。例如：/提醒 20分钟后 关火，/提醒 明天早上8点 开会，/提醒 每周一 9:00 写周报，"
            "/提醒 2026-12-01 09:00 交房租，/提醒 cron 0 9 * * 1-5 打卡；让我去做一件事用 /提醒 do 每天 8:00 看天气。",
            "I did not understand when and what. Examples: /remind 20m turn off the stove, "
            "/remind tomorrow 8:00 meeting, /remind weekdays 9:00 stand-up, /remind 2026-12-01 09:00 rent, "
            "/remind cron 0 9 * * 1 report; "
            "to have me do something: /remind do daily 8:00 look up the weather.",
        )
    actor = context.actor
    request = JobRequest(
        actor=actor,
        space=context.conversation.place.space,
        conversation=context.conversation.id,
        kind="do" if kind == "do" else "say",
        words=found.words,
        schedule=found.schedule,
    )
    row = await jobs.add(request)
    return context.text(f"记下了（r{row.number}）。", f"Noted (r{row.number}).")


async def _tasks(context: CommandContext) -> str:
    if found := _BACKGROUND_PATTERN.fullmatch(context.arguments.strip()):
        return await _cancel_background(context, int(found[1]))
    at_work = [] if context.arguments.strip() else [await _list_background(context)]
    try:
        return "\n\n".join(filter(None, [*at_work, await _show_or_change(context)]))
    except JobRefused as err:
        return context.text(err.zh, str(err))


async def _list_background(context: CommandContext) -> str:
    """List the sub-agents and commands of this chat that are at work; "" for none."""
    rows = await context.store.tasks.open_tasks(context.conversation.id)
    kinds = {"agent": context.text("子代理", "sub-agent"), "exec": context.text("命令", "command")}
    lines = [f"▶ {row.name} · {kinds[row.kind]} · {' '.join(row.goal.split())[:MAX_GOAL_CHARS]}" for row in rows]
    return "\n".join([context.text("**进行中**", "**At work**"), *lines]) if lines else ""


async def _cancel_background(context: CommandContext, number: int) -> str:
    """End a sub-agent or a command of this chat."""
    row = await context.store.tasks.find(context.conversation.place.space, number)
    is_here = row is not None and row.conversation == context.conversation.id
    if row is None or not is_here or not await context.services.cancel_task(row):
        return context.text(f"这里没有进行中的 w{number}。", f"There is no running w{number} here.")
    return context.text(f"w{number} 已结束。", f"w{number} is ended.")


async def _show_or_change(context: CommandContext) -> str:
    word, _, rest = context.arguments.strip().partition(" ")
    if not word:
        return await _list(context)
    jobs, number = context.services.jobs, _parse_number(rest or word)
    if number is None:
        return _usage(context)
    space = context.conversation.place.space
    if not rest and (ended := await jobs.jobs.find(space, number)) is not None:
        return await _show(context, ended)
    row = await jobs.find(space, number)
    if rest and not _may_change(context, row):
        return context.text("只有设定它的人可以改。", "Only the person who set it can change it.")
    match word.lower():
        case "pause":
            await jobs.pause(row, context.actor.id)
        case "resume":
            row = await jobs.resume(row, context.actor.id)
            return format_job_line(row, context.services.now(), context.lang)
        case "cancel":
            await jobs.end(row, context.actor.id)
        case "run":
            await jobs.run_now(row, context.actor.id)
        case _:
            return _usage(context)
    done = {"pause": ("已暂停", "is paused"), "cancel": ("已取消", "is ended"), "run": ("马上执行", "happens now")}
    zh, en = done[word.lower()]
    return context.text(f"r{row.number} {zh}。", f"r{row.number} {en}.")


def _may_change(context: CommandContext, row: JobRow) -> bool:
    actor = context.actor
    return actor.role == "owner" or (actor.channel, actor.id) == (row.channel, row.person)


async def _list(context: CommandContext) -> str:
    rows = await context.services.jobs.jobs.open_jobs(context.conversation.place.space)
    if not rows:
        return context.text(
            "没有提醒和任务。/提醒 明天8点 开会 就会有一个。",
            "There are no reminders or tasks. /remind tomorrow 8:00 meeting sets one.",
        )
    return "\n".join(format_job_line(row, context.services.now(), context.lang) for row in rows)


async def _show(context: CommandContext, row: JobRow) -> str:
    zone = ZoneInfo(context.services.jobs.zone)
    lines = [format_job_line(row, context.services.now(), context.lang)]
    if row.state == "done":
        lines = [context.text(f"r{row.number}，已结束", f"r{row.number}, ended"), row.body]
    if row.state == "paused":
        why = context.text(*_REASON_TEXTS.get(row.reason, ("由你暂停", "by you")))
        lines.append(context.text(f"已暂停：{why}", f"Paused: {why}"))
    for run in await context.services.jobs.jobs.occurrences(row.id, MAX_SHOWN_RUNS):
        state = context.text(*_STATE_TEXTS[run.state])
        reason = context.text(*_REASON_TEXTS[run.reason]) if run.reason in _REASON_TEXTS else ""
        when = datetime.fromtimestamp(run.due, UTC).astimezone(zone)
        lines.append(f"- {when:%Y-%m-%d %H:%M} {state}" + (f" ({reason})" if reason else ""))
    return "\n".join(lines)


def _parse_number(text: str) -> int | None:
    digits = text.strip().lower().removeprefix("r")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _usage(context: CommandContext) -> str:
    return context.text(
        "用法：/任务、/任务 r3、/任务 暂停 r3、/任务 继续 r3、/任务 取消 r3、/任务 执行 r3",
        "Usage: /tasks, /tasks r3, /tasks pause r3, /tasks resume r3, /tasks cancel r3, /tasks run r3",
    )


JOB_COMMANDS = (
    Command(
        name="remind",
        usage="WHEN WHAT",
        usage_zh="时间 事情",
        action=JOB_ACTION,
        zh="到时候提醒你",
        en="remind you later",
        run=_remind,
    ),
    Command(
        name="tasks",
        usage="[pause|resume|cancel|run] [NUMBER]",
        usage_zh="[暂停|继续|取消|执行] [编号]",
        action=JOB_ACTION,
        zh="查看和管理提醒与任务",
        en="list and change reminders and tasks",
        run=_tasks,
    ),
)
