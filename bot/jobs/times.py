"""When a person's jobs may happen: their time zone and quiet hours, chosen or configured."""

import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.access.permissions import Actor
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.jobs.schedule import ScheduleRefused, load_zone, parse_quiet, quiet_until
from channels.phrases import Capitalized, Phrase
from memory.store.automation.jobs import Jobs, JobSetting

NO_QUIET = "off"  # as a person's choice: no quiet hours


class JobRefused(MnemaError):
    """The job cannot be made or changed; the phrase says what would be right."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase

    @classmethod
    def of(cls, err: ScheduleRefused) -> "JobRefused":
        """Say what is wrong with a schedule, as a sentence."""
        return cls(Phrase("{reason}.", reason=Capitalized(err.phrase)))


@dataclass(slots=True, kw_only=True)
class JobTimes:
    """The zone and the quiet hours of each person."""

    jobs: Jobs
    config: Callable[[], Config]
    #: The machine's zone, for a configuration without one.
    machine_zone: str = field(default_factory=lambda: find_machine_zone())

    #: The chosen zones by channel, account and person: turns read them without a query.
    zones: dict[tuple[str, str, str], ZoneInfo] = field(default_factory=dict)
    #: Another one after each choice that this process has stored, by which other processes see it;
    #: "" before.
    version: str = ""

    @property
    def zone(self) -> str:
        """The name of the owner's zone."""
        return self.config().timezone or self.machine_zone

    async def setting(self, channel: str, account: str, person: str) -> JobSetting:
        """Return what a person has chosen."""
        known = await self.jobs.setting(channel, account, person)
        return known or JobSetting(channel=channel, account=account, person=person, space="")

    async def zone_of(self, actor: Actor) -> str:
        """Return the name of a person's zone."""
        return (await self.setting(actor.channel, actor.account, actor.id)).zone or self.zone

    async def load_zones(self) -> None:
        """Read the zones that people have chosen; one that this machine does not know counts as not
        chosen.
        """
        zones = {}
        for one in await self.jobs.settings():
            with suppress(ScheduleRefused):
                if one.zone:
                    zones[one.channel, one.account, one.person] = load_zone(one.zone)
        self.zones.clear()
        self.zones.update(zones)

    def quiet_of(self, setting: JobSetting) -> tuple[str, ...]:
        """Return a person's quiet hours, begin and end; () for none."""
        if setting.quiet == NO_QUIET:
            return ()
        return parse_quiet(setting.quiet) or self.config().jobs.quiet

    def quiet_until(self, setting: JobSetting, moment: datetime) -> datetime | None:
        """Return when the person's quiet hours end in which a moment lies, in UTC; None outside of
        them.
        """
        return quiet_until(self.quiet_of(setting), moment, load_zone(setting.zone or self.zone))

    async def choose(
        self, actor: Actor, space: str, *, zone: str | None = None, quiet: str | None = None
    ) -> JobSetting:
        """Store a person's zone or quiet hours; "" for the configured ones, None to leave them.

        Raises:
            JobRefused: no such zone, or no quiet hours.
        """
        chosen = replace(await self.setting(actor.channel, actor.account, actor.id), space=space)
        if zone is not None:
            try:
                chosen = replace(chosen, zone=load_zone(zone).key if zone else "")
            except ScheduleRefused as err:
                raise JobRefused.of(err) from err
        if quiet is not None:
            hours = parse_quiet(quiet)
            if quiet not in ("", NO_QUIET) and hours is None:
                raise JobRefused(
                    Phrase("Write quiet hours as 22:30-07:30, or off for none."),
                )
            chosen = replace(chosen, quiet="-".join(hours) if hours else quiet)
        await self.jobs.save_setting(chosen)
        self.version = uuid.uuid4().hex[:12]
        await self.load_zones()
        return chosen


def find_machine_zone() -> str:
    """Return the IANA name of the machine's zone; "UTC" if it has none."""
    target = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    for name in (os.environ.get("TZ", "").removeprefix(":"), target):
        try:
            if name:
                return ZoneInfo(name).key
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"
