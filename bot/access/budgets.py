"""Usage of people: the limits per day, the text for a reached limit, and reports of tokens and
cost.

Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from bot.access.permissions import Actor
from bot.config.sections.budgets import BudgetsConfig, OwnBudgetConfig
from bot.models.catalog import call_cost
from bot.texts import format_duration
from channels.phrases import NO_PHRASE, Phrase, join_phrases
from memory.store.people.spending import OWNER, ModelUsage, SpendingPart, SpendingTotals
from memory.store.rows import Usage

MINUTE = 60.0
WARN_SHARE = 0.8  # of the total daily money; from there on the owner is warned
MONEY_UNIT = "US$"  # of the price table

Number = TypeVar("Number", int, float)
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
    """What one person, and all people together (total), may use; 0 is no limit.

    Money in `MONEY_UNIT`.
    """

    messages_per_minute: int = 0
    messages_per_day: int = 0
    tokens_per_day: int = 0
    money_per_day: float = 0.0
    total_messages_per_day: int = 0
    total_money_per_day: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSum:
    """The sum of some model calls."""

    calls: int = 0
    #: Uncached input and output.
    tokens: int = 0
    #: Cost of the models whose price is known.
    money: float = 0.0
    #: Models whose price is not known.
    unpriced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """A reached limit."""

    limit: LimitName
    #: Its value.
    most: float
    #: When it is free again.
    until: datetime


def limits_for_actor(budgets: BudgetsConfig, actor: Actor) -> UsageLimits | None:
    """Return the limits of a person, own ones before those of everybody; None for the owner, who
    has none.
    """
    if actor.role == "owner":
        return None
    user, total = budgets.user, budgets.total
    own = budgets.people.get(f"{actor.channel}:{actor.id}", OwnBudgetConfig())
    daily = user.guest_messages_per_day if actor.role == "guest" else user.messages_per_day
    return UsageLimits(
        messages_per_minute=_own_or(own.messages_per_minute, user.messages_per_minute),
        messages_per_day=_own_or(own.messages_per_day, daily),
        tokens_per_day=_own_or(own.tokens_per_day, user.tokens_per_day),
        money_per_day=_own_or(own.money_per_day, user.money_per_day),
        total_messages_per_day=total.messages_per_day,
        total_money_per_day=total.money_per_day,
    )


def _own_or(own: Number | None, everybodys: Number) -> Number:
    return everybodys if own is None else own


def budget_account(actor: Actor) -> str:
    """Return the account that an actor's turns are charged to: one for the owner, else one per
    platform account.
    """
    return OWNER if actor.role == "owner" else f"{actor.channel}:{actor.account}:{actor.id}"


def spending_query(limits: UsageLimits, *, new: bool) -> frozenset[SpendingPart]:
    """Return which sums the limits need. new: for a message that is not yet being answered."""
    parts: dict[SpendingPart, object] = {
        "messages": new and (limits.messages_per_minute or limits.messages_per_day),
        "everybody": new and limits.total_messages_per_day,
        "tokens": limits.tokens_per_day or limits.money_per_day or limits.total_money_per_day,
        "whole": limits.total_money_per_day,
    }
    return frozenset(part for part, needed in parts.items() if needed)


def find_limit_reached(
    limits: UsageLimits,
    spent: SpendingTotals,
    now: datetime,
    *,
    asked: datetime | None,
    call: UsageSum,
    own_folds: int = 0,
    group_folds: int = 0,
) -> LimitReached | None:
    """Return the first limit that is reached; None if none is.

    Args:
        now: in the owner's zone, whose days count.
        asked: when the message was received; None if its turn runs already, so that it is no
            further message.
        call: what one model call may cost at most; charged for each other running turn of the
            person.
        own_folds: folds of the person's chat whose cost is not stored yet, which are charged in the
            same way.
        group_folds: the same of a group's chat, charged to everybody alone.
    """
    midnight = end_of_day(now)
    if asked is not None and (reached := _message_limit_reached(limits, spent, asked, midnight)):
        return reached
    mine, total = total_usage(spent.used), total_usage(spent.whole)
    own_calls = spent.running + own_folds
    all_calls = own_calls + group_folds
    used_and_limit: Sequence[tuple[LimitName, float, float]] = (
        ("tokens_per_day", mine.tokens + own_calls * call.tokens, limits.tokens_per_day),
        ("money_per_day", mine.money + own_calls * call.money, limits.money_per_day),
        ("total_money_per_day", total.money + all_calls * call.money, limits.total_money_per_day),
    )
    for limit, used, most in used_and_limit:
        if most and used >= most:
            return LimitReached(limit=limit, most=most, until=midnight)
    return None


def _message_limit_reached(
    limits: UsageLimits, spent: SpendingTotals, asked: datetime, midnight: datetime
) -> LimitReached | None:
    most = limits.messages_per_minute
    if most and len(spent.minute) >= most:
        oldest = datetime.fromtimestamp(spent.minute[most - 1], asked.tzinfo)
        return LimitReached(
            limit="messages_per_minute", most=most, until=oldest + timedelta(seconds=MINUTE)
        )
    if limits.messages_per_day and spent.today >= limits.messages_per_day:
        return LimitReached(limit="messages_per_day", most=limits.messages_per_day, until=midnight)
    if limits.total_messages_per_day and spent.everybody >= limits.total_messages_per_day:
        return LimitReached(
            limit="total_messages_per_day", most=limits.total_messages_per_day, until=midnight
        )
    return None


def total_usage(used: Iterable[ModelUsage]) -> UsageSum:
    """Sum up tokens and, as far as prices are known, money."""
    rows = list(used)
    money = [money_for_usage(row) for row in rows]
    unpriced = dict.fromkeys(
        row.model for row, cost in zip(rows, money, strict=True) if cost is None
    )
    return UsageSum(
        calls=sum(row.calls for row in rows),
        tokens=sum(max(row.input - row.cache_read, 0) + row.output for row in rows),
        money=sum((cost for cost in money if cost is not None), 0.0),
        unpriced=tuple(unpriced),
    )


def money_for_usage(used: ModelUsage | Usage) -> float | None:
    """Return the cost; None if the model's price is not known: it is never guessed."""
    return call_cost(
        used.model,
        input=used.input,
        output=used.output,
        cache_read=used.cache_read,
        cache_write=used.cache_write,
    )


