"""How much a person may use, and what is said when it is used up. Pure: what was spent and the time come in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from bot.access.permissions import Actor
from bot.config.schema import BudgetsConfig
from bot.models.catalog import call_cost
from bot.texts import format_duration
from memory.store.people.spending import OWNER, ModelUsage, SpendingPart, SpendingTotals

MINUTE = 60.0
WARN_SHARE = 0.8  # share of everybody's money of a day at which the owner is told
MONEY_UNIT = "US$"  # what the table of prices is in

LimitName = Literal[
    "messages_per_minute",
    "messages_per_day",
    "tokens_per_day",
    "money_per_day",
    "total_messages_per_day",
    "total_money_per_day",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLimits:
    """What one person may use, and everybody together; 0 is no limit. Money in the unit of the table of prices."""

    messages_per_minute: int = 0
    messages_per_day: int = 0
    tokens_per_day: int = 0
    money_per_day: float = 0.0
    total_messages_per_day: int = 0
    total_money_per_day: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSum:
    """What calls came to."""

    calls: int = 0
    #: Uncached ones, answers included.
    tokens: int = 0
    #: Of the models whose price is known.
    money: float = 0.0
    #: The models whose price is not.
    unpriced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """A limit that is reached."""

    limit: LimitName
    #: What it allows.
    most: float
    #: When there is something left again.
    until: datetime


def limits_for_role(budgets: BudgetsConfig, role: str) -> UsageLimits | None:
    """What holds for that role; None for the owner, who has no limit."""
    if role == "owner":
        return None
    user, total = budgets.user, budgets.total
    return UsageLimits(
        messages_per_minute=user.messages_per_minute,
        messages_per_day=user.guest_messages_per_day if role == "guest" else user.messages_per_day,
        tokens_per_day=user.tokens_per_day,
        money_per_day=user.money_per_day,
        total_messages_per_day=total.messages_per_day,
        total_money_per_day=total.money_per_day,
    )


def budget_account(actor: Actor) -> str:
    """Whose budget somebody's turns count to: the owner's on every channel, else that account's own."""
    return OWNER if actor.role == "owner" else f"{actor.channel}:{actor.account}:{actor.id}"


def spending_query(limits: UsageLimits, *, new: bool) -> frozenset[SpendingPart]:
    """What has to be looked up to judge by these limits. new: a message that is not yet being answered."""
    wants: dict[SpendingPart, object] = {
        "messages": new and (limits.messages_per_minute or limits.messages_per_day),
        "everybody": new and limits.total_messages_per_day,
        "tokens": limits.tokens_per_day or limits.money_per_day or limits.total_money_per_day,
        "whole": limits.total_money_per_day,
    }
    return frozenset(want for want, wanted in wants.items() if wanted)


def find_limit_reached(
    limits: UsageLimits, spent: SpendingTotals, now: datetime, *, asked: datetime | None, call: UsageSum
) -> LimitReached | None:
    """The first limit that is reached; None where there is something left of each.

    Args:
        now: where the owner is: its day is the day. asked: when the message came in, None where it is being answered
            already, so that it is not one message more. call: what one call of a turn that runs may come to at most:
            other turns of that person are counted with it.
    """
    midnight = end_of_day(now)
    if asked is not None and (often := _message_limit_reached(limits, spent, asked, midnight)):
        return often
    mine, all_others = total_usage(spent.used), total_usage(spent.whole)
    held = spent.running
    reached: Sequence[tuple[LimitName, float, float]] = (
        ("tokens_per_day", mine.tokens + held * call.tokens, limits.tokens_per_day),
        ("money_per_day", mine.money + held * call.money, limits.money_per_day),
        ("total_money_per_day", all_others.money + held * call.money, limits.total_money_per_day),
    )
    over = (
        LimitReached(limit=limit, most=most, until=midnight) for limit, used, most in reached if most and used >= most
    )
    return next(over, None)


