"""Reports of tokens and cost, by model and by person, for /usage and for the page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.access.budgets import UsageSum, format_money, money_for_usage, start_of_day, sum_usage, total_usage
from memory.store.people.spending import OWNER, ModelUsage

PURPOSE_TEXTS = {
    "turn": ("对话", "answers"),
    "fold": ("整理", "folds"),
    "extract": ("记事", "memories"),
    "dream": ("夜间整理", "dreams"),
}
MAX_PEOPLE = 20  # in a chat; the page shows all


def report_spans(now: datetime) -> dict[str, tuple[str, str, datetime]]:
    """Return the reported spans by key: name in Chinese and in English, and start."""
    day = start_of_day(now)
    return {
        "today": ("今天", "today", day),
        "month": ("本月", "this month", day.replace(day=1)),
        "30_days": ("30 天", "30 days", now - timedelta(days=30)),
    }


def format_usage(used: Sequence[ModelUsage], lang: str, *, people: bool) -> list[str]:
    """Return lines for one span: each model and purpose, the sum, and, if `people`, each person."""
    if not used:
        return ["没有用量" if lang == "zh" else "nothing used"]
    shown = [_format_model_usage(one, lang) for one in sum_by_model(used)]
    whole = total_usage(used)
    if len(shown) > 1:
        shown.append(f"= {_format_cost(whole, lang)}")
    if people and len(sums := sum_by_person(used)) > 1:
        shown += [f"· {format_person(who, lang)}: {_format_cost(one, lang)}" for who, one in sums[:MAX_PEOPLE]]
    return shown


def sum_by_model(used: Sequence[ModelUsage]) -> list[ModelUsage]:
    """Sum up all people's usage by model and purpose."""
    sums: dict[tuple[str, str], list[ModelUsage]] = {}
    for one in used:
        sums.setdefault((one.model, one.purpose), []).append(one)
    return [replace(sum_usage(rows), who="") for _, rows in sorted(sums.items())]


def sum_by_person(used: Sequence[ModelUsage]) -> list[tuple[str, UsageSum]]:
    """Sum up each person's usage, the most expensive first."""
    people: dict[str, list[ModelUsage]] = {}
    for one in used:
        people.setdefault(one.who, []).append(one)
    sums = [(who, total_usage(ones)) for who, ones in people.items()]
    return sorted(sums, key=lambda item: (-item[1].money, -item[1].tokens, item[0]))


def format_person(who: str, lang: str) -> str:
    """Format a person as channel and id."""
    if who == OWNER:
        return "你" if lang == "zh" else "you"
    if not who:
        return "群和较早的用量" if lang == "zh" else "groups, and earlier use"
    channel, _, rest = who.partition(":")
    return f"{channel} {rest.partition(':')[2]}"


def usage_to_json(used: Sequence[ModelUsage]) -> list[dict[str, Any]]:
    """Return the API's JSON by model and purpose. cost: US dollars, None if the price is not known."""
    return [
        {
            "model": one.model,
            "purpose": one.purpose,
            "calls": one.calls,
            "input": one.input,
            "output": one.output,
            "cache_read": one.cache_read,
            "cache_write": one.cache_write,
            "cost": _round_cost(money_for_usage(one)),
        }
        for one in sum_by_model(used)
    ]


def people_usage_to_json(used: Sequence[ModelUsage]) -> list[Mapping[str, Any]]:
    """Return the API's JSON by person. tokens: uncached; cost: of the models whose price is known."""
    return [
        {
            "who": who,
            "calls": one.calls,
            "tokens": one.tokens,
            "cost": _round_cost(one.money),
            "unpriced": list(one.unpriced),
        }
        for who, one in sum_by_person(used)
    ]


def _format_model_usage(one: ModelUsage, lang: str) -> str:
    zh, price = lang == "zh", money_for_usage(one)
    purpose = PURPOSE_TEXTS.get(one.purpose, (one.purpose, one.purpose))[0 if zh else 1]
    cached = [
        f"{tokens:,} {words[0 if zh else 1]}"
        for tokens, words in ((one.cache_read, ("命中缓存", "from cache")), (one.cache_write, ("写入缓存", "to cache")))
        if tokens
    ]
    calls = f"{one.calls:,} 次" if zh else f"{one.calls:,} {'call' if one.calls == 1 else 'calls'}"
    cost = format_money(price) if price is not None else ("价格未知" if zh else "price not known")
    parts = [calls, f"{one.input:,} → {one.output:,} tokens", *cached, cost]
    return f"{one.model} · {purpose}: " + ("，" if zh else ", ").join(parts)


def _format_cost(one: UsageSum, lang: str) -> str:
    zh = lang == "zh"
    tokens = (
        f"{one.tokens:,} 未缓存 tokens，{format_money(one.money)}"
        if zh
        else (f"{one.tokens:,} uncached tokens, {format_money(one.money)}")
    )
    if not one.unpriced:
        return tokens
    names = ("、" if zh else ", ").join(one.unpriced)
    return tokens + (f"（不含价格未知的 {names}）" if zh else f" (without {names}, whose price is not known)")


def _round_cost(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 6)