def max_call_cost(model: str, input: int, output: int) -> UsageSum:
    """Return what one call of a model may use at most. input, output: tokens."""
    return UsageSum(
        calls=1, tokens=input + output, money=call_cost(model, input=input, output=output) or 0.0
    )


def merge_usage(known: Sequence[ModelUsage], more: Iterable[ModelUsage]) -> tuple[ModelUsage, ...]:
    """Add up two usages by model."""
    by_model: dict[str, list[ModelUsage]] = {}
    for used in (*known, *more):
        by_model.setdefault(used.model, []).append(used)
    return tuple(sum_usage(rows) for rows in by_model.values())


def sum_usage(rows: Sequence[ModelUsage]) -> ModelUsage:
    """Sum up rows of one model; other fields are those of the first."""
    return replace(
        rows[0],
        calls=sum(row.calls for row in rows),
        input=sum(row.input for row in rows),
        output=sum(row.output for row in rows),
        cache_read=sum(row.cache_read for row in rows),
        cache_write=sum(row.cache_write for row in rows),
    )


def start_of_day(now: datetime) -> datetime:
    """Return the midnight before, in the same zone."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def end_of_day(now: datetime) -> datetime:
    """Return the midnight after, in the same zone, also on days when clocks change."""
    return start_of_day(start_of_day(now) + timedelta(hours=36))


LIMIT_TEXTS: dict[str, Phrase] = {
    "messages_per_minute": Phrase("The limit is {most} messages a minute. Try again in {span}."),
    "messages_per_day": Phrase(
        "Today's {most} messages are used up. The limit resets at {at}, in {span}."
    ),
    "tokens_per_day": Phrase(
        "Today's {most} tokens are used up. The limit resets at {at}, in {span}."
    ),
    "money_per_day": Phrase("Today's limit of {most} is used up. It resets at {at}, in {span}."),
    "total_messages_per_day": Phrase(
        "Today's {most} messages for everyone are used up. The limit resets at {at}, in {span}."
    ),
    "total_money_per_day": Phrase(
        "Today's limit of {most} for everyone is used up. It resets at {at}, in {span}."
    ),
}


def format_limit_reached(reached: LimitReached, now: datetime, lang: str) -> str:
    """Say which limit is reached, and when it is free again."""
    most = format_money(reached.most) if "money" in reached.limit else f"{reached.most:,.0f}"
    left = max(1.0, (reached.until - now).total_seconds())
    phrase = LIMIT_TEXTS[reached.limit].fill(
        most=most, at=f"{reached.until:%H:%M}", span=format_duration(left, lang)
    )
    return phrase.text(lang)


def format_money(amount: float) -> str:
    """Format an amount with its unit; small ones with as many digits as they need."""
    return (
        f"{MONEY_UNIT} {amount:,.2f}"
        if amount >= 0.1 or not amount
        else f"{MONEY_UNIT} {amount:.2g}"
    )


# Reports for /usage and the page.

PURPOSE_TEXTS = {
    "turn": Phrase("answers"),
    "fold": Phrase("folds"),
    "extract": Phrase("memories"),
    "dream": Phrase("dreams"),
    "heartbeat": Phrase("heartbeat"),
    "title": Phrase("titles"),
}
MAX_PEOPLE = 20  # in a chat; the page shows all


def report_spans(now: datetime) -> dict[str, tuple[Phrase, datetime]]:
    """Return the reported spans by key: name and start."""
    day = start_of_day(now)
    return {
        "today": (Phrase("today"), day),
        "month": (Phrase("this month"), day.replace(day=1)),
        "30_days": (Phrase("30 days"), now - timedelta(days=30)),
    }


def format_usage(used: Sequence[ModelUsage], lang: str, *, people: bool) -> list[str]:
    """Return lines for one span: each model and purpose, the sum, and, if `people`, each person."""
    if not used:
        return [Phrase("nothing used").text(lang)]
    lines = [_format_model_usage(row, lang) for row in sum_by_model(used)]
    if len(lines) > 1:
        lines.append(f"= {_format_cost(total_usage(used), lang)}")
    if people and len(sums := sum_by_person(used)) > 1:
        lines += [
            f"· {format_person(who, lang)}: {_format_cost(usage, lang)}"
            for who, usage in sums[:MAX_PEOPLE]
        ]
    return lines


def sum_by_model(used: Sequence[ModelUsage]) -> list[ModelUsage]:
    """Sum up all people's usage by model and purpose."""
    groups: dict[tuple[str, str], list[ModelUsage]] = {}
    for row in used:
        groups.setdefault((row.model, row.purpose), []).append(row)
    return [replace(sum_usage(rows), who="") for _, rows in sorted(groups.items())]


