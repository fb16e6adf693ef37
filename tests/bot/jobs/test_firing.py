"""Each due moment of each job causes one thing, whatever is killed, whoever fires too, and however
clocks jump.
"""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.jobs.schedule import Schedule, iter_runs, load_zone, quiet_until
from memory.conversation import Text
from memory.store.automation.heartbeats import NewBeat
from memory.store.automation.job_runs import RunEnd, RunRow
from memory.store.automation.jobs import CANCELLED, JobRow, JobSetting, NewJob
from memory.store.open import open_store
from memory.store.postgres.open import open_postgres
from memory.store.rows import NewInboxRow, NewMessage, Place
from memory.store.store import Store
from tests.bot.jobs.firing_worker import NOW, run_worker, ticker
from tests.by_night import by_night
from tests.postgres import database, fresh, made, needs_postgres  # noqa: F401  fixtures

ZONES = (
    "Asia/Shanghai",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
)
AT = datetime(2026, 11, 26, 9, 0, tzinfo=UTC)


async def set_up(store: Store, count: int, chats: int = 6) -> None:
    """Jobs that are all due at AT: every second one a task, in some chats."""
    places = [
        Place(
            channel="terminal", account="local", chat_id=f"c{n}", thread_id="", kind="dm", space=""
        )
        for n in range(chats)
    ]
    body = '{"text": "hello"}'
    chats_made = await store.delivery.accept(
        [
            NewInboxRow(place=place, key=f"k{n}", kind="aside", sender_id="me", body=body)
            for n, place in enumerate(places)
        ]
    )
    for number in range(count):
        await store.jobs.add(
            new_job(chats_made[number % chats].conversation, number, "do" if number % 2 else "say")
        )


