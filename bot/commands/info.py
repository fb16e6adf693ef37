"""Commands that only tell: /help /status /whoami /usage /stop /retry."""

from bot.access.budgets import budget_account, format_money, limits_for_role, start_of_day, total_usage
from bot.access.permissions import cap_role
from bot.access.usage_report import format_usage, report_spans
from bot.commands.base import Command, CommandContext, is_allowed
from bot.gateway.channel_status import format_channel_status
from bot.models.health import format_model_status as of_model
from bot.models.health import notable_statuses
from bot.texts import format_span, format_text


async def _help(asked: CommandContext) -> str:
    lines = [_help_line(asked, command) for command in asked.known.values() if is_allowed(asked, command.action)]
    return "\n".join(lines)


def _help_line(asked: CommandContext, command: Command) -> str:
    zh = f"/{command.name_zh} {command.usage_zh}".rstrip()
    en = f"/{command.name} {command.usage}".rstrip()
    return asked.either(f"{zh}（/{command.name}） — {command.zh}", f"{en} — {command.en}")


async def _status(asked: CommandContext) -> str:
    desk = asked.desk
    up = desk.now() - desk.started
    waiting = await _running_text(asked)
    lines = [
        asked.either(f"已运行 {format_span(up, 'zh')}", f"up {format_span(up, 'en')}"),
        asked.either(f"模型 {desk.provider()} · {desk.model_name()}", f"model {desk.provider()} · {desk.model_name()}"),
        asked.either(f"处理中的会话 {waiting}", f"conversations at work {waiting}"),
    ]
    if asked.actor.role in ("owner", "admin") and asked.where.kind != "group":
        lines += [of_model(state, asked.lang) for state in notable_statuses(desk.models())]
        lines += [
            format_channel_status(state, desk.now().timestamp(), asked.lang) for state in desk.channels().values()
        ]
    return "\n".join(lines)


async def _running_text(asked: CommandContext) -> int:
    """Conversations with something to do; this command alone does not make one of its own."""
    here = asked.conversation.id
    others = [id for id in await asked.desk.store.delivery.waiting() if id != here]
    session = await asked.desk.store.sessions.load(here, turns=1)
    return len(others) + bool(session.running)


async def _whoami(asked: CommandContext) -> str:
    role = cap_role(asked.actor, asked.where)
    return asked.either(
        f"渠道 {asked.actor.channel} · 你的 id {asked.actor.id} · 角色 {role}",
        f"channel {asked.actor.channel} · your id {asked.actor.id} · role {role}",
    )


async def _usage(asked: CommandContext) -> str:
    """The owner and admins see everybody's in private, all others and groups that person's own."""
    everyone = asked.actor.role in ("owner", "admin") and asked.where.kind != "group"
    who, rows = "" if everyone else budget_account(asked.actor), list[str]()
    people = everyone and asked.actor.role == "owner"
    for zh, en, since in report_spans(asked.desk.now()).values():
        used = await asked.desk.store.spending.sums(since, who)
        rows += [f"**{asked.either(zh, en)}**", *format_usage(used, asked.lang, people=people)]
    return "\n".join([*rows, *await _limits(asked)])


async def _limits(asked: CommandContext) -> list[str]:
    """What is left of the day, for who has limits."""
    limits = limits_for_role(asked.config.budgets, asked.actor.role)
    if limits is None:
        return []
    now = asked.desk.now()
    used = total_usage(await asked.desk.store.spending.sums(start_of_day(now), budget_account(asked.actor)))
    left = []
    if limits.tokens_per_day:
        left.append(f"{max(0, limits.tokens_per_day - used.tokens):,} tokens")
    if limits.money_per_day:
        left.append(format_money(max(0.0, limits.money_per_day - used.money)))
    return [asked.either("今天还剩 ", "left today: ") + asked.either("，", ", ").join(left)] if left else []


async def _stop(asked: CommandContext) -> str:
    stopped = await asked.desk.stop(asked.conversation.id)
    return format_text(asked.lang, "stop_sent" if stopped else "nothing_runs")


async def _retry(asked: CommandContext) -> str:
    return asked.either("没有可以重试的消息。", "There is no message to try again.")


INFO_COMMANDS = (
    Command(name="help", usage="", action="help", zh="命令列表", en="this list", run=_help),
    Command(name="status", usage="", action="status", zh="运行状态", en="how it runs", run=_status),
    Command(name="whoami", usage="", action="whoami", zh="我是谁", en="who you are here", run=_whoami),
    Command(name="stop", usage="", action="turn.stop", zh="停止当前回复", en="stop the running answer", run=_stop),
    Command(
        name="retry",
        usage="",
        action="turn.retry",
        zh="再回答一次最新的消息",
        en="answer the newest message again",
        run=_retry,
    ),
    Command(
        name="usage", usage="", action="usage.own", zh="用量和花费", en="what was used, and what it cost", run=_usage
    ),
)