def sum_by_person(used: Sequence[ModelUsage]) -> list[tuple[str, UsageSum]]:
    """Sum up each person's usage, the most expensive first."""
    people: dict[str, list[ModelUsage]] = {}
    for row in used:
        people.setdefault(row.who, []).append(row)
    sums = [(who, total_usage(rows)) for who, rows in people.items()]
    return sorted(sums, key=lambda item: (-item[1].money, -item[1].tokens, item[0]))


def format_person(who: str, lang: str) -> str:
    """Format a person as channel and id."""
    if who == OWNER:
        return Phrase("you").text(lang)
    if not who:
        return Phrase("groups and earlier use").text(lang)
    channel, _, rest = who.partition(":")
    return f"{channel} {rest.partition(':')[2]}"


def usage_to_json(used: Sequence[ModelUsage]) -> list[dict[str, Any]]:
    """Return the API's JSON by model and purpose. cost: US dollars, None if the price is not
    known.
    """
    return [
        {
            "model": row.model,
            "purpose": row.purpose,
            "calls": row.calls,
            "input": row.input,
            "output": row.output,
            "cache_read": row.cache_read,
            "cache_write": row.cache_write,
            "cost": _round_cost(money_for_usage(row)),
        }
        for row in sum_by_model(used)
    ]


def people_usage_to_json(used: Sequence[ModelUsage]) -> list[Mapping[str, Any]]:
    """Return the API's JSON by person. tokens: uncached; cost: of the models whose price is
    known.
    """
    return [
        {
            "who": who,
            "calls": usage.calls,
            "tokens": usage.tokens,
            "cost": _round_cost(usage.money),
            "unpriced": list(usage.unpriced),
        }
        for who, usage in sum_by_person(used)
    ]


def _format_model_usage(row: ModelUsage, lang: str) -> str:
    price = money_for_usage(row)
    cached = [
        words.fill(tokens=tokens)
        for tokens, words in (
            (row.cache_read, Phrase("{tokens:,} from cache")),
            (row.cache_write, Phrase("{tokens:,} to cache")),
        )
        if tokens
    ]
    parts = (
        Phrase("1 call", "{count:,} calls", count=row.calls),
        f"{row.input:,} → {row.output:,} tokens",
        *cached,
        format_money(price) if price is not None else Phrase("price unknown"),
    )
    return Phrase(
        "{model} · {purpose}: {parts}",
        model=row.model,
        purpose=PURPOSE_TEXTS.get(row.purpose, row.purpose),
        parts=join_phrases(parts, Phrase(", ", context="clauses")),
    ).text(lang)


def _format_cost(usage: UsageSum, lang: str) -> str:
    cost = Phrase(
        "{tokens:,} uncached tokens, {money}",
        tokens=usage.tokens,
        money=format_money(usage.money),
    )
    if not usage.unpriced:
        return cost.text(lang)
    without = Phrase(
        " (without {names}, whose price is unknown)",
        names=join_phrases(usage.unpriced, Phrase(", ")),
    )
    return join_phrases([cost, without], NO_PHRASE).text(lang)


def _round_cost(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 6)
