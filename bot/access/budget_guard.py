"""Holds what people use against their budgets, from the record, before anything is spent."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from bot.access.budgets import (
    MINUTE,
    WARN_AT,
    Limits,
    Refused,
    Sum,
    call_of,
    judge,
    limits_of,
    merged,
    money,
    sentence,
    start_of_day,
    total,
    wants_of,
    who_of,
)
from bot.access.permissions import Actor
from bot.access.storage_quota import Storage
from bot.agent.turn_context import Job
from bot.config.schema import Config
from bot.errors import OverBudget
from bot.messages import Said, outgoing
from bot.texts import language
from channels.base import Channel
from channels.message import Capabilities
from memory.store.people.spending import OWNER, Asking, Spending, Spent, Told, Used, Want
from memory.store.rows import InboxRow

log = structlog.get_logger(__name__)
SETTLED = 60.0
"""Seconds after which nothing more is added to what was used then: no transaction takes so long."""
EVERYBODY = ""
MOST_KEPT = 10_000
WARNINGS: Mapping[str, tuple[str, str]] = {
    "nearly": (
        "大家今天已经用了 {spent}，总额度是 {most}；用完之后，除了你以外都要等到明天。",
        "Everybody together has used {spent} today, of {most}; when they are used up all but you wait for tomorrow.",
    ),
    "all": (
        "大家今天的额度 {most} 用完了（已用 {spent}）；除了你以外都要等到明天。",
        "Everybody's {most} of today are used up ({spent}); all but you wait for tomorrow.",
    ),
    "own": (
        "你今天自己用了 {spent}。你没有上限；给别人的上限是 {most}。",
        "You have used {spent} yourself today. You have no limit; that of others is {most}.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closed:
    """What was used since a midnight, up to a time after which it is added up anew. turns: of everybody."""

    day: float
    until: float
    used: tuple[Used, ...] = ()
    turns: int = 0


class Budgeting:
    """Asked before each turn and each call of a model. tell_owner: see OwnersChat."""

    def __init__(
        self,
        spending: Spending,
        config: Callable[[], Config],
        now: Callable[[], datetime],
        channels: Callable[[], Mapping[str, Channel]],
        tell_owner: Callable[[str, str, str, str], Awaitable[None]],
        storage: Storage,
    ) -> None:
        self.storage = storage
        self._spending = spending
        self._config = config
        self._now = now
        self._channels = channels
        self._tell_owner = tell_owner
        self._closed: dict[str, _Closed] = {}

    async def refuse(self, row: InboxRow, said: Said, actor: Actor, model: str) -> bool:
        """Whether this message is over a limit; then it is settled: with one sentence, or after it with none.

        Args:
            model: the one that would be asked.
        """
        limits, now = limits_of(self._config().budgets, actor.role), self._now()
        if limits is None:
            return False
        spent = await self._spent(who_of(actor), limits, row.received.timestamp(), wants=wants_of(limits, new=True))
        refused = judge(limits, spent, now, asked=row.received.astimezone(now.tzinfo), call=self._call(model))
        if refused is None:
            return False
        await self._settle(row, said, actor, refused)
        return True

    async def check(self, job: Job) -> None:
        """Before a call to a model.

        Raises:
            OverBudget: this person, or everybody, has used up what there is; the text is for the person.
        """
        limits, now = limits_of(self._config().budgets, job.actor.role), self._now()
        if limits is None:
            return
        wants = wants_of(limits, new=False)
        spent = await self._spent(who_of(job.actor), limits, now.timestamp(), job.turn.id, wants=wants)
        refused = judge(limits, spent, now, asked=None, call=self._call(job.model))
        if refused is not None:
            log.info("over budget", limit=refused.limit, conversation=job.conversation.id)
            raise OverBudget(sentence(refused, now, job.lang))

    async def calls_left(self, job: Job, asked: int, named: tuple[str, ...] = ()) -> int:
        """How many of `asked` tool calls, planned already, may be made today; `named`: of these tools."""
        user = self._config().budgets.user
        most = user.fetches_per_day if named else user.tool_calls_per_day
        if job.actor.role == "owner" or not most or not asked:
            return asked
        made = await self._spending.calls(who_of(job.actor), start_of_day(self._now()).timestamp(), named)
        return max(0, min(asked, most - (made - asked)))

    async def warn(self, actor: Actor) -> None:
        """After a turn: tell the owner, once a day of each, what has come near a limit of money."""
        budgets, now = self._config().budgets, self._now()
        most = budgets.user.money_per_day if actor.role == "owner" else budgets.total.money_per_day
        if not most:
            return
        if actor.role == "owner":
            used = total(await self._spending.sums(start_of_day(now), OWNER))
            await self._warn("own", used.money, most, now)
            return
        spent = await self._spent(who_of(actor), Limits(), now.timestamp(), wants=frozenset({"whole"}))
        used = total(spent.whole)
        await self._warn("all" if used.money >= most else "nearly", used.money, most, now)

    async def _warn(self, name: str, spent: float, most: float, now: datetime) -> None:
        if spent < most * (WARN_AT if name == "nearly" else 1.0):
            return
        zh, en = (text.format(spent=money(spent), most=money(most)) for text in WARNINGS[name])
        await self._tell_owner("", zh, en, f"budget:{name}:{now:%Y-%m-%d}")

    async def _settle(self, row: InboxRow, said: Said, actor: Actor, refused: Refused) -> None:
        lang, now = language(said.text, self._config().language), self._now()
        known = self._channels().get(actor.channel)
        out = outgoing(sentence(refused, now, lang), "notice", known.capabilities if known else Capabilities())
        told = Told(
            who=who_of(actor), limit=refused.limit, asked=row.received.timestamp(), until=refused.until.timestamp()
        )
        said_now = await self._spending.refuse(row.id, told, out)
        log.info("over budget", limit=refused.limit, conversation=row.conversation, told=said_now)

    def _call(self, model: str) -> Sum:
        """What one call may come to at most."""
        config = self._config()
        return call_of(model, config.agent_max_context_tokens, config.llm.max_output_tokens)

    async def _spent(self, who: str, limits: Limits, asked: float, turn: str = "", *, wants: frozenset[Want]) -> Spent:
        """What was spent up to now, as far as it is wanted; what is over a minute old is added up once."""
        day = start_of_day(self._now()).timestamp()
        if not wants:
            return Spent()
        mine = await self._up_to(who, day) if "tokens" in wants else _Closed(day=day, until=day)
        of_all = wants & {"everybody", "whole"}
        whole = await self._up_to(EVERYBODY, day) if of_all else _Closed(day=day, until=day)
        spent = await self._spending.spent(
            Asking(
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
        )
        return replace(
            spent,
            everybody=whole.turns + spent.everybody,
            used=merged(mine.used, spent.used),
            whole=merged(whole.used, spent.whole),
        )

    async def _up_to(self, who: str, day: float) -> _Closed:
        """The closed part of somebody's day, brought forward from time to time."""
        now, closed = self._now().timestamp(), self._closed.get(who)
        if closed is None or closed.day != day:
            closed = _Closed(day=day, until=day)
        if (until := now - SETTLED) - closed.until > SETTLED:
            closed = await self._more(who, closed, until)
        if len(self._closed) >= MOST_KEPT:
            self._closed.clear()
        self._closed[who] = closed
        return closed

    async def _more(self, who: str, closed: _Closed, until: float) -> _Closed:
        turns, used = 0, list[Used]()
        if who == EVERYBODY:
            turns, used = await self._spending.whole(closed.until, until)
        else:
            used = await self._spending.mine(who, closed.until, until)
        return _Closed(day=closed.day, until=until, used=merged(closed.used, used), turns=closed.turns + turns)
