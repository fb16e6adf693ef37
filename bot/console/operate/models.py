"""Bodies of the routes to run a bot, as the API's description and the types of the page have them."""

from typing import Literal

from pydantic import Field

from bot.console.models import ModelUsageBody, PersonUsageBody
from channels.web.models import ApiModel

MAX_USAGE_DAYS = 366


class UsageQueryBody(ApiModel):
    """Which days are wanted."""

    days: int = Field(30, ge=1, le=MAX_USAGE_DAYS, description="Today and as many days before it as make this number.")


class DayUsageItemBody(ModelUsageBody):
    """Use of one model for one purpose on one day."""

    own: bool = Field(description="By the owner; else by all other people together.")


class DayUsageBody(ApiModel):
    """Use on one day."""

    day: str = Field(description="In the owner's time zone, such as 2026-11-20.")
    items: list[DayUsageItemBody]


class NamedPersonUsageBody(PersonUsageBody):
    """Use by one person."""

    name: str = Field(description="As the platform gave it; empty where it is not known.")


class ConversationUsageBody(ApiModel):
    """Use in one conversation."""

    id: str = Field(description="Its name in addresses.")
    title: str = Field(description="Of another person's private chat only their id.")
    channel: str
    whose: Literal["own", "group", "other"]
    calls: int
    tokens: int = Field(description="From no cache.")
    cost: float
    unpriced: list[str]


class UsageLimitsBody(ApiModel):
    """What people may use in a day; 0 is no limit. The owner has none."""

    person_tokens: int
    person_money: float
    all_money: float
    all_money_warning: float = Field(description="From here on the owner is told.")


class UsageDaysBody(ApiModel):
    """Use by day, and by person and conversation over all the days."""

    days: list[DayUsageBody] = Field(description="Oldest first, without gaps; the last one is today.")
    people: list[NamedPersonUsageBody] = Field(description="The most expensive first.")
    conversations: list[ConversationUsageBody] = Field(description="The 50 most expensive ones.")
    limits: UsageLimitsBody
