"""A person's remaining budget is a pure function of the limits, the usage and the time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.access.budgets import (
    LimitReached,
    UsageLimits,
    UsageSum,
    budget_account,
    end_of_day,
    find_limit_reached,
    format_limit_reached,
    format_money,
    limits_for_actor,
    max_call_cost,
    merge_usage,
    start_of_day,
    total_usage,
)
from bot.access.permissions import Actor, Role
from bot.config.sections.budgets import BudgetsConfig, OwnBudgetConfig
from memory.store.people.spending import OWNER, ModelUsage, SpendingTotals
from tests.cases import every_case

NOW = datetime(2026, 11, 22, 15, 30, tzinfo=ZoneInfo("Asia/Shanghai"))
NOTHING = SpendingTotals(minute=(), today=0, everybody=0, running=0, used=(), whole=())
NO_CALL = UsageSum()
PRICED, UNPRICED = "claude-sonnet-5-5", "a-model-of-my-own"


def used(tokens: int, model: str = PRICED, cached: int = 0) -> ModelUsage:
    return ModelUsage(
        model=model, calls=1, input=tokens, output=0, cache_read=cached, cache_write=0
    )


def verdict(
    limits: UsageLimits,
    spent: SpendingTotals,
    call: UsageSum = NO_CALL,
    asked: datetime | None = NOW,
) -> str:
    refused = find_limit_reached(limits, spent, NOW, asked=asked, call=call)
    return refused.limit if refused else ""


def someone(role: Role) -> Actor:
    return Actor(channel="telegram", id="42", role=role)


def test_own_limits_go_before_those_of_everybody_and_zero_is_none() -> None:
    people = {"telegram:42": OwnBudgetConfig(messages_per_day=3, money_per_day=0)}
    limits = limits_for_actor(BudgetsConfig(people=people), someone("user"))
    assert limits is not None
    assert (limits.messages_per_day, limits.money_per_day, limits.messages_per_minute) == (3, 0, 30)
    other = Actor(channel="telegram", id="43", role="user")
    assert limits_for_actor(BudgetsConfig(people=people), other) == limits_for_actor(
        BudgetsConfig(), other
    )


def test_the_defaults_are_those_of_the_rules() -> None:
    limits = limits_for_actor(BudgetsConfig(), someone("user"))
    assert limits == UsageLimits(
        messages_per_minute=30,
        messages_per_day=500,
        tokens_per_day=3_000_000,
        money_per_day=2,
        total_messages_per_day=3_000,
        total_money_per_day=10,
    )
    guest = limits_for_actor(BudgetsConfig(), someone("guest"))
    assert guest is not None
    assert guest.messages_per_day == 20
    assert limits_for_actor(BudgetsConfig(), someone("admin")) == limits
    assert limits_for_actor(BudgetsConfig(), someone("owner")) is None


@every_case(
    ("own", "group", "limit"),
    [(0, 0, ""), (1, 0, "tokens_per_day"), (0, 1, ""), (0, 2, "total_money_per_day")],
)
def test_a_fold_counts_as_the_most_of_a_call_and_that_of_a_group_to_everybody_alone(
    own: int, group: int, limit: str
) -> None:
    limits = UsageLimits(tokens_per_day=100, total_money_per_day=2)
    reached = find_limit_reached(
        limits,
        NOTHING,
        NOW,
        asked=None,
        call=UsageSum(tokens=100, money=1.0),
        own_folds=own,
        group_folds=group,
    )
    assert (reached.limit if reached else "") == limit


@every_case(
    ("spent", "limit"),
    [
        (
            replace(NOTHING, minute=tuple(NOW.timestamp() - n for n in range(3))),
            "messages_per_minute",
        ),
        (replace(NOTHING, today=5), "messages_per_day"),
        (replace(NOTHING, used=(used(1_000),)), "tokens_per_day"),
        (replace(NOTHING, used=(used(1_500, cached=600),)), ""),
        (replace(NOTHING, used=(used(500_000),)), "tokens_per_day"),
        (replace(NOTHING, everybody=9), "total_messages_per_day"),
        (replace(NOTHING, whole=(used(1_000_000),)), "total_money_per_day"),
        (replace(NOTHING, whole=(used(10**9, UNPRICED),)), ""),
        (
            replace(
                NOTHING,
                minute=(1.0, 2.0),
                today=4,
                everybody=8,
                used=(used(999),),
                whole=(used(999_999),),
            ),
            "",
        ),
    ],
)
def test_each_limit_is_reached_by_what_it_counts_and_not_before(
    spent: SpendingTotals, limit: str
) -> None:
    limits = UsageLimits(
        messages_per_minute=3,
        messages_per_day=5,
        tokens_per_day=1_000,
        money_per_day=1,
        total_messages_per_day=9,
        total_money_per_day=2,
    )
    assert verdict(limits, spent) == limit
    assert verdict(UsageLimits(), spent) == ""


def test_money_is_counted_where_the_price_is_known_and_never_guessed() -> None:
    limits = UsageLimits(money_per_day=1)
    assert verdict(limits, replace(NOTHING, used=(used(500_000),))) == "money_per_day"
    assert verdict(limits, replace(NOTHING, used=(used(10**9, UNPRICED),))) == ""
    both = total_usage([used(500_000), used(7, UNPRICED), used(7, UNPRICED)])
    assert both == UsageSum(calls=3, tokens=500_014, money=1.0, unpriced=(UNPRICED,))
    assert max_call_cost(UNPRICED, 10, 5) == UsageSum(calls=1, tokens=15)
    assert max_call_cost(PRICED, 500_000, 100_000).money == 2.0


def test_turns_that_run_are_counted_at_the_most_they_may_come_to() -> None:
    call = UsageSum(calls=1, tokens=400, money=0.5)
    spent = replace(NOTHING, used=(used(601),))
    assert verdict(UsageLimits(tokens_per_day=1_000), spent, call) == ""
    assert (
        verdict(UsageLimits(tokens_per_day=1_000), replace(spent, running=1), call)
        == "tokens_per_day"
    )
    assert (
        verdict(UsageLimits(money_per_day=1), replace(NOTHING, running=2), call) == "money_per_day"
    )
    assert (
        verdict(UsageLimits(total_money_per_day=1), replace(NOTHING, running=2), call)
        == "total_money_per_day"
    )


def test_a_message_that_is_being_answered_is_not_one_message_more() -> None:
    spent = replace(NOTHING, today=5, everybody=9, minute=(1.0, 2.0))
    limits = UsageLimits(messages_per_minute=2, messages_per_day=5, total_messages_per_day=9)
    assert verdict(limits, spent, asked=None) == ""


def test_the_minute_is_over_when_its_oldest_message_is_a_minute_old() -> None:
    spent = replace(NOTHING, minute=tuple(NOW.timestamp() - ago for ago in (1, 20, 50, 59)))
    refused = find_limit_reached(
        UsageLimits(messages_per_minute=3), spent, NOW, asked=NOW, call=UsageSum()
    )
    assert refused is not None
    assert refused.until == NOW + timedelta(seconds=10)


zones = st.sampled_from(
    ["UTC", "Asia/Shanghai", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]
)


@given(zone=zones, at=st.integers(1_577_836_800, 1_893_456_000))
def test_a_day_goes_from_midnight_to_midnight_where_the_owner_is(zone: str, at: int) -> None:
    now = datetime.fromtimestamp(at, UTC).astimezone(ZoneInfo(zone))
    start, end = start_of_day(now), end_of_day(now)
    assert start <= now < end
    assert (start.hour, start.minute, end.hour, end.minute) == (0, 0, 0, 0)
    assert (end.date() - start.date()).days == 1
    assert start.date() == now.date()


sums = st.lists(
    st.builds(used, st.integers(0, 10**6), st.sampled_from([PRICED, UNPRICED, "claude-haiku-5-5"]))
)


@given(known=sums, more=sums)
def test_sums_of_two_times_are_the_sum_of_both(
    known: list[ModelUsage], more: list[ModelUsage]
) -> None:
    whole, parts = (
        total_usage(merge_usage(merge_usage((), known), more)),
        total_usage([*known, *more]),
    )
    assert (whole.calls, whole.tokens, set(whole.unpriced)) == (
        parts.calls,
        parts.tokens,
        set(parts.unpriced),
    )
    assert whole.money == pytest.approx(parts.money)


@given(
    spent=st.integers(0, 3_000),
    most=st.integers(0, 3_000),
    running=st.integers(0, 5),
    call=st.integers(0, 500),
)
def test_what_is_left_is_never_overspent_by_turns_that_run(
    spent: int, most: int, running: int, call: int
) -> None:
    seen = replace(NOTHING, used=(used(spent),), running=running)
    refused = verdict(UsageLimits(tokens_per_day=most), seen, UsageSum(tokens=call))
    assert bool(refused) == bool(most and spent + running * call >= most)


@every_case("limit", UsageLimits.__slots__)
def test_the_sentence_names_the_limit_and_when_it_is_over(limit: str) -> None:
    refused = LimitReached(limit=limit, most=2, until=NOW + timedelta(hours=8, minutes=30))  # type: ignore[arg-type]
    zh, en = format_limit_reached(refused, NOW, "zh"), format_limit_reached(refused, NOW, "en")
    assert "2" in zh
    assert "2" in en
    assert "8 小时 30 分钟" in zh
    assert "8 h 30 min" in en
    if "minute" not in limit:
        assert "00:00" in zh
        assert "00:00" in en
    assert len(en.split(". ")) <= 2


def test_small_sums_of_money_are_not_written_as_nothing() -> None:
    assert [format_money(amount) for amount in (0, 12.5, 0.25, 0.0034)] == [
        "US$ 0.00",
        "US$ 12.50",
        "US$ 0.25",
        "US$ 0.0034",
    ]


def test_the_owner_has_one_budget_and_everybody_else_one_for_each_account() -> None:
    def of(role: str, channel: str, id: str) -> str:
        return budget_account(Actor(channel=channel, id=id, role=role, account="bot"))  # type: ignore[arg-type]

    assert {of("owner", "web", "x"), of("owner", "telegram", "1")} == {OWNER}
    assert of("user", "telegram", "owner") != OWNER
    assert (
        len({of("user", "telegram", "2"), of("user", "feishu", "2"), of("guest", "telegram", "3")})
        == 3
    )
