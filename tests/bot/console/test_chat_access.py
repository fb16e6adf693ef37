"""Another person's private chat is read in the console by the owner only, and each reading is in
the audit list.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.console.transcripts import ReadingAudit
from channels.web.requests import HttpRefusal
from memory.store.errors import StoreBusy
from memory.store.rows import ConversationRow, Place
from tests.browser.real import ANN, GROUP, OWNER, real_bot
from tests.channels.web.server import TOKEN
from tests.channels.web.streams import sent_events

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def row(id: str, kind: str = "dm", space: str = "telegram-ann") -> ConversationRow:
    place = Place(channel="telegram", account="1", chat_id=id, thread_id="", kind=kind, space=space)
    return ConversationRow(
        id=id,
        place=place,
        epoch=1,
        next_seq=1,
        next_turn=1,
        view_from=1,
        fold_head="",
        title="",
        turns=0,
        updated=NOON,
        policy="",
        model="",
        own_space=space,
    )


@dataclass
class Desk:
    """A log of readings over a list, with a clock that is set. broken: the audit list cannot be
    written.
    """

    rows: list[tuple[str, ...]] = field(default_factory=list)
    now: float = 0.0
    broken: bool = False
    allowed: Callable[[str], bool] = lambda action: action == "chat.read.other"

    def __post_init__(self) -> None:
        self.log = ReadingAudit(self._note, self.allowed, lambda: self.now)

    async def _note(self, *act: str) -> None:
        await asyncio.sleep(0)
        if self.broken:
            raise StoreBusy("held")
        self.rows.append(act)


async def test_the_calls_of_one_opening_are_one_row_and_polls_add_none() -> None:
    desk = Desk()
    await asyncio.gather(*(desk.log.check(row("ann"), "login-1") for _ in range(5)))
    for _ in range(100):
        desk.now += 299
        await desk.log.check(row("ann"), "login-1")
    assert desk.rows == [("chat.read.other", "ann", "read", "console")]


async def test_a_pause_a_press_another_login_and_another_chat_are_readings_of_their_own() -> None:
    desk = Desk()
    await desk.log.check(row("ann"), "login-1", pressed=True)
    await desk.log.check(row("ann"), "login-1")
    await desk.log.check(row("ann"), "login-1", pressed=True)
    await desk.log.check(row("ann"), "login-2")
    await desk.log.check(row("bob"), "login-1")
    desk.now += 301
    await desk.log.check(row("ann"), "login-1")
    assert [(subject, result) for _, subject, result, _ in desk.rows] == [
        ("ann", "opened"), ("ann", "opened"), ("ann", "read"), ("bob", "read"), ("ann", "read"),
    ]  # fmt: skip


async def test_ones_own_chats_and_groups_are_read_without_a_row() -> None:
    desk = Desk(allowed=lambda action: False)
    await desk.log.check(row("mine", space=""), "login-1", pressed=True)
    await desk.log.check(
        row("tea", kind="group", space="telegram-group-tea"), "login-1", pressed=True
    )
    assert desk.rows == []


async def test_what_may_not_be_read_or_cannot_be_written_down_is_not_read() -> None:
    with pytest.raises(HttpRefusal) as refused:
        await Desk(allowed=lambda action: False).log.check(row("ann"), "login-1")
    assert refused.value.status == 403
    desk = Desk(broken=True)
    for _ in range(2):
        with pytest.raises(HttpRefusal) as failed:
            await desk.log.check(row("ann"), "login-1")
        assert failed.value.status == 503
    desk.broken = False
    await desk.log.check(row("ann"), "login-1")
    assert len(desk.rows) == 1


async def test_of_too_many_readings_at_once_the_oldest_costs_one_more_row() -> None:
    desk = Desk()
    for number in range(1_001):
        await desk.log.check(row(f"c{number}"), "login-1")
    assert len(desk.rows) == 1_001
    await desk.log.check(row("c1000"), "login-1")
    assert len(desk.rows) == 1_001
    await desk.log.check(row("c0"), "login-1")
    assert len(desk.rows) == 1_002


async def test_every_route_that_reads_is_audited_and_none_shows_their_words_before(
    tmp_path: Path,
) -> None:
    async with real_bot(tmp_path, lambda asked: "yes") as real, real.site.client() as client:
        real.telegram.hear("my secret", chat=ANN, sender=ANN)
        real.telegram.hear("mine", chat=OWNER, sender=OWNER)
        real.telegram.hear("hello all", chat=GROUP, sender=ANN, kind="group", addressed=True)
        await real.telegram.until(lambda: len(real.telegram.sent) == 3)
        told = await client.get("/api/conversations")
        assert "secret" not in told.text
        ids = {one["whose"]: one["id"] for one in told.json()["conversations"]}
        assert set(ids) == {"own", "group", "other"}
        assert [
            one["id"]
            for one in (await client.get("/api/conversations?own=1")).json()["conversations"]
        ] == [ids["own"]]
        for whose in ("own", "group"):
            assert (
                await client.get(f"/api/conversations/{ids[whose]}/messages")
            ).status_code == 200
        ann = f"/api/v1/conversations/{ids['other']}"
        assert "secret" not in (await client.get(ann)).text
        assert await real.audited("chat.read.other") == []

        assert "my secret" in (await client.get(f"{ann}/messages")).text
        for path in (
            "context",
            "trace",
            "views",
            "views/1",
            "views/1/diff/1",
            "messages?limit=1",
            "messages?before=2",
        ):
            assert (await client.get(f"{ann}/{path}")).status_code == 200
        async with aclosing(sent_events(client, f"{ann}/events")) as stream:
            assert "my secret" in (await anext(stream))["data"]
        assert await real.audited("chat.read.other") == [("console", ids["other"])]
        assert (await client.post(f"{ann}/open", json={})).status_code == 200
        assert len(await real.audited("chat.read.other")) == 2


@pytest.mark.parametrize(
    "path", ["messages", "context", "trace", "views/1", "events", "/api/events?conversation="]
)
async def test_each_route_alone_writes_the_row(tmp_path: Path, path: str) -> None:
    async with real_bot(tmp_path, lambda asked: "yes") as real, real.site.nobody() as browser:
        real.telegram.hear("my secret", chat=ANN, sender=ANN)
        await real.telegram.until(lambda: len(real.telegram.sent) == 1)
        await browser.post("/login", json={"token": TOKEN})
        [ann] = [
            one["id"] for one in (await browser.get("/api/conversations")).json()["conversations"]
        ]
        where = f"{path}{ann}" if path.startswith("/") else f"/api/v1/conversations/{ann}/{path}"
        async with browser.stream("GET", where) as answer:
            assert answer.status_code == 200
        assert await real.audited("chat.read.other") == [("console", ann)]
