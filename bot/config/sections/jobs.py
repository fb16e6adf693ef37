"""The sections of work that the bot does by itself: `jobs`, `delegate` and `heartbeat`."""

from typing import Annotated

from pydantic import AfterValidator, Field

from channels.toolkit.settings import (
    ConfigSection,
    Unit,
    ValueForm,
)


def _check_quiet_hours(hours: tuple[str, ...]) -> tuple[str, ...]:
    if len(hours) not in (0, 2):
        raise ValueError("not a begin and an end")
    return hours


QuietHours = Annotated[
    tuple[Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")], ...],
    Field(strict=False),
    AfterValidator(_check_quiet_hours),
    ValueForm("quiet_hours"),
]


class JobsConfig(ConfigSection):
    """Reminders and tasks."""

    quiet: QuietHours = Field(
        ("22:30", "07:30"),
        title="Quiet hours",
        description="Start and end of the hours in which no task runs; [] for none. Reminders "
        "still come.",
        examples=[["23:00", "07:00"]],
    )
    do_a_day: Annotated[int, Unit("a_day")] = Field(
        24,
        ge=0,
        le=10000,
        title="Tasks a day",
        description="Tasks that may run for one person in a day, the owner included; 0: no limit.",
        examples=[48],
    )
    late_hours: Annotated[int, Unit("h")] = Field(
        24,
        ge=1,
        le=720,
        title="Maximum delay",
        description="How many hours late a reminder or a one-off task may come; anything later is "
        "skipped.",
        examples=[12],
    )


class DelegateConfig(ConfigSection):
    """Sub-agents of the model."""

    enabled: bool = Field(
        False,
        title="Use sub-agents",
        description="Let the model hand tasks to sub-agents; uses more tokens.",
        examples=[True],
    )
    at_once: Annotated[int, Unit("at_once")] = Field(
        3,
        ge=1,
        le=20,
        title="At the same time",
        description="Sub-agents that may work in a space at the same time.",
        examples=[5],
    )
    tokens: Annotated[int, Unit("tokens")] = Field(
        30000,
        ge=2000,
        le=1000000,
        title="Token limit",
        description="Tokens that one sub-agent may read and write.",
        examples=[50000],
    )
    minutes: Annotated[int, Unit("min")] = Field(
        10,
        ge=1,
        le=120,
        title="Time limit",
        description="Minutes that one sub-agent may take.",
        examples=[20],
    )
    wait_seconds: Annotated[int, Unit("s")] = Field(
        45,
        ge=0,
        le=45,
        title="Waiting time",
        description="Seconds the model waits for results.",
        examples=[20],
    )


class HeartbeatConfig(ConfigSection):
    """The heartbeat."""

    every: Annotated[int, Unit("min")] = Field(
        0,
        ge=0,
        le=10080,
        title="Interval",
        description="Minutes between two checks of HEARTBEAT.md; 0: none.",
        examples=[30],
    )
    day_share: float = Field(
        0.05,
        ge=0,
        le=1,
        title="Daily share",
        description="How much it may use in a day, as a share of budgets.user.tokens_per_day.",
        examples=[0.02],
    )
    notices: Annotated[int, Unit("a_day")] = Field(
        3,
        ge=1,
        le=100,
        title="Notices a day",
        description="Notices it may send in a day before it pauses.",
        examples=[5],
    )
