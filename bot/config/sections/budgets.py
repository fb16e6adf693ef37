"""The section `budgets`."""

from typing import Annotated

from pydantic import Field

from channels.toolkit.settings import (
    ConfigSection,
    PhraseContext,
    Unit,
    ValueForm,
)


class UserBudgetConfig(ConfigSection):
    """Limits of one person other than the owner; 0 means no limit."""

    messages_per_minute: Annotated[int, Unit("a_minute")] = Field(
        30,
        ge=0,
        le=1000000,
        title="Messages a minute",
        description="Maximum messages a minute for one person.",
        examples=[10],
    )
    messages_per_day: Annotated[int, Unit("a_day")] = Field(
        500,
        ge=0,
        le=100000000,
        title="Messages a day",
        description="Maximum messages a day for one person.",
        examples=[200],
    )
    tokens_per_day: Annotated[int, Unit("tokens_a_day")] = Field(
        3000000,
        ge=0,
        le=10**12,
        title="Tokens a day",
        description="Maximum uncached tokens a day for one person.",
        examples=[1000000],
    )
    money_per_day: Annotated[float, Unit("money_a_day")] = Field(
        2.0,
        ge=0,
        le=1000000,
        title="Spending a day",
        description="Maximum spending a day for one person, in the price table's unit.",
        examples=[0.5],
    )
    tool_calls_per_day: Annotated[int, Unit("a_day")] = Field(
        200,
        ge=0,
        le=1000000,
        title="Tool calls a day",
        description="Maximum tool calls a day for one person.",
        examples=[100],
    )
    fetches_per_day: Annotated[int, Unit("a_day")] = Field(
        50,
        ge=0,
        le=1000000,
        title="Pages fetched a day",
        description="Maximum web pages fetched a day for one person.",
        examples=[20],
    )
    searches_per_day: Annotated[int, Unit("a_day")] = Field(
        50,
        ge=0,
        le=1000000,
        title="Searches a day",
        description="Maximum web searches a day for one person.",
        examples=[20],
    )
    jobs: Annotated[int, Unit("at_once")] = Field(
        20,
        ge=0,
        le=100000,
        title="Reminders and jobs",
        description="Maximum reminders and jobs at a time for one person.",
        examples=[10],
    )
    storage_mb: Annotated[int, Unit("MB")] = Field(
        500,
        ge=0,
        le=10**9,
        title="File storage",
        description="Maximum size of the files stored for one person, in megabytes.",
        examples=[200],
    )
    guest_messages_per_day: Annotated[int, Unit("a_day")] = Field(
        20,
        ge=0,
        le=1000000,
        title="Guest messages a day",
        description="Maximum messages a day for a guest in a group.",
        examples=[5],
    )


class TotalBudgetConfig(ConfigSection):
    """Limits of all people other than the owner together; 0 means no limit."""

    messages_per_day: Annotated[int, Unit("a_day"), PhraseContext("everybody together")] = Field(
        3000,
        ge=0,
        le=10**9,
        title="Messages a day, total",
        description="Maximum messages a day for everyone together.",
        examples=[1000],
    )
    money_per_day: Annotated[float, Unit("money_a_day"), PhraseContext("everybody together")] = (
        Field(
            10.0,
            ge=0,
            le=10000000,
            title="Spending a day, total",
            description="Maximum spending a day for everyone together, in the price table's unit.",
            examples=[5],
        )
    )
    storage_mb: Annotated[int, Unit("MB"), PhraseContext("everybody together")] = Field(
        20000,
        ge=0,
        le=10**9,
        title="File storage, total",
        description="Maximum size of all stored files, in megabytes.",
        examples=[5000],
    )


OwnLimit = Annotated[int | None, Field(ge=0, le=10**12), ValueForm("own_limit")]

OwnMoney = Annotated[float | None, Field(ge=0, le=1_000_000), ValueForm("own_limit")]


class OwnBudgetConfig(ConfigSection):
    """Limits of one person instead of those of `user`; null leaves that one, 0 means no limit."""

    messages_per_minute: OwnLimit = Field(
        None,
        title="Messages a minute",
        description="Messages a minute for this person; null: same as everyone.",
    )
    messages_per_day: Annotated[OwnLimit, Unit("a_day")] = Field(
        None,
        title="Messages a day",
        description="Messages a day for this person; null: same as everyone.",
    )
    tokens_per_day: Annotated[OwnLimit, Unit("a_day")] = Field(
        None,
        title="Tokens a day",
        description="Uncached tokens a day for this person; null: same as everyone.",
    )
    money_per_day: Annotated[OwnMoney, Unit("a_day")] = Field(
        None,
        title="Spending a day",
        description="Spending a day for this person; null: same as everyone.",
    )


Account = Annotated[str, Field(pattern=r"^[a-z_]{1,32}:.{1,200}$")]

PeopleBudgets = Annotated[dict[Account, OwnBudgetConfig], ValueForm("people_limits")]


class BudgetsConfig(ConfigSection):
    """Limits for everyone but the owner."""

    user: UserBudgetConfig = Field(
        UserBudgetConfig(),
        title="Budget per person",
        description="Limits for each person; 0: no limit.",
    )
    people: PeopleBudgets = Field(
        {},
        title="Individual limits",
        description="Limits for individual people instead of those in `user`, by CHANNEL:ID.",
        examples=[{"telegram:42": {"messages_per_day": 20}}],
    )
    total: TotalBudgetConfig = Field(
        TotalBudgetConfig(),
        title="Total budget",
        description="Limits for everyone but the owner together; 0: no limit.",
    )
