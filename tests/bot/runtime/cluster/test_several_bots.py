"""What each process of a bot on one store has to know: zones that another one stored, guards that
are installed.
"""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.access.permissions import Actor
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.models.providers.offline import ScriptedModel
from bot.runtime.bot import Bot
from bot.runtime.cluster.open import build_cluster_bot
from bot.runtime.process_role import ProcessRole
from bot.tools.base import GuardedCall
from tests.postgres import LEASE_SECONDS, database, fresh, made, needs_postgres  # noqa: F401  fixtures
from tests.walk.harness import until

pytestmark = pytest.mark.postgres
ME = Actor(channel="web", account="local", id="owner", role="owner")
GUARD = "def check(call):\n    return 'not on Sundays' if call.tool == 'exec' else ''\n"


@asynccontextmanager
async def opened(folder: Path, url: str, *roles: ProcessRole) -> AsyncIterator[list[Bot]]:
    """Processes of one bot, each of them here."""
    home = HomeFolder(root=folder)
    home.ensure()
    settings = {
        "database_url": url.replace("postgresql:", "postgresql+psycopg:", 1),
        "llm": {"provider": "anthropic", "api_key": "none", "model": "claude-sonnet-5-5"},
        "memory": {"extract": False},
        "channels": {"web": {"enabled": False}},
    }
    home.config.write_text(json.dumps(settings))
    home.config.chmod(0o600)
    file = ConfigFile(home.config)
    file.load()
    async with AsyncExitStack() as stack:
        bots = []
        for role in roles:
            bot = await build_cluster_bot(home, file, role, LEASE_SECONDS)
            stack.push_async_callback(bot.close, patience=1.0)
            await bot.open([], ScriptedModel(lambda _: "yes"))
            bots.append(bot)
        yield bots


async def test_a_zone_that_one_process_stores_is_known_to_all_of_them(
    tmp_path: Path,
    fresh: str,  # noqa: F811
) -> None:  # noqa: F811, RUF100
    key = (ME.channel, ME.account, ME.id)
    async with opened(tmp_path, fresh, "gateway", "worker", "worker") as bots:
        for writer, zone in zip(
            bots, ("Asia/Tokyo", "Europe/Berlin", "Asia/Shanghai"), strict=True
        ):
            await writer.job_times.choose(ME, "", zone=zone)
            await until(
                lambda: all(bot.job_times.zones.get(key) == ZoneInfo(zone) for bot in bots),  # noqa: B023
                zone,  # noqa: B023, RUF100
            )  # noqa: B023, RUF100
        await bots[0].job_times.choose(ME, "", zone="")
        await until(lambda: not any(bot.job_times.zones for bot in bots), "it is taken back")


async def test_the_guards_that_are_installed_judge_in_every_process(
    tmp_path: Path,
    fresh: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = tmp_path / "installed"
    (installed / "sundays-1.0.dist-info").mkdir(parents=True)
    (installed / "sundays.py").write_text(GUARD)
    (installed / "sundays-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: sundays\nVersion: 1.0\n"
    )
    (installed / "sundays-1.0.dist-info" / "entry_points.txt").write_text(
        "[mnema.guards]\nsundays = sundays:check\n"
    )
    monkeypatch.syspath_prepend(installed)
    call = GuardedCall(
        tool="exec",
        arguments={},
        effect="unsafe",
        origin="",
        space="",
        conversation="c",
        channel="web",
        person="owner",
    )
    async with opened(tmp_path / "home", fresh, "gateway", "worker") as bots:
        assert [await bot.plugins.find_refusal(call) for bot in bots] == ["not on Sundays"] * 2
