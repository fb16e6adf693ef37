"""Commands that only tell: /help /status /whoami /usage /stop /retry."""

from datetime import timedelta

from bot.access import capped
from bot.commands.base import Asked, Command, allowed
from bot.texts import say
from bot.vitals import in_words, lasting

PURPOSES = {
    "turn": ("对话", "answers"),
    "fold": ("整理", "folds"),
    "extract": ("记事", "memories"),
    "dream": ("夜间整理", "dreams"),
}


async def _help(asked: Asked) -> str:
    lines = [
        f"/{command.name}{' ' + command.usage if command.usage else ''} — {asked.either(command.zh, command.en)}"
        for command in asked.known.values()
        if allowed(asked, command.action)
    ]
    return "\n".join(lines)


async def _status(asked: Asked) -> str:
    desk = asked.desk
    up = desk.now() - desk.started
    waiting = await _at_work(asked)
    lines = [
        asked.either(f"已运行 {span(up, 'zh')}", f"up {span(up, 'en')}"),
        asked.either(f"模型 {desk.provider()} · {desk.model_name()}", f"model {desk.provider()} · {desk.model_name()}"),
        asked.either(f"处理中的会话 {waiting}", f"conversations at work {waiting}"),
    ]
    if asked.actor.role in ("owner", "admin") and asked.where.kind != "group":
        lines += [in_words(state, desk.now().timestamp(), asked.lang) for state in desk.channels().values()]
    return "\n".join(lines)


async def _at_work(asked: Asked) -> int:
    """Conversations with something to do; this command alone does not make one of its own."""
    here = asked.conversation.id
    others = [id for id in await asked.desk.store.delivery.waiting() if id != here]
    session = await asked.desk.store.sessions.load(here, turns=1)
    return len(others) + bool(session.running)


async def _whoami(asked: Asked) -> str:
    role = capped(asked.actor, asked.where)
    return asked.either(
        f"渠道 {asked.actor.channel} · 你的 id {asked.actor.id} · 角色 {role}",
        f"channel {asked.actor.channel} · your id {asked.actor.id} · role {role}",
    )


async def _usage(asked: Asked) -> str:
    now = asked.desk.now()
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    everyone = asked.actor.role in ("owner", "admin") and asked.where.kind != "group"
    only = "" if everyone else asked.conversation.id
    rows = []
    for zh, en, since in (("今天", "today", day), ("30 天", "30 days", now - timedelta(days=30))):
        sums = await asked.desk.store.sessions.usage(since, only)
        rows.append(f"**{asked.either(zh, en)}**")
        rows += [
            f"{row.model} · {asked.either(*PURPOSES.get(row.purpose, (row.purpose,) * 2))}: "
            f"{row.input:,} → {row.output:,} tokens"
            + asked.either(f"，缓存命中 {row.cache_read:,}", f", {row.cache_read:,} from cache")
            for row in sums
        ] or [asked.either("没有用量", "nothing used")]
    return "\n".join(rows)


async def _stop(asked: Asked) -> str:
    stopped = asked.desk.stop(asked.conversation.id)
    return say(asked.lang, "stop_sent" if stopped else "nothing_runs")


async def _retry(asked: Asked) -> str:
    return asked.either("没有可以重试的消息。", "There is no message to try again.")


def span(time: timedelta, lang: str) -> str:
    """A length of time in words of one or two units."""
    return lasting(time.total_seconds(), lang)


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
    Command(name="usage", usage="", action="usage.own", zh="用量", en="tokens used", run=_usage),
)
