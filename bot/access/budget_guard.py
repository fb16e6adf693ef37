"""Checks people's usage in the store against their budgets, before anything is spent."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from bot.access.budgets import (
    MINUTE,
    WARN_SHARE,
    LimitReached,
    UsageLimits,
    UsageSum,
    budget_account,
    find_limit_reached,
    format_limit_reached,
    format_money,
    limits_for_actor,
    max_call_cost,
    merge_usage,
    spending_query,
    start_of_day,
    total_usage,
)
from bot.access.permissions import Actor
from bot.access.storage_quota import StorageQuota
from bot.config.schema import Config
from bot.errors import OverBudget
from bot.messages import MessageBody, split_reply
from bot.texts import resolve_language
from channels.base import Channel
from channels.message import Capabilities
from channels.phrases import AnyPhrase, Phrase
from memory.conversation import CallBudget
from memory.store.people.spending import (
    LimitNotice,
    ModelUsage,
    Spending,
    SpendingPart,
    SpendingQuery,
    SpendingTotals,
)
from memory.store.rows import InboxRow, TurnRow

log = structlog.get_logger(__name__)
# After so many seconds no row is added with an earlier time: no transaction takes so long, and all
# processes use one clock, that of the machine or of PostgreSQL.
SETTLE_SECONDS = 60.0
MAX_STEP_BACK = SETTLE_SECONDS / 2  # of the clock; after a larger one everything is summed again
EXTEND_SECONDS = 10.0  # by which the cached part of a day is behind before it is extended
ALL_PEOPLE = ""
MAX_CACHED_SUMS = 10_000
WARNING_TEXTS: Mapping[str, Phrase] = {
    "nearly": Phrase(
        "Everyone together has used {spent} of {most} today. Once that is used up, everyone but "
        "you waits until tomorrow."
    ),
    "all": Phrase(
        "Today's shared limit of {most} is used up ({spent}). Everyone but you waits until "
        "tomorrow."
    ),
    "own": Phrase("You have used {spent} today. You have no limit; everyone else's is {most}."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedSpending:
    """Usage since midnight up to a time; later rows are read at each check.

    What is deleted later stays spent.
    """

    day: float
    until: float
    #: Monotonic time at which it was summed.
    summed: float
    used: tuple[ModelUsage, ...] = ()
    #: Turns of all people.
    turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingSums:
    """Cached sums of a day, and the query for what came after them."""

    query: SpendingQuery
    mine: _CachedSpending
    whole: _CachedSpending

    def with_newest(self, newest: SpendingTotals) -> SpendingTotals:
        """Add what the query found."""
        return replace(
            newest,
            everybody=self.whole.turns + newest.everybody,
            used=merge_usage(self.mine.used, newest.used),
            whole=merge_usage(self.whole.used, newest.whole),
        )


class BudgetGuard:
    """Enforces budgets before each turn and each model call."""

    def __init__(
        self,
        spending: Spending,
        config: Callable[[], Config],
        now: Callable[[], datetime],
        channels: Mapping[str, Channel],
        notify_owner: Callable[[str, AnyPhrase, str], Awaitable[object]],
        storage: StorageQuota,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.storage = storage
        self._spending = spending
        self._config = config
        self._now = now
        self._channels = channels
        self._notify_owner = notify_owner
        self._monotonic = monotonic
        self._cached: dict[str, _CachedSpending] = {}

    async def refuse(self, row: InboxRow, said: MessageBody, actor: Actor, model: str) -> bool:
        """Settle a message that is over a limit, with one notice per limit; False if it is not over
        any.

        Args:
            model: would be called for the message.
        """
        limits, now = limits_for_actor(self._config().budgets, actor), self._now()
        if limits is None:
            return False
        wants = spending_query(limits, new=True)
        spent = await self._spent(
            budget_account(actor), limits, row.received.timestamp(), wants=wants
        )
        received = row.received.astimezone(now.tzinfo)
        reached = find_limit_reached(
            limits, spent, now, asked=received, call=self._max_call_usage(model)
        )
        if reached is None:
            return False
        await self._settle(row, said, actor, reached)
        return True

    async def sums_of_turn(self, actor: Actor, turn: TurnRow) -> SpendingSums | None:
        """Return what `check` compares with the limits, but for the newest; None where nothing is
        limited.
        """
        limits = limits_for_actor(self._config().budgets, actor)
        wants = spending_query(limits, new=False) if limits is not None else None
        if limits is None or not wants:
            return None
        return await self._sums(
            budget_account(actor), limits, self._now().timestamp(), turn.id, wants=wants
        )

    async def check(
        self,
        actor: Actor,
        turn: TurnRow,
        model: str,
        lang: str,
        spent: SpendingTotals | None = None,
        *,
        own_folds: int = 0,
        group_folds: int = 0,
    ) -> None:
        """Check the limits before a model call.

        Args:
            spent: until now, with the sums of `sums_of_turn`; None to load it.
            own_folds, group_folds: see find_limit_reached.

        Raises:
            OverBudget: a limit is reached; the text is for the person.
        """
        limits, now = limits_for_actor(self._config().budgets, actor), self._now()
        if limits is None:
            return
        if spent is None:
            wants = spending_query(limits, new=False)
            spent = await self._spent(
                budget_account(actor), limits, now.timestamp(), turn.id, wants=wants
            )
        reached = find_limit_reached(
            limits,
            spent,
            now,
            asked=None,
            call=self._max_call_usage(model),
            own_folds=own_folds,
            group_folds=group_folds,
        )
        if reached is not None:
            log.info("over budget", limit=reached.limit, conversation=turn.conversation)
            raise OverBudget(format_limit_reached(reached, now, lang))

    async def calls_left(
        self, actor: Actor, asked: int, budget: CallBudget = "", named: tuple[str, ...] = ()
    ) -> int:
        """Return how many of `asked` planned tool calls may run today by a limit.

        Args:
            budget: "" for the limit of all calls.
            named: the tools that count towards `budget`.
        """
        user = self._config().budgets.user
        most = {
            "": user.tool_calls_per_day,
            "fetch": user.fetches_per_day,
            "search": user.searches_per_day,
        }[budget]
        if actor.role == "owner" or not most or not asked:
            return asked
        made = await self._spending.count_calls(
            budget_account(actor), start_of_day(self._now()).timestamp(), named
        )
        return max(0, min(asked, most - (made - asked)))

    async def warn(self, actor: Actor) -> None:
        """Warn the owner after a turn, once a day each, of money limits that are nearly or fully
        used.
        """
        budgets, now = self._config().budgets, self._now()
        most = budgets.user.money_per_day if actor.role == "owner" else budgets.total.money_per_day
        if not most:
            return
        name = "own" if actor.role == "owner" else "all"
        wants: frozenset[SpendingPart] = frozenset({"tokens"} if name == "own" else {"whole"})
        spent = await self._spent(
            budget_account(actor), UsageLimits(), now.timestamp(), wants=wants
        )
        money = total_usage(spent.used if name == "own" else spent.whole).money
        await self._warn("nearly" if name == "all" and money < most else name, money, most, now)

    async def _warn(self, name: str, spent: float, most: float, now: datetime) -> None:
        if spent < most * (WARN_SHARE if name == "nearly" else 1.0):
            return
        warning = WARNING_TEXTS[name].fill(spent=format_money(spent), most=format_money(most))
        await self._notify_owner("", warning, f"budget:{name}:{now:%Y-%m-%d}")

    async def _settle(
        self, row: InboxRow, said: MessageBody, actor: Actor, reached: LimitReached
    ) -> None:
        lang, now = resolve_language(said.text, self._config().language), self._now()
        channel = self._channels.get(actor.channel)
        capabilities = channel.capabilities if channel else Capabilities()
        out = split_reply(format_limit_reached(reached, now, lang), "notice", capabilities)
        notice = LimitNotice(
            who=budget_account(actor),
            limit=reached.limit,
            asked=row.received.timestamp(),
            until=reached.until.timestamp(),
        )
        is_notified = await self._spending.refuse(row.id, notice, out)
        log.info(
            "over budget",
            limit=reached.limit,
            conversation=row.conversation,
            is_notified=is_notified,
        )

    def _max_call_usage(self, model: str) -> UsageSum:
        config = self._config()
        return max_call_cost(model, config.agent_max_context_tokens, config.llm.max_output_tokens)

    async def _spent(
        self,
        who: str,
        limits: UsageLimits,
        asked: float,
        turn: str = "",
        *,
        wants: frozenset[SpendingPart],
    ) -> SpendingTotals:
        """Return the totals in `wants`."""
        if not wants:
            return SpendingTotals()
        sums = await self._sums(who, limits, asked, turn, wants=wants)
        return sums.with_newest(await self._spending.load_totals(sums.query))

    async def _sums(
        self,
        who: str,
        limits: UsageLimits,
        asked: float,
        turn: str,
        *,
        wants: frozenset[SpendingPart],
    ) -> SpendingSums:
        """Return the sums in `wants`: rows that are old enough are summed once and cached."""
        day = start_of_day(self._now()).timestamp()
        nothing = _CachedSpending(day=day, until=day, summed=self._monotonic())
        mine = await self._up_to(who, nothing) if "tokens" in wants else nothing
        whole = (
            await self._up_to(ALL_PEOPLE, nothing) if wants & {"everybody", "whole"} else nothing
        )
        query = SpendingQuery(
            who=who,
            minute=asked - MINUTE,
            asked=asked,
            day=day,
            most=(limits.messages_per_minute or 1, limits.messages_per_day or 1),
            turn=turn,
            mine=mine.until,
            whole=whole.until,
            wants=wants,
        )
        return SpendingSums(query=query, mine=mine, whole=whole)

    async def _up_to(self, who: str, nothing: _CachedSpending) -> _CachedSpending:
        """Return the cached part of an account's day, extended from time to time. nothing: that of
        a day's start.
        """
        until = self._now().timestamp() - SETTLE_SECONDS
        cached = self._cached.get(who, nothing)
        if (
            cached.day != nothing.day
            or until - cached.until < nothing.summed - cached.summed - MAX_STEP_BACK
        ):
            cached = nothing
        if until - cached.until > EXTEND_SECONDS:
            turns, used = 0, list[ModelUsage]()
            if who == ALL_PEOPLE:
                turns, used = await self._spending.sum_of_all(cached.until, until)
            else:
                used = await self._spending.sum_of_person(who, cached.until, until)
            cached = _CachedSpending(
                day=cached.day,
                until=until,
                summed=nothing.summed,
                used=merge_usage(cached.used, used),
                turns=cached.turns + turns,
            )
        if len(self._cached) >= MAX_CACHED_SUMS:
            self._cached.clear()
        self._cached[who] = cached
        return cached
