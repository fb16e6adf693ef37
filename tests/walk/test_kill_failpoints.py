"""One SIGKILL at every failpoint: what was confirmed before, during and after it comes to its
end.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory.workspace.safe_path import TEMPORARY
from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply, is_fold
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import OWNER, Died, mnema, scene
from tests.walk.kills import CHECKS, GROUPS, ROSES, SHARED, Kill, Stage
from tests.walk.memory_acts import SECRET
from tests.walk.oracle import REPEAT_MARK
from tests.walk.record import Db, ledger_faults
from tests.walk.speech import answer, shown

pytestmark = pytest.mark.kill
SIGKILLED = -9
LATE = 2.0  # seconds
FORGOTTEN = "[forgotten]"
LABEL = re.compile(r"«[^»]+»(?: \d:)?")


async def die_at(stage: Stage, kill: Kill, token: str) -> None:
    """One life that ends at this failpoint."""
    bot = stage.talk.bot
    await kill.before(stage, token)
    acting: asyncio.Task[None] | None = None
    try:
        await bot.start(kill.order)
        acting = asyncio.create_task(kill.act(stage, token))  # type: ignore[arg-type]
    except Died:
        pass  # recovering from the kill before led there already
    try:
        assert await bot.ended() == SIGKILLED
    except TimeoutError:
        raise AssertionError(f"{kill.order} was not reached: {bot.complaints()}") from None
    if acting:
        acting.cancel()
        await asyncio.gather(acting, return_exceptions=True)
    outlast(bot.db)


def outlast(db: Db) -> None:
    """Where leases run out by the clock, as if so much time had passed."""
    if isinstance(db, str):
        with psycopg.connect(db, autocommit=True) as held, suppress(psycopg.errors.UndefinedTable):
            held.execute("UPDATE process SET until = 0")
            held.execute(
                "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'"
            )


def chat_faults(stage: Stage) -> list[str]:
    """What the person in the chat sees: every part once, or twice and then marked, parts in
    order.
    """
    texts = [seen.text for seen in stage.telegram.sent(int(OWNER))]
    labels = [LABEL.search(text)[0] for text in texts]  # type: ignore[index]
    counts = Counter(labels)
    found = [f"no answer in the chat: {label}" for label in stage.told if not counts[label]]
    found += [f"not asked for: {label}" for label in counts if label not in stage.told]
    found += [f"seen {count} times: {label}" for label, count in counts.items() if count > 2]
    again = [at for at, label in enumerate(labels) if label in labels[:at]]
    found += [f"not marked: {texts[at]}" for at in again if REPEAT_MARK not in texts[at]]
    first = list(dict.fromkeys(labels))
    return found if first == stage.told else [*found, f"out of order: {first}"]


# groups on the way of each message; the others are the night's
BY_DAY = ("folding", "hearing", "thinking")


@pytest.mark.parametrize(
    "group",
    [name if name in BY_DAY else pytest.param(name, marks=by_night) for name in sorted(GROUPS)],
)
async def test_a_kill_at_any_failpoint_loses_nothing(group: str, tmp_path: Path) -> None:
    await walk(tmp_path, group, GROUPS[group])


@pytest.mark.postgres
@by_night
@pytest.mark.parametrize("group", sorted(SHARED))
async def test_the_same_on_postgresql_once_the_lease_of_the_killed_one_is_over(
    group: str, tmp_path: Path, db: str
) -> None:
    await walk(tmp_path, group, SHARED[group], db.replace("postgresql", "postgresql+psycopg", 1))


def late(body: dict[str, Any]) -> Reply:
    """The same answers; summaries of what `hasten` says come once a second message has waited for
    room.
    """
    told = answer(body)
    return replace(told, wait=LATE) if is_fold(body) and ROSES in shown(body) else told


async def walk(home: Path, group: str, kills: Sequence[Kill], database_url: str = "") -> None:
    """One life for each kill, and the verdict at the end of the last."""
    model = ModelEmulator(responder=late)
    others = {
        "provider": "openai",
        "memory": {"extract": group in CHECKS},
        "database_url": database_url,
    }
    async with TelegramEmulator() as telegram, scene(home, model, telegram.url, **others) as talk:
        stage = Stage(talk, telegram)
        for at, kill in enumerate(kills):
            await die_at(stage, kill, f"{at}-{kill.name}")
        await talk.bot.start()
        await stage.rest()
        faults = [*await stage.oracle.faults(talk.web), *await ledger_faults(talk.bot.db)]
        faults += chat_faults(stage)
        faults = [fault for fault in faults if SECRET not in fault and FORGOTTEN not in fault]
        if group in CHECKS:
            faults += await CHECKS[group](stage)
        assert not faults, "\n".join(faults)
        assert await talk.bot.term() == 0
        assert (await mnema(home, "config", "check"))[0] == 0
        assert not [path.name for path in home.rglob("*") if path.name.endswith(TEMPORARY)]
