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
    "silent": ("没有要说的", "nothing to say"),
    "told": ("发了通知", "a notice was sent"),
    "dropped": ("重复的通知，没有发", "a notice was dropped"),
    "failed": ("失败", "failed"),
    "paused": ("已暂停", "paused"),
    "skipped": ("没有问模型", "the model was not asked"),
    "on": ("开着", "on"),
    "off": ("关着", "off"),
}
_DO_WORDS = ("do ", "做 ", "执行 ")
_DEFAULT_WORDS = ("default", "默认")
_OFF_WORDS = (NO_QUIET, "关", "关闭", "无")
_EXTRA_TEXTS = {
    "retry": ("再试一次", "it is tried again"),
    "quiet": ("等安静时段结束", "until the quiet hours end"),
    "late": ("一分钟只补做一个", "one late task a minute"),
    "asked": ("你要求的", "you asked for it"),
}
_DONE_TEXTS = {
    "pause": ("已暂停", "is paused"),
    "cancel": ("已取消", "is ended"),
    "run": ("马上执行", "happens now"),
}


async def _remind(context: CommandContext) -> str:
    try:
        return await _set(context)
    except JobRefused as err:
        return context.text(err.zh, str(err))


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
            "没看懂是什么时候、什么事。例如：/提醒 20分钟后 关火，/提醒 明天早上8点 开会，/提醒 "
            "每周一 9:00 写周报，/提醒 2026-12-01 09:00 交房租，/提醒 cron 0 9 * * 1-5 打卡；"
            "让我去做一件事用 /提醒 do 每天 8:00 看天气；送到你在别的渠道的私聊用 /提醒 在飞书 "
            "明天8点 开会。",
            "I did not understand when and what. Examples: /remind 20m turn off the stove, "
            "/remind tomorrow 8:00 meeting, /remind weekdays 9:00 stand-up, /remind 2026-12-01 "
            "09:00 rent, /remind cron 0 9 * * 1 report; "
            "to have me do something: /remind do daily 8:00 look up the weather; "
            "for your private chat on another channel: /remind on telegram 20m turn off the stove.",
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
    shown = context.text(*await context.services.jobs.describe(row))
    if found is None or not found.hour_assumed:
        return shown
    clock = f"{datetime.fromtimestamp(row.next_at, UTC).astimezone(ZoneInfo(found.schedule.zone)):%H:%M}"  # noqa: E501
    return "\n".join(
        (
            shown,
            context.text(
                f"没写几点，按 {clock} 算。", f"No hour was given, so {clock} is assumed."
            ),
        )
    )


async def _tasks(context: CommandContext) -> str:
    if found := _BACKGROUND_PATTERN.fullmatch(context.arguments.strip()):
        return await _cancel_background(context, int(found[1]))
    at_work = [] if context.arguments.strip() else [await _list_background(context)]
    try:
        return "\n\n".join(filter(None, [*at_work, await _show_or_change(context)]))
    except JobRefused as err:
        return context.text(err.zh, str(err))


async def _list_background(context: CommandContext) -> str:
    """List the sub-agents and commands that this chat and the person's other chats have at work; ""
    for none.
    """
    lines = []
    for row, chat in await _load_background(context):
        goal, kind = (
            " ".join(row.goal.split())[:MAX_GOAL_CHARS],
            context.text(*KIND_TEXTS[row.kind]),
        )
        progress = await context.services.progress.describe(row, context.lang)
        where = "" if chat.id == context.conversation.id else _format_chat(chat)
        lines.append(" · ".join(filter(None, (f"▶ {row.name}", where, kind, goal, progress))))
    return "\n".join([context.text("**进行中**", "**At work**"), *lines]) if lines else ""


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
        return context.text(f"这里没有进行中的 w{number}。", f"There is no running w{number} here.")
    return context.text(f"w{number} 已结束。", f"w{number} is ended.")


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
        return context.text("只有设定它的人可以改。", "Only the person who set it can change it.")
    match action:
        case "pause":
            await jobs.pause(row, by)
        case "resume":
            return format_job_line(await jobs.resume(row, by), context.services.now(), context.lang)
        case "cancel":
            await jobs.end(row, by)
        case "run":
            await jobs.run_now(row, by)
        case _:
            return await _edit(context, row, words)
    zh, en = _DONE_TEXTS[action]
    return context.text(f"r{row.number} {zh}。", f"r{row.number} {en}.")


