"""Old data is removed at night, in small steps, and nothing that is still in use."""

import asyncio
import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.runtime.scheduler import RetentionJob
from memory.store.automation.file_versions import NewFileVersion
from memory.store.rows import Usage
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from tests.contracts.store_views_suite import one_call
from tests.contracts.store_words import arrival, begin, folded, talk
from tests.memory.store.conftest import SqliteRecord, record  # noqa: F401  a fixture

DAY = 86_400.0


def night(record: SqliteRecord, **more: float) -> tuple[RetentionJob, datetime]:  # noqa: F811
    data = record.path.parent
    [store] = record.opened
    return RetentionJob(
        store=store, blobs=Blobs(data / "blobs"), data=data, **more
    ), datetime.fromtimestamp(record.now, UTC)


async def rows(store: Store, table: str) -> int:
    found = (
        await store.database.read(
            lambda tx: tx.driver.run(f"SELECT count(*) AS n FROM {table}", [])
        )
    ).all()
    return int(found[0]["n"])


async def test_I26_what_nobody_wrote_in_goes_whole_and_the_others_stay(
    record: SqliteRecord,  # noqa: F811
) -> None:  # noqa: F811, RUF100
    store = await record.open()
    old = await talk(store, *(str(number) for number in range(130)), chat="old")
    await folded(store, old, 20)
    await folded(store, old, 20)
    await store.sessions.spend(old, [Usage(model="m", input=1, output=1)])
    record.now += 31 * DAY
    fresh = await talk(store, "n1", "n2", chat="fresh")
    retention, now = night(record)
    assert (await retention.run(30, now, 30))["conversations"] == 1
    assert await store.sessions.conversation(old) is None
    assert [row.id for row in await store.sessions.conversations()] == [fresh]
    assert await rows(store, "message") == 4
    for table in ("fold", "coverage", "clearing", "removal"):
        assert await rows(store, table) == 0
    assert await store.sessions.usage(datetime.fromtimestamp(0, UTC), old) == []
    assert await store.folds.check_ledger() == []
    assert (await store.audit.acts(1))[0].actor == "retention"
    assert await store.audit.fault() is None
    assert not any((await retention.run(30, now, 30)).values())


async def test_past_views_go_after_their_own_days_and_all_of_them_where_they_are_off(
    record: SqliteRecord,  # noqa: F811
) -> None:
    store = await record.open()
    home = await one_call(store, "k1", record.now)
    record.now += 8 * DAY
    await one_call(store, "k2", record.now)
    retention, now = night(record)
    # the call and its suffix; the persona is still used
    assert (await retention.run(0, now, 7))["views"] == 2
    assert [row.number for row in await store.views.page(home)] == [2]
    record.now += 1.0
    assert (await retention.run(0, now + timedelta(seconds=1), 0))["views"] >= 1
    assert await store.views.page(home) == []


async def test_I36_the_ledger_holds_between_any_two_steps_and_whoever_writes_meanwhile_is_kept(
    record: SqliteRecord,  # noqa: F811
) -> None:
    store = await record.open()
    old = await talk(store, *(str(number) for number in range(40)), chat="old")
    await folded(store, old, 10)
    record.now += 31 * DAY
    before = record.now - DAY
    for _ in range(3):
        assert await store.retention.delete_oldest_turns(old, before, 5) == "left"
        assert await store.folds.check_ledger() == []
        assert (await store.sessions.load(old)).turns == ()
    assert await rows(store, "turn") == 25
    turn = await begin(store, "late", chat="old", text="I am back")
    assert turn.conversation == old
    assert await store.retention.delete_oldest_turns(old, before, 5) == "awake"
    session = await store.sessions.load(old)
    assert [held.messages[0].id for held in session.turns] == [turn.inbox_id]
    assert await store.folds.check_ledger() == []
    assert await rows(store, "turn") == 26


async def test_a_message_that_waits_keeps_its_conversation(record: SqliteRecord) -> None:  # noqa: F811
    store = await record.open()
    await store.delivery.accept([arrival("w")])
    record.now += 400 * DAY
    retention, now = night(record)
    assert (await retention.run(1, now, 30))["conversations"] == 0
    assert len(await store.delivery.waiting()) == 1


