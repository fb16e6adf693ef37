"""Several processes under load, and what is done to them: told in lines with times, judged by the
oracle at the end.
"""

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path

from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.cluster import Cluster
from tests.walk.crowd import Crowd, Doors, persons
from tests.walk.harness import Bot, Died, until
from tests.walk.moved import moved, set_clock
from tests.walk.processes import Several, several
from tests.walk.record import query
from tests.walk.speech import hesitant
from tests.walk.wire import Wire
from tests.walk.wounds import Watch

REST = 90.0
STOPPED = 8.0  # seconds for which a process is stopped: longer than its lease
AGAIN = 0.3  # seconds after which whoever looks after processes starts one again that has ended
BUSY = "mnema_db_busy_total"  # the alarm that has to sound where the database is away
_SESSIONS = "SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()"
_OTHERS = "datname = current_database() AND pid <> pg_backend_pid()"
_END_SESSIONS = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {_OTHERS}"
BETWEEN = 0.15
_SHARES = (("half within", 0.5), ("19 of 20 within", 0.95), ("all within", 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is played. pace: mean seconds between two messages of a person; slowest: of the model's
    answers, seconds.

    blows: (seconds after the start, what): "kill" or "stop", then "worker" or "gateway"; "restart
    database" and "fast" or "immediate", "end database" and how often its sessions are ended,
    "freeze database" and seconds; "cut", "deafen" or "reset", then "worker" or "gateway", then
    seconds: that process reaches the database by a wire of its own, which is mended then, or, where
    that is later than its lease, once it has ended itself; "clock", then "worker" or "gateway",
    then the seconds by which the first such process with a clock of its own is ahead from then on.
    clocks: (role, seconds) of each process that has a wall clock of its own, and how far ahead it
    is at first. seconds: of load at least.
    """

    conversations: int = 40
    gateways: int = 2
    workers: int = 3
    pace: float = 4.0
    slowest: float = 3.0
    blows: tuple[tuple[float, str], ...] = (
        (6.0, "kill worker"),
        (16.0, "kill gateway"),
        (26.0, "stop worker"),
    )
    clocks: tuple[tuple[str, int], ...] = ()
    seconds: float = 40.0
    seed: int = 1


@dataclass(slots=True)
class Story:
    """What happened, in lines that begin with the seconds since the beginning."""

    began: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)

    def tell(self, text: str) -> None:
        self.lines.append(f"{time.monotonic() - self.began:6.1f} s  {text}")
        print(self.lines[-1], flush=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where it is played. server: of the database, where it may be hurt; wire: to it, of the
    process that is cut.
    """

    bots: Several
    telegram: TelegramEmulator
    wire: Wire
    server: Cluster | None = None


class Play:
    """The processes, the people, and what is done to them."""

    def __init__(self, plan: Plan, stage: Stage, story: Story) -> None:
        self._plan = plan
        self._stage = stage
        self._tell = story.tell
        self._watch = Watch(stage.bots.db, story.tell)
        self._doing: list[asyncio.Task[None]] = []
        self._keeping: list[asyncio.Task[None]] = []
        self._living: dict[str, list[Bot]] = {"gateway": [], "worker": []}
        self._wired: Bot | None = None
        self._moved: dict[str, Bot] = {}
        self._crowd: Crowd | None = None
        self._away = any(what.split()[0] not in ("kill", "stop", "clock") for _, what in plan.blows)

    async def run(self) -> list[str]:
        """From the start to the verdict; returns the faults."""
        await self._start()
        plan = self._plan
        doors = Doors([bot.web for bot in self._living["gateway"]])
        telegram, db = self._stage.telegram, self._stage.bots.db
        crowd = self._crowd = Crowd(
            doors=doors, telegram=telegram, db=db, seed=plan.seed, pace=plan.pace
        )
        try:
            crowd.begin(plan.conversations)
            self._tell(
                f"{plan.conversations} people write, each about every {plan.pace:g} s; seed "
                f"{plan.seed}"
            )
            began = time.monotonic()
            for after, what in plan.blows:
                await asyncio.sleep(max(0.0, began + after - time.monotonic()))
                await self._strike(what)
            await asyncio.gather(*self._doing)
            await asyncio.sleep(max(0.0, began + plan.seconds - time.monotonic()))
            return await self._judge(crowd)
        finally:
            for task in (*self._doing, *self._keeping):
                task.cancel()
            await asyncio.gather(*self._doing, *self._keeping, return_exceptions=True)
            await crowd.close()

    async def _start(self) -> None:
        cut = next(
            (what.split()[1] for _, what in self._plan.blows if what.split()[0] in _CUTS), ""
        )
        roles = ["gateway"] * self._plan.gateways + ["worker"] * self._plan.workers
        clocks = list(self._plan.clocks)
        for role in roles:
            wired = role == cut and self._wired is None
            through = self._stage.wire.port if wired else 0
            clock = next((one for one in clocks if one[0] == role), None)
            if clock is None:
                bot = self._stage.bots.process(role, through=through)
            else:
                clocks.remove(clock)
                bot = moved(self._stage.bots, *clock, through=through)
                self._moved.setdefault(role, bot)
            self._wired = bot if wired else self._wired
            self._living[role].append(bot)
        bots = [*self._living["gateway"], *self._living["worker"]]
        await asyncio.gather(*(bot.start() for bot in bots))
        for kind, group in self._living.items():
            for number, bot in enumerate(group, 1):
                self._watch.know(bot, f"{kind} {number}")
                self._keeping.append(asyncio.create_task(self._keep(bot)))
        self._tell(
            f"started: {', '.join(f'{self._watch.name(bot)} (process {bot.pid})' for bot in bots)}"
        )
        await until(self._heard, "a gateway hears Telegram")

    def _heard(self) -> bool:
        return bool(query(self._stage.bots.db, "SELECT 1 FROM duty WHERE name = 'hear telegram'"))

    async def _keep(self, bot: Bot) -> None:
        """What a service manager does: a process that ended with an error is started again."""
        while True:
            code = await bot.ended(seconds=3600)
            if code <= 0:
                return
            name = self._watch.name(bot)
            self._tell(f"{name} has ended itself with exit code {code}; it is started again")
            while True:
                await asyncio.sleep(AGAIN)
                with contextlib.suppress(Died):
                    await bot.start()
                    break
            self._watch.know(bot, name)
            self._tell(f"{name} is ready again (process {bot.pid})")

    async def _strike(self, what: str) -> None:
        how, whom, *more = what.split()
        if how in ("kill", "stop"):
            await self._signal(how, whom)
        elif how == "clock":
            set_clock(self._moved[whom], int(more[0]))
            self._tell(
                f"{self._watch.name(self._moved[whom])}: its clock is {int(more[0]):+} s from now on"  # noqa: E501
            )
        elif whom == "database":
            await self._hurt_database(how, more[0])
        else:
            self._begin(self._cut(how, float(more[0])))

    async def _signal(self, how: str, kind: str) -> None:
        bot = max(self._living[kind], key=self._worth)
        name, number = self._watch.name(bot), signal.SIGKILL if how == "kill" else signal.SIGSTOP
        bot.send_signal(number)
        hurt, held = time.monotonic(), self._watch.held(bot)
        self._tell(f"{name} gets a {number.name}; it held {held}")
        if how == "kill":
            self._living[kind].remove(bot)
            await bot.ended()
        else:
            self._begin(self._wake(bot, bot.pid))
        self._begin(self._watch.follow(held, hurt))

    def _worth(self, bot: Bot) -> tuple[bool, int]:
        held = self._watch.held(bot)
        return "hear telegram" in held.duties, len(held.turns) + len(held.sends)

    async def _wake(self, bot: Bot, pid: int) -> None:
        await asyncio.sleep(STOPPED)
        bot.send_signal(signal.SIGCONT)
        self._tell(f"{self._watch.name(bot)} wakes after {STOPPED:g} s")
        await until(lambda: bot.lives > 1, "it finds that its lease is over")

    async def _cut(self, how: str, seconds: float) -> None:
        bot, wire = self._wired, self._stage.wire
        assert bot is not None
        name, lives = self._watch.name(bot), bot.lives
        held, hurt = self._watch.held(bot), time.monotonic()
        getattr(wire, how)()
        self._tell(
            f"{name}: its connections to the database are {_CUTS[how]} for {seconds:g} s; it held "
            f"{held}"
        )
        if seconds > STOPPED:
            self._begin(self._watch.follow(held, hurt))
            await until(lambda: not bot.alive or bot.lives > lives, "it ends itself", seconds)
            self._tell(f"{name} ended itself {time.monotonic() - hurt:.1f} s after the cut")
        else:
            await asyncio.sleep(max(0.0, hurt + seconds - time.monotonic()))
        wire.mend()
        await self._answered(f"{name}'s wire is mended")

    async def _hurt_database(self, how: str, more: str) -> None:
        server, hurt = self._stage.server, time.monotonic()
        if how == "end":  # every session, so many times
            for _ in range(int(more)):
                query(self._stage.bots.db, _END_SESSIONS)
                await asyncio.sleep(BETWEEN)
            self._tell(f"every session of the database was ended, {more} times")
        elif how == "restart":
            assert server is not None
            await asyncio.to_thread(server.restart, more)
            self._tell(f"the database was restarted ({more}) in {time.monotonic() - hurt:.1f} s")
        else:
            assert server is not None
            server.freeze()
            self._tell(f"the database stands still for {more} s")
            await asyncio.sleep(float(more))
            server.thaw()
        self._begin(self._answered("the database is back"))

    async def _answered(self, since: str) -> None:
        """Tell when somebody who writes after this moment has an answer."""
        crowd, began = self._crowd, time.monotonic()
        assert crowd is not None
        self._tell(since)
        found = lambda: [  # noqa: E731
            token for token, at in crowd.said.items() if at > began and token in crowd.seen
        ]  # noqa: E731, RUF100
        await until(found, "a new message is answered", REST)
        self._tell(
            f"somebody who wrote after that has an answer, {time.monotonic() - began:.1f} s after"
        )

    def _begin(self, work: Awaitable[None]) -> None:
        self._doing.append(asyncio.ensure_future(work))

    async def _judge(self, crowd: Crowd) -> list[str]:
        await crowd.end()
        self._tell(f"nobody writes any more; {len(crowd.said)} messages were sent")
        faults: list[str] = []

        async def quiet() -> bool:
            return not crowd.jobs() and not crowd.unshown() and not await crowd.open_ones()

        try:
            await until(quiet, "everything is at rest", REST)
            self._tell("everything is at rest")
        except AssertionError:
            faults += [f"not at rest: {await crowd.open_ones()}, {crowd.unshown()}, {crowd.jobs()}"]
        self._tell(f"connections to the database: {query(self._stage.bots.db, _SESSIONS)[0][0]}")
        waits = crowd.waits()
        told = ", ".join(
            f"{name} {waits[int(share * (len(waits) - 1))]:.1f} s" for name, share in _SHARES
        )
        self._tell(
            f"from a message to its answer: {told} (the model takes up to {self._plan.slowest:g} s)"
        )
        self._tell(f"the oracle: {await crowd.count()}")
        faults += [
            fault for fault in await crowd.faults() if not (self._away and fault.startswith(BUSY))
        ]
        return [*faults, *await self._end()]

    async def _end(self) -> list[str]:
        for task in self._keeping:
            task.cancel()
        codes = [await bot.term() for group in self._living.values() for bot in group]
        self._tell(f"all that live are told to end: exit codes {codes}")
        left = query(self._stage.bots.db, "SELECT name FROM process")
        return [f"ended with {code}" for code in codes if code] + [
            f"a lease is left: {name}" for (name,) in left
        ]


_CUTS = {
    "cut": "cut, no byte passes",
    "deafen": "half open, no answer passes",
    "reset": "reset, and refused",
}


async def play(plan: Plan, home: Path, db: str | Cluster, story: Story) -> list[str]:
    """Play it once; returns what the oracle finds. db: address of an empty database, or a server
    that may be hurt.
    """
    url, server = (db, None) if isinstance(db, str) else (db.url, db)
    model = ModelEmulator(responder=hesitant(random.Random(plan.seed), plan.slowest))
    others = {"allow": persons(plan.conversations - plan.conversations // 2), "provider": "openai"}
    async with (
        TelegramEmulator() as telegram,
        Wire(int(url.rpartition(":")[2].partition("/")[0])) as wire,
        several(home, url, model, telegram.url, **others) as bots,
    ):
        return await Play(
            plan, Stage(bots=bots, telegram=telegram, wire=wire, server=server), story
        ).run()