def new_job(conversation: str, number: int, kind: Any, schedule: Schedule | None = None) -> NewJob:
    schedule = schedule or Schedule(zone="UTC", at="2026-11-26T09:00")
    return NewJob(
        space="",
        conversation=conversation,
        channel="terminal",
        account="local",
        person="me",
        kind=kind,
        body=f"thing {number:03}",
        schedule=schedule.to_json(),
        next_at=AT.timestamp(),
        runs_left=0,
        tainted=False,
        norm=f"{number}",
    )


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that fires due jobs: a fork of this one, which has imported what it needs."""

    process: ForkProcess
    ready: Event
    begin: Event


def start(url: str, failpoint: str = "") -> Worker:
    context = get_context("fork")
    ready, begin = context.Event(), context.Event()
    process = context.Process(target=run_worker, args=(url, failpoint, ready, begin))
    process.start()
    return Worker(process, ready, begin)


def begin(workers: Sequence[Worker]) -> None:
    """Let all of them fire at the same moment."""
    for worker in workers:
        assert worker.ready.wait(60)
    for worker in workers:
        worker.begin.set()


def ended(worker: Worker, seconds: float) -> int | None:
    """The exit code of a process that ends within this time."""
    worker.process.join(seconds)
    return worker.process.exitcode


def check_fired(url: str, count: int) -> None:
    """Every job was fired once: a notice or a message each, in the transaction of its
    occurrence.
    """
    with psycopg.connect(url.replace("+psycopg", "")) as held:
        states = Counter(row[0] for row in held.execute("SELECT state FROM occurrence"))
        assert states == {"told": count // 2, "run": count // 2}
        assert held.execute("SELECT count(*) FROM job WHERE state <> 'done'").fetchone() == (0,)
        assert held.execute(
            "SELECT count(*), count(DISTINCT key) FROM inbox WHERE key LIKE 'job:%'"
        ).fetchone() == (
            count // 2,
            count // 2,
        )
        assert held.execute("SELECT count(*), count(DISTINCT source) FROM outbox").fetchone() == (
            count // 2,
            count // 2,
        )
        ordered = held.execute(
            "SELECT conversation, string_agg(body, ' ' ORDER BY line) FROM inbox WHERE key LIKE "
            "'job:%' GROUP BY 1"
        )
        assert ordered.fetchone() is not None


@pytest.mark.postgres
@pytest.mark.kill
async def test_four_processes_fire_jobs_and_three_of_them_are_killed_in_the_middle() -> None:
    needs_postgres()
    with database() as url:
        store = await open_postgres(url, clock=NOW.timestamp)
        await set_up(store, 60)
        killed = [start(url, f"recv.in_txn@{number}:kill9") for number in (5, 9, 14)]
        last = start(url)
        await asyncio.to_thread(begin, killed)
        assert [await asyncio.to_thread(ended, one, 60) for one in killed] == [-signal.SIGKILL] * 3
        await asyncio.to_thread(begin, [last])
        assert await asyncio.to_thread(ended, last, 60) == 0
        await store.close()
        check_fired(url, 60)


@by_night
@pytest.mark.postgres
@pytest.mark.kill
async def test_four_processes_fire_500_jobs_and_one_of_them_is_killed_again_and_again() -> None:
    needs_postgres()
    choice = random.Random(os.environ.get("MNEMA_SEED", "1"))
    with database() as url:
        store = await open_postgres(url, clock=NOW.timestamp)
        await set_up(store, 500, 40)
        workers = [start(url) for _ in range(4)]
        await asyncio.to_thread(begin, workers)
        for _ in range(8):
            await asyncio.sleep(choice.uniform(0.02, 0.3))
            victim = choice.randrange(4)
            workers[victim].process.kill()
            await asyncio.to_thread(workers[victim].process.join)
            workers[victim] = start(url)
            await asyncio.to_thread(begin, [workers[victim]])
        assert [await asyncio.to_thread(ended, one, 60) for one in workers] == [0] * 4
        await store.close()
        check_fired(url, 500)


class Clock:
    """Unix seconds as a test sets them."""

    def __init__(self, at: datetime) -> None:
        self.now = at

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    """Where the store is: a database of PostgreSQL, "" for SQLite."""
    return str(request.getfixturevalue("fresh")) if request.param == "postgres" else ""


@asynccontextmanager
async def opened(folder: Path, clock: Clock, url: str = "") -> AsyncIterator[Store]:
    store = await (
        open_postgres(url, clock=clock) if url else open_store(folder / "m.db", clock=clock)
    )
    try:
        yield store
    finally:
        await store.close()


async def only_job(store: Store) -> JobRow:
    [row] = await store.jobs.of_space("")
    return row


@pytest.mark.parametrize("jump", [timedelta(hours=1), -timedelta(hours=1), -timedelta(days=1)])
async def test_a_clock_that_jumps_fires_each_moment_once(
    tmp_path: Path, url: str, jump: timedelta
) -> None:
    clock = Clock(AT)
    async with opened(tmp_path, clock, url) as store:
        await set_up(store, 1, 1)
        row = await only_job(store)
        every = Schedule(zone="UTC", minutes=10, start=AT.timestamp())
        assert await store.jobs.edit(row, replace(row, schedule=every.to_json()), "me")
        for minute in range(0, 60, 5):
            clock.now = AT + timedelta(minutes=minute) + (jump if 20 < minute < 40 else timedelta())
            fires = ticker(store, clock.now)
            await asyncio.gather(fires.fire_due(), ticker(store, clock.now).fire_due())
        found = await store.jobs.occurrences(row.id, 1_000)
        times = [one.due for one in found]
        assert len(times) == len(set(times))
        assert times == sorted(times, reverse=True)
        assert {one.state for one in found} == {"told"}
        assert (await only_job(store)).next_at > max(times)


@pytest.mark.parametrize(
    ("away", "told"),
    [
        (timedelta(minutes=3), {"say": ("told", "late"), "do": ("run", "late")}),
        (timedelta(hours=3), {"say": ("told", "late"), "do": ("skipped", "late")}),
        (timedelta(days=3), {"say": ("skipped", "late"), "do": ("skipped", "late")}),
    ],
)
async def test_after_an_absence_each_job_has_one_end(
    tmp_path: Path, url: str, away: timedelta, told: dict[str, tuple[str, str]]
) -> None:
    clock = Clock(AT)
    async with opened(tmp_path, clock, url) as store:
        await set_up(store, 2, 1)
        for row in await store.jobs.of_space(""):
            hourly = Schedule(zone="UTC", cron="0 * * * *")
            await store.jobs.edit(row, replace(row, schedule=hourly.to_json()), "me")
        clock.now = AT + away
        while await ticker(store, clock.now).fire_due():
            pass
        for row in await store.jobs.of_space(""):
            [one] = await store.jobs.occurrences(row.id, 10)
            assert (one.state, one.reason) == told[row.kind]
            assert row.next_at > clock()


async def test_a_job_of_a_group_is_told_there_and_that_of_another_space_is_not_found(
    tmp_path: Path,
) -> None:
    clock = Clock(AT)
    async with opened(tmp_path, clock) as store:
        place = Place(
            channel="terminal",
            account="local",
            chat_id="g",
            thread_id="",
            kind="group",
            space="terminal-group-g",
        )
        row = NewInboxRow(place=place, key="k", kind="aside", sender_id="me", body='{"text": "x"}')
        [group] = await store.delivery.accept([row])
        await store.jobs.add(replace(new_job(group.conversation, 1, "say"), space=place.space))
        assert await store.jobs.find("", 1) is None
        clock.now = NOW
        await ticker(store).fire_due()
        assert await store.delivery.unsent() == [group.conversation]


def fired(schedule: Schedule, since: datetime, until: datetime) -> Iterator[datetime]:
    for moment in iter_runs(schedule, since):
        if moment > until:
            return
        yield moment


@given(
    st.sampled_from(ZONES),
    st.sampled_from(
        (
            datetime(2026, 3, 7, tzinfo=UTC),
            datetime(2026, 10, 24, tzinfo=UTC),
            datetime(2026, 4, 3, tzinfo=UTC),
        )
    ),
    st.integers(0, 23),
    st.integers(0, 59),
)
def test_a_daily_job_happens_once_on_each_day_of_its_zone(
    zone: str, since: datetime, hour: int, minute: int
) -> None:
    schedule = Schedule(zone=zone, cron=f"{minute} {hour} * * *")
    moments = list(fired(schedule, since, since + timedelta(days=30)))
    days = [moment.astimezone(load_zone(zone)).date() for moment in moments]
    assert days == sorted(set(days))
    assert len(days) >= 29
    assert [(later - day).days for day, later in pairwise(days)] == [1] * (len(days) - 1)


@given(
    st.sampled_from(ZONES),
    st.integers(0, 1_439),
    st.integers(0, 1_439),
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)),
)
@settings(max_examples=200)
def test_quiet_hours_end_later_and_outside_of_themselves(
    zone: str, begin: int, end: int, at: datetime
) -> None:
    clock = load_zone(zone)
    hours = tuple(f"{minute // 60:02}:{minute % 60:02}" for minute in (begin, end))
    moment = at.replace(tzinfo=UTC)
    until = quiet_until(hours, moment, clock)
    local = f"{moment.astimezone(clock):%H:%M}"
    inside = (
        hours[0] <= local < hours[1]
        if begin < end
        else begin != end and (local >= hours[0] or local < hours[1])
    )
    assert (until is not None) == inside
    if until is not None:
        assert moment < until <= moment + timedelta(hours=25)
        assert (
            quiet_until(hours, until, clock) is None
            or f"{until.astimezone(clock):%H:%M}" != hours[1]
        )


async def test_two_jobs_of_a_chat_come_in_their_order(tmp_path: Path) -> None:
    clock = Clock(AT)
    async with opened(tmp_path, clock) as store:
        await set_up(store, 10, 1)
        clock.now = NOW
        await ticker(store).fire_due()
        [conversation] = await store.delivery.waiting()
        bodies = [
            line.text
            for line in await store.sessions.lines(conversation, limit=50)
            if "thing" in line.text
        ]
        for kind in ("say", "do"):
            own = [text[-9:] for text in bodies if (int(text[-3:]) % 2 == 1) == (kind == "do")]
            assert own == sorted(own)


@pytest.fixture
async def either(url: str, tmp_path: Path) -> AsyncIterator[Store]:
    """A store of each kind, whose clock stands at NOW."""
    clock = Clock(NOW)
    async with opened(tmp_path, clock, url) as store:
        yield store


async def test_runs_end_and_are_tried_again_the_same_in_both_stores(either: Store) -> None:
    await set_up(either, 2, 1)
    fires = ticker(either)
    await fires.fire_due()
    task = next(row for row in await either.jobs.of_space("") if row.kind == "do")
    assert task.state == "done"
    assert await either.job_runs.is_running(task.id)
    assert await fires.runs.settle() == 0
    assert await either.job_runs.count("terminal", "me", AT.timestamp()) == 1
    [begun] = await either.jobs.occurrences(task.id, 1)
    turn = await either.delivery.claim(
        begun.inbox_row,
        NewMessage(role="user", parts=(Text(text="x"),), tokens=1, counter="x", origin="person"),
        "me",
    )
    final = NewMessage(
        role="assistant", parts=(Text(text="[no answer]"),), tokens=1, counter="x", origin="house"
    )
    await either.delivery.finish(turn, "failed", final, [])
    assert await fires.runs.settle() == 1
    again = await either.jobs.load(task.id)
    assert again is not None
    assert (again.state, again.extra, again.retries, again.resumes_at) == ("on", "retry", 1, 0.0)
    assert [(one.state, one.reason) for one in await either.job_runs.outcomes(task.id, 3)] == [
        ("failed", "model")
    ]
    await either.jobs.set_state(again, "done", CANCELLED, 0.0, "me")
    assert (await either.jobs.totals(NOW.timestamp())).open == 0


async def test_a_cancelled_task_is_not_tried_again(either: Store) -> None:
    await set_up(either, 2, 1)
    fires = ticker(either)
    await fires.fire_due()
    task = next(row for row in await either.jobs.of_space("") if row.kind == "do")
    run = RunRow(
        job=task.id,
        due=task.next_at or AT.timestamp(),
        at=0.0,
        inbox_state="done",
        turn_state="",
        told=False,
    )
    await either.jobs.edit(task, task, "me")
    assert (await either.jobs.load(task.id)) == task, "it has ended"
    end = RunEnd(state="failed", reason="model", retry_at=NOW.timestamp() + 300, fails=1)
    hourly = Schedule(zone="UTC", cron="0 * * * *")
    other, _ = await either.jobs.add(new_job(task.conversation, 7, "do", hourly))
    await fires.fire_due()
    await either.jobs.set_state(other, "done", CANCELLED, 0.0, "me")
    assert await either.job_runs.end(replace(run, job=other.id, due=AT.timestamp()), end)
    assert not await either.job_runs.end(replace(run, job=other.id, due=AT.timestamp()), end)
    ended = await either.jobs.load(other.id)
    assert ended is not None
    assert (ended.state, ended.retries) == ("done", 0)


async def test_the_private_chat_of_a_space_on_a_channel_the_same_in_both_stores(
    either: Store,
) -> None:
    def heard(
        channel: str, chat: str, kind: str = "dm", space: str = "", sender: str = "me"
    ) -> NewInboxRow:
        place = Place(
            channel=channel, account="a", chat_id=chat, thread_id="", kind=kind, space=space
        )
        return NewInboxRow(
            place=place,
            key=f"{channel} {chat}",
            kind="message",
            sender_id=sender,
            body='{"text": "x"}',
        )

    rows = [
        heard("web", "c1"),
        heard("telegram", "c1", sender="5"),
        heard("telegram", "g1", "group", "telegram-group-g1"),
        heard("feishu", "ou_1", space="feishu-dm-ou_1", sender="ou_1"),
    ]
    made_here = await either.delivery.accept(rows)
    assert await either.jobs.private_chat("", "telegram") == made_here[1].conversation
    assert await either.jobs.person_of_chat(made_here[1].conversation) == "5"
    assert await either.jobs.private_chat("telegram-group-g1", "telegram") == ""
    assert await either.jobs.private_chat("", "feishu") == ""
    assert await either.jobs.private_chat("feishu-dm-ou_1", "feishu") == made_here[3].conversation
    assert await either.jobs.person_of_chat("nobody") == ""


async def test_settings_and_beats_are_stored_the_same_in_both_stores(either: Store) -> None:
    setting = JobSetting(
        channel="telegram", account="bot", person="u1", space="telegram-u1", zone="Asia/Shanghai"
    )
    await either.jobs.save_setting(setting)
    await either.jobs.save_setting(replace(setting, quiet="off"))
    assert await either.jobs.setting("telegram", "bot", "u1") == replace(setting, quiet="off")
    assert await either.jobs.settings() == [replace(setting, quiet="off")]
    assert await either.jobs.setting("telegram", "bot", "u2") is None
    assert await either.heartbeats.state("") is None
    assert await either.heartbeats.last_heard("") == 0.0
    await set_up(either, 1, 1)
    assert await either.jobs.held_sources((await either.jobs.of_space(""))[0].conversation) == set()
    await either.heartbeats.add(NewBeat(space="", decision="silent", sha256="aa", tokens=5))
    await either.heartbeats.set_state(NewBeat(space="", decision="paused", reason="key"), "me")
    state = await either.heartbeats.state("")
    assert state is not None
    assert (state.decision, state.reason, state.at) == ("paused", "key", NOW.timestamp())
    assert [beat.sha256 for beat in await either.heartbeats.beats("", 5)] == ["aa"]
    assert [beat.tokens for beat in await either.heartbeats.since("", NOW.timestamp())] == [5]
