"""The report of usage: by day, person and conversation, as JSON for the page and as CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.access.budgets import (
    WARN_SHARE,
    end_of_day,
    money_for_usage,
    people_usage_to_json,
    start_of_day,
    total_usage,
)
from bot.console.operations import models
from bot.console.transcripts import TranscriptBackend
from bot.runtime.bot import Bot
from channels.web.requests import Route, json_response
from memory.store.people.spending import OWNER, ModelUsage
from memory.store.people.usage_report import ConversationUsage

MAX_CONVERSATIONS = 50
CSV_TYPE = "text/csv; charset=utf-8"
CSV_COLUMNS = (
    *(
        "day",
        "model",
        "purpose",
        "who",
        "calls",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
    ),
    *("output_tokens", "cost_usd"),
)
# a spreadsheet would compute a text that begins with one
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


class UsageRoutes:
    """Handlers of the report."""

    def __init__(self, bot: Bot, transcripts: TranscriptBackend) -> None:
        self._bot = bot
        self._transcripts = transcripts

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path, query = "/api/v1/usage/days", models.UsageQueryBody
        return (
            Route(
                method="GET",
                path=path,
                action="console.read",
                handler=self.days,
                query=query,
                reply=models.UsageDaysBody,
            ),
            Route(
                method="GET",
                path=f"{path}.csv",
                action="console.read",
                handler=self.csv,
                query=query,
            ),
        )

    async def days(self, _: Request, query: models.UsageQueryBody) -> Response:
        """Return what was used on each of the last days, and by whom and where over all of them."""
        bounds = day_bounds(self._bot.now(), query.days)
        report, since, until = (
            self._bot.store.usage_report,
            bounds[0].timestamp(),
            bounds[-1].timestamp(),
        )
        days = await report.days([bound.timestamp() for bound in bounds])
        people = people_usage_to_json(await self._bot.store.spending.sum_by_person(bounds[0]))
        names = await self._names()
        return json_response(
            {
                "days": [
                    {"day": _format_day(day), "items": [_item_to_json(row) for row in used]}
                    for day, used in zip(bounds, days, strict=False)
                ],
                "people": [{**person, "name": names.get(person["who"], "")} for person in people],
                "conversations": await self._conversations(
                    await report.conversations(since, until)
                ),
                "limits": self._limits(),
            }
        )

    async def csv(self, _: Request, query: models.UsageQueryBody) -> Response:
        """Return the same days as a table: one line for each model, purpose and day."""
        bounds = day_bounds(self._bot.now(), query.days)
        days = await self._bot.store.usage_report.days([bound.timestamp() for bound in bounds])
        text = format_csv((_format_day(day), used) for day, used in zip(bounds, days, strict=False))
        name = f"mnema-usage-{_format_day(bounds[0])}-{_format_day(bounds[-2])}.csv"
        headers = {
            "content-disposition": f'attachment; filename="{name}"',
            "cache-control": "no-store",
        }
        return Response(text.encode(), 200, headers, CSV_TYPE)

    def _limits(self) -> Mapping[str, float]:
        budgets = self._bot.config().budgets
        return {
            "person_tokens": budgets.user.tokens_per_day,
            "person_money": budgets.user.money_per_day,
            "all_money": budgets.total.money_per_day,
            "all_money_warning": round(budgets.total.money_per_day * WARN_SHARE, 6),
        }

    async def _names(self) -> dict[str, str]:
        """Return the known names of people by the account that their use is charged to."""
        people = (await self._bot.pairing.facts())["people"]
        return {
            f"{one['channel']}:{one['account']}:{one['id']}": one.get("name", "") for one in people
        }

    async def _conversations(self, used: Sequence[ConversationUsage]) -> list[dict[str, Any]]:
        sums = [(one.conversation, total_usage(one.used)) for one in used]
        sums.sort(key=lambda item: (-item[1].money, -item[1].tokens, item[0]))
        found = []
        for id, usage in sums[:MAX_CONVERSATIONS]:
            entry = await self._transcripts.conversation(id)
            if entry is None:  # deleted since
                continue
            found.append(
                {
                    "id": entry.id,
                    "title": entry.title,
                    "channel": entry.channel,
                    "whose": entry.whose,
                    "calls": usage.calls,
                    "tokens": usage.tokens,
                    "cost": round(usage.money, 6),
                    "unpriced": list(usage.unpriced),
                }
            )
        return found


def day_bounds(now: datetime, days: int) -> list[datetime]:
    """Return the start of each of the last days, today being the last, and the end of today; by the
    clock there.

    Days on which clocks change are longer or shorter than others. Pure.
    """
    end = end_of_day(now)
    bounds = [start_of_day(now)]
    while len(bounds) < days:
        bounds.append(start_of_day(bounds[-1] - timedelta(hours=12)))
    return [*reversed(bounds), end]


def format_csv(days: Iterable[tuple[str, Sequence[ModelUsage]]]) -> str:
    """Format days of use as CSV. An unknown price is an empty cell. Pure."""
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(CSV_COLUMNS)
    for day, used in days:
        for row in used:
            price = money_for_usage(row)
            fresh = max(0, row.input - row.cache_read - row.cache_write)
            cost = "" if price is None else f"{price:.6f}"
            who = OWNER if row.who == OWNER else "others"
            names = (_plain_cell(row.model), _plain_cell(row.purpose), who)
            writer.writerow(
                (day, *names, row.calls, fresh, row.cache_read, row.cache_write, row.output, cost)
            )
    return target.getvalue()


def _plain_cell(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA_SIGNS) else text


def _format_day(day: datetime) -> str:
    return f"{day:%Y-%m-%d}"


def _item_to_json(row: ModelUsage) -> dict[str, Any]:
    price = money_for_usage(row)
    counted = {
        name: getattr(row, name)
        for name in ("calls", "input", "output", "cache_read", "cache_write")
    }
    cost = None if price is None else round(price, 6)
    return {
        "model": row.model,
        "purpose": row.purpose,
        "own": row.who == OWNER,
        **counted,
        "cost": cost,
    }