async def _edit(context: CommandContext, row: JobRow, text: str) -> str:
    """Change time and words, the time alone, or the words alone."""
    if not text:
        return context.text(
            "写上新的时间、新的内容，或两者，例如 /任务 修改 r3 明天9点。",
            "Add the new time, the new words or both, such as /tasks edit r3 tomorrow 9:00.",
        )
    found, words = None, read_quoted(text)
    if not words:
        try:
            found = await _read(context, text)
            words = found.words
        except NoTime:
            words = text
        except JobRefused as err:
            return "".join(
                (
                    context.text(err.zh, f"{err} "),
                    context.text(
                        "只改内容的话，请给它加上引号。",
                        "To change the words alone, put them in quotation marks.",
                    ),
                )
            )
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
            what = ("的时间和内容都改了", "has a new time and new words")
        case True, False:
            what = ("的时间改了，内容没变", "has a new time and the same words")
        case False, True:
            what = ("的内容改了，时间没变", "has new words and the same time")
        case _:
            what = ("没有变化", "is as it was")
    return context.text(f"r{former.number} {what[0]}。", f"r{former.number} {what[1]}.")


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
        (
            f"你的时区是 {zone}，那里现在是 {now}。换一个：/任务 时区 Europe/Berlin；用设置里的："
            "/任务 时区 默认。"
        ),
        f"Your time zone is {zone}, where it is {now}. Another one: /tasks zone Europe/Berlin; the "
        "configured one: /tasks zone default.",
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
            "没有安静时段，任务随时执行。/任务 安静 22:30-07:30 可以设一个。",
            "There are no quiet hours: tasks run at any time. /tasks quiet 22:30-07:30 sets some.",
        )
    begin, end = quiet
    return context.text(
        (
            f"安静时段是 {begin} 到 {end}：任务推后到 {end}，提醒照常。改：/任务 安静 23:00-07:00；"
            "不要：/任务 安静 关。"
        ),
        f"The quiet hours are {begin} to {end}: tasks wait until {end}, reminders come. "
        "Others: /tasks quiet 23:00-07:00; none: /tasks quiet off.",
    )


def _may_change(context: CommandContext, row: JobRow) -> bool:
    actor = context.actor
    return actor.role == "owner" or (actor.channel, actor.id) == (row.channel, row.person)


async def _list(context: CommandContext) -> str:
    jobs = context.services.jobs
    rows = sort_by_time(await jobs.jobs.open_jobs(context.conversation.place.space))
    if not rows:
        return context.text(
            "没有提醒和任务。/提醒 明天8点 开会 就会有一个。",
            "There are no reminders or tasks. /remind tomorrow 8:00 meeting sets one.",
        )
    lines = [format_job_line(row, context.services.now(), context.lang) for row in rows]
    held: set[str] = set()
    for conversation in {row.conversation for row in rows}:
        held.update(
            source.rpartition(":")[0] for source in await jobs.jobs.held_sources(conversation)
        )
    for index, row in enumerate(rows):
        if f"job:{row.id}" in held:
            lines[index] += "\n" + context.text(
                "（有一条在等你写来）", "(one waits until you write)"
            )
    return "\n".join(lines)


async def _show(context: CommandContext, row: JobRow) -> str:
    jobs = context.services.jobs
    zone = ZoneInfo(await jobs.times.zone_of(context.actor))
    lines = [format_job_line(row, context.services.now(), context.lang)]
    if row.state == "done":
        lines = [context.text(f"r{row.number}，已结束", f"r{row.number}, ended"), row.body]
    if row.state == "paused":
        why = context.text(*REASON_TEXTS.get(row.reason, ("由你暂停", "by you")))
        lines.append(context.text(f"已暂停：{why}", f"Paused: {why}"))
    if row.extra and row.state == "on":
        why = context.text(*_EXTRA_TEXTS[row.extra])
        lines.append(context.text(f"推后的一次：{why}", f"This time is put off: {why}"))
    held = await jobs.jobs.held_sources(row.conversation)
    for run in await jobs.jobs.occurrences(row.id, MAX_SHOWN_RUNS):
        state = context.text(*STATE_TEXTS[run.state])
        if {job_key(row.id, run.due), f"{run.inbox_row}:answer"} & set(held):
            state = context.text("等你写来再送到", "held until you write")
        reason = context.text(*REASON_TEXTS[run.reason]) if run.reason in REASON_TEXTS else ""
        when = datetime.fromtimestamp(run.due, UTC).astimezone(zone)
        lines.append(f"- {when:%Y-%m-%d %H:%M} {state}" + (f" ({reason})" if reason else ""))
    return "\n".join(lines)