async def test_a_night_ends_in_time_and_the_next_goes_on(record: SqliteRecord) -> None:  # noqa: F811
    store = await record.open()
    for chat in ("a", "b", "c"):
        await talk(store, f"{chat}1", f"{chat}2", chat=chat)
    record.now += 31 * DAY
    ticks = iter(range(1_000))
    short, now = night(record)
    short = RetentionJob(
        store=store,
        blobs=short.blobs,
        data=short.data,
        clock=lambda: float(next(ticks)),
        max_seconds=4.0,
    )
    first = (await short.run(30, now, 30))["conversations"]
    assert 1 <= first < 3
    longer, _ = night(record)
    assert (await longer.run(30, now, 30))["conversations"] == 3 - first


async def test_nothing_is_too_old_where_no_days_are_set(record: SqliteRecord) -> None:  # noqa: F811
    store = await record.open()
    await talk(store, "1")
    copy = record.path.with_name("mnema.db.before-r0002-from-r0001")
    copy.write_bytes(b"x")
    os.utime(copy, (1, 1))
    record.now += 4_000 * DAY
    retention, now = night(record)
    assert not any((await retention.run(0, now, 30)).values())
    assert copy.exists()
    assert (await retention.run(3_000, now, 30))["copies"] == 1
    assert not copy.exists()


async def test_counts_of_tokens_stay_for_what_usage_tells(record: SqliteRecord) -> None:  # noqa: F811
    store = await record.open()
    home = await talk(store, "1")
    await store.sessions.spend(home, [Usage(model="m", input=1, output=1, purpose="fold")])
    for days, left in ((20, 1), (20, 0)):
        record.now += days * DAY
        await talk(store, f"again {days} {left}")
        retention, now = night(record)
        await retention.run(10, now, 30)
        kept = await store.sessions.usage(datetime.fromtimestamp(0, UTC), home)
        assert sum(one.input for one in kept if one.purpose == "fold") == left


async def test_files_that_no_row_names_go_after_a_day_and_no_other(record: SqliteRecord) -> None:  # noqa: F811
    store = await record.open()
    folder = record.path.parent / "blobs"
    blobs = Blobs(folder)
    record.now = time.time()
    names = [blobs.put(data) for data in (b"named", b"orphan", b"new orphan", b"put again")]
    body = f'{{"text": "see", "files": [["{names[0]}", "f", "text/plain", 5, ""]]}}'
    await store.delivery.accept([replace(arrival("f"), body=body)])
    for name in (names[0], names[1], names[3]):
        os.utime(folder / name, (record.now - 2 * DAY, record.now - 2 * DAY))
    os.utime(folder / names[2], (record.now - 0.9 * DAY, record.now - 0.9 * DAY))
    assert blobs.put(b"put again") == names[3]
    retention, now = night(record)
    assert (await retention.run(0, now, 30))["files"] == 1
    assert blobs.older(1e12) == {names[0], names[2], names[3]}


async def test_former_versions_of_files_go_after_thirty_days(record: SqliteRecord) -> None:  # noqa: F811
    store = await record.open()
    name = Blobs(record.path.parent / "blobs").put(b"former")
    await store.file_versions.keep("", "call", [NewFileVersion(path="a.md", sha256=name, size=6)])
    record.now += 29 * DAY
    assert (await night(record)[0].run(0, night(record)[1], 30))["rows"] == 0
    record.now += 2 * DAY
    assert (await night(record)[0].run(0, night(record)[1], 30))["rows"] == 1
    assert await store.file_versions.load("", "a.md") == []


async def test_a_file_that_is_put_again_while_it_is_looked_for_stays(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    name = blobs.put(b"twice")
    os.utime(tmp_path / "blobs" / name, (1, 1))
    assert blobs.older(1_000.0) == {name}
    await asyncio.to_thread(blobs.put, b"twice")
    assert not blobs.remove_older(name, 1_000.0)
    assert blobs.get(name) == b"twice"