def _message_limit_reached(
    limits: UsageLimits, spent: SpendingTotals, asked: datetime, midnight: datetime
) -> LimitReached | None:
    most = limits.messages_per_minute
    if most and len(spent.minute) >= most:
        oldest = datetime.fromtimestamp(spent.minute[most - 1], asked.tzinfo)
        return LimitReached(limit="messages_per_minute", most=most, until=oldest + timedelta(seconds=MINUTE))
    if limits.messages_per_day and spent.today >= limits.messages_per_day:
        return LimitReached(limit="messages_per_day", most=limits.messages_per_day, until=midnight)
    if limits.total_messages_per_day and spent.everybody >= limits.total_messages_per_day:
        return LimitReached(limit="total_messages_per_day", most=limits.total_messages_per_day, until=midnight)
    return None


def total_usage(used: Iterable[ModelUsage]) -> UsageSum:
    """All of it in tokens and, as far as prices are known, in money."""
    whole = UsageSum()
    for one in used:
        money, known = money_for_usage(one), whole.unpriced
        whole = replace(
            whole,
            calls=whole.calls + one.calls,
            tokens=whole.tokens + max(one.input - one.cache_read, 0) + one.output,
            money=whole.money + (money or 0.0),
            unpriced=known if money is not None or one.model in known else (*known, one.model),
        )
    return whole


def money_for_usage(one: ModelUsage) -> float | None:
    """What it cost; None where the model's price is not known: it is never guessed."""
    return call_cost(
        one.model, input=one.input, output=one.output, cache_read=one.cache_read, cache_write=one.cache_write
    )


def max_call_cost(model: str, input: int, output: int) -> UsageSum:
    """What one call to that model may come to at most, in tokens and money."""
    return UsageSum(calls=1, tokens=input + output, money=call_cost(model, input=input, output=output) or 0.0)


def merge_usage(known: Sequence[ModelUsage], more: Iterable[ModelUsage]) -> tuple[ModelUsage, ...]:
    """Both together, by model."""
    sums = {one.model: one for one in known}
    for one in more:
        before = sums.get(one.model)
        sums[one.model] = (
            one
            if before is None
            else replace(
                before,
                calls=before.calls + one.calls,
                input=before.input + one.input,
                output=before.output + one.output,
                cache_read=before.cache_read + one.cache_read,
                cache_write=before.cache_write + one.cache_write,
            )
        )
    return tuple(sums.values())


def start_of_day(now: datetime) -> datetime:
    """Midnight before it, in its own zone."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def end_of_day(now: datetime) -> datetime:
    """Midnight after it, in its own zone, on whatever day clocks are changed."""
    return start_of_day(start_of_day(now) + timedelta(hours=36))


LIMIT_TEXTS: dict[str, tuple[str, str]] = {
    "messages_per_minute": (
        "每分钟最多 {most} 条消息，请 {span}后再发。",
        "No more than {most} messages a minute; write again in {span}.",
    ),
    "messages_per_day": (
        "今天的 {most} 条消息用完了，{at}（{span}后）恢复。",
        "Today's {most} messages are used up; there are new ones at {at}, in {span}.",
    ),
    "tokens_per_day": (
        "今天的 {most} tokens 用完了，{at}（{span}后）恢复。",
        "Today's {most} tokens are used up; there are new ones at {at}, in {span}.",
    ),
    "money_per_day": (
        "今天的额度 {most} 用完了，{at}（{span}后）恢复。",
        "Today's {most} are used up; there is more at {at}, in {span}.",
    ),
    "total_messages_per_day": (
        "大家今天的 {most} 条消息用完了，{at}（{span}后）恢复。",
        "Everybody's {most} messages of today are used up; there are new ones at {at}, in {span}.",
    ),
    "total_money_per_day": (
        "大家今天的额度 {most} 用完了，{at}（{span}后）恢复。",
        "Everybody's {most} of today are used up; there is more at {at}, in {span}.",
    ),
}


def format_limit_reached(refused: LimitReached, now: datetime, lang: str) -> str:
    """What the person is told: which limit, and when it is free again."""
    zh, en = LIMIT_TEXTS[refused.limit]
    most = format_money(refused.most) if "money" in refused.limit else f"{refused.most:,.0f}"
    left = max(1.0, (refused.until - now).total_seconds())
    return (zh if lang == "zh" else en).format(most=most, at=f"{refused.until:%H:%M}", span=format_duration(left, lang))


def format_money(amount: float) -> str:
    """An amount with its unit; small ones with as many digits as they need."""
    return f"{MONEY_UNIT} {amount:,.2f}" if amount >= 0.1 or not amount else f"{MONEY_UNIT} {amount:.2g}"