def _parse_number(text: str) -> int | None:
    digits = text.strip().lower().removeprefix("r")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _usage(context: CommandContext) -> str:
    return context.text(
        "用法：/任务、/任务 r3、/任务 修改 r3 明天9点、/任务 暂停 r3、/任务 继续 r3、/任务 取消 "
        "r3、/任务 执行 r3、/任务 时区、/任务 安静",
        "Usage: /tasks, /tasks r3, /tasks edit r3 tomorrow 9:00, /tasks pause r3, /tasks resume "
        "r3, /tasks cancel r3, /tasks run r3, /tasks zone, /tasks quiet",
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
        "用法：/心跳、/心跳 开、/心跳 关、/心跳 现在、/心跳 上次",
        "Usage: /heartbeat [on|off|now|last]",
    )


async def _show_heartbeat(context: CommandContext) -> str:
    every = context.services.config.current.heartbeat.every
    state = await context.services.store.heartbeats.state(SPACE)
    if state is not None and state.decision != "on":
        return (
            context.text("心跳", "The heartbeat")
            + context.text("：", ": ")
            + _format_beat(context, state.decision, state.reason)
        )
    if not every:
        return context.text(
            (
                f"心跳关着：先设 heartbeat.every（分钟），再在工作区的 {HEARTBEAT_FILE} "
                "里写要留意的事。"
            ),
            "The heartbeat is off: set heartbeat.every (minutes), and write what to watch into "
            f"{HEARTBEAT_FILE} of the workspace.",
        )
    looked = context.services.heartbeat.looks
    last = ""
    if looked:
        at, beat = looked[-1]
        ago = timedelta(seconds=max(0.0, context.services.now().timestamp() - at))
        minutes = round(ago.total_seconds() / 60)
        what = _format_beat(context, beat.decision, beat.reason)
        last = context.text(
            f"最近一次在 {minutes} 分钟前：{what}", f"The newest one, {minutes} min ago: {what}"
        )
    return "\n".join(
        filter(
            None,
            (
                context.text(
                    f"心跳每 {every} 分钟一次。", f"The heartbeat comes every {every} min."
                ),
                last,
            ),
        )
    )


async def _last(context: CommandContext) -> str:
    found = await context.services.store.heartbeats.beats(SPACE, 1)
    if not found:
        return context.text("还没有问过模型。", "The model has not been asked yet.")
    [row] = found
    when = datetime.fromtimestamp(row.at, UTC).astimezone(context.services.now().tzinfo)
    return context.text(
        f"{when:%Y-%m-%d %H:%M} {_format_beat(context, row.decision, row.reason)}，输入 "
        f"{row.sha256[:SHOWN_HASH]}，{row.tokens:,} token",
        f"{when:%Y-%m-%d %H:%M} {_format_beat(context, row.decision, row.reason)}, inputs "
        f"{row.sha256[:SHOWN_HASH]}, {row.tokens:,} tokens",
    )


def _format_beat(context: CommandContext, decision: str, reason: str) -> str:
    what = context.text(*_BEAT_TEXTS[decision])
    why = context.text(*BEAT_REASON_TEXTS[reason]) if reason else ""
    return what + (context.text(f"（{why}）", f" ({why})") if why else "")


JOB_COMMANDS = (
    Command(
        name="remind",
        usage="WHEN WHAT",
        usage_zh="时间 事情",
        action=JOB_ACTION,
        zh="到时候提醒你",
        en="get a reminder at a time you choose",
        run=_remind,
    ),
    Command(
        name="tasks",
        usage="[show|edit|pause|resume|cancel|run NUMBER | zone | quiet]",
        usage_zh="[查看|修改|暂停|继续|取消|执行 编号 | 时区 | 安静]",
        action=JOB_ACTION,
        zh="查看和管理提醒与任务",
        en="see and change your reminders and tasks",
        run=_tasks,
    ),
    Command(
        name="heartbeat",
        usage="[on|off|now|last]",
        usage_zh="[开|关|现在|上次]",
        action="heartbeat",
        zh="机器人定时自己看一眼，有事才说",
        en="let the bot check things regularly and speak up if needed",
        run=_heartbeat,
    ),
)
