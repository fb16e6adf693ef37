"""Every cache with a bound, at its bound and one more with all of it in use: nothing that is needed
is dropped.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bot.access.storage_quota import StorageQuota
from bot.agent.context.calibration import TokenCalibration
from bot.agent.folding import ToolLineWriter
from bot.agent.prompt.builder import SystemPromptBuilder
from bot.agent.prompt.persona import PersonaFiles
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.gateway.channel_status import ChannelStatus
from bot.gateway.gateway import RateLimiter
from bot.gateway.notifications import OwnerNotifier
from bot.runtime.cluster.events import EventBus, pack_events, unpack_events
from channels.message import Address, EventName, LiveEvent
from channels.phrases import AnyPhrase, Phrase
from memory.context.tokens import WEIGHTED
from memory.store.open import open_store
from memory.store.rows import ConversationRow, Place, PromptSnapshot
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace
from tests.bot.agent.test_tool_lines import place
from tests.contracts.store_words import talk


def test_rates_of_ten_thousand_and_one_chats_in_line_forget_no_one_in_line() -> None:
    rates = RateLimiter(per_chat=1.0, total=0.0)
    for chat in range(10_001):
        waits = [rates.book(str(chat), 0.0) for _ in range(5)]
    assert waits == [0.0, 0.0, 0.0, 1.0, 2.0]
    assert [rates.book(str(chat), 0.0) for chat in (0, 5_000, 10_000)] == [3.0, 3.0, 3.0]


def test_rates_forget_chats_that_are_quiet_again() -> None:
    rates = RateLimiter(per_chat=1.0, total=0.0)
    for chat in range(20_000):
        rates.book(str(chat), chat * 0.01)
    assert len(rates._chats) <= 10_001


async def test_lines_being_written_for_a_thousand_and_one_conversations_are_all_kept() -> None:
    go_on = asyncio.Event()

    async def tell(system: str, prompt: str, most: int, conversation: str) -> str:
        await go_on.wait()
        return json.dumps({"1": "The gate opens at 06:30"})

    lines, names = ToolLineWriter(tell), [f"c{number}" for number in range(1_001)]
    for name in names:
        lines.begin(name, [place(1)])
    go_on.set()
    await lines.settled()
    assert [name for name in names if not lines.lines(name)] == []


async def test_prompts_being_made_for_a_thousand_and_one_conversations_are_all_recorded(
    tmp_path: Path,
) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    store = await open_store(home.db)
    session = await store.sessions.load(await talk(store, "1"))
    await store.close()
    recorded: dict[str, PromptSnapshot] = {}

    async def none(conversation: str) -> None:
        return None

    async def record(conversation: str, snapshot: PromptSnapshot, reason: str, mark: None) -> int:
        recorded[conversation] = snapshot
        return 0

    noted: Any = SimpleNamespace(sessions=SimpleNamespace(snapshot=none, set_snapshot=record))
    persona = PersonaFiles(Workspace(home.workspace), lambda space: (), lambda: ["web"])
    prompt = SystemPromptBuilder(persona, noted, lambda: datetime(2026, 11, 20, tzinfo=UTC))
    names = [f"c{number}" for number in range(1_001)]
    for name in names:
        await prompt.load(replace(session, conversation=name), 50_000, WEIGHTED)
    for name in names:
        await prompt.store_snapshot(name)
    assert sorted(recorded) == sorted(names)


def event(name: EventName, number: int) -> LiveEvent:
    address = Address(channel="web", account="console", chat_id=f"c{number}")
    return LiveEvent(
        address=address, name=name, message_id=f"m{number}", text="x" if name == "delta" else ""
    )


def test_with_two_thousand_pieces_waiting_the_end_of_an_answer_is_still_told() -> None:
    bus = EventBus(None, "", lambda event: None)  # type: ignore[arg-type]
    for number in range(2_001):
        bus.publish(event("delta", number))
    bus.publish(event("reply", 0))
    assert len(bus._pending) == 2_001
    assert bus._pending[-1].name == "reply"


def test_a_notification_that_cannot_be_read_is_left_out_and_the_next_one_is_heard() -> None:
    [sound] = pack_events("other", [event("reply", 1)])
    for strange in (
        "",
        "[]",
        "{}",
        '{"from":"other","events":[{"shape":"of another version"}]}',
        '{"from":"other"}',
    ):
        assert unpack_events(strange, "ours") == []
    assert [one.name for one in unpack_events(sound, "ours")] == ["reply"]
    assert unpack_events(sound, "other") == []


async def test_an_owner_who_wrote_before_a_thousand_others_is_told_all_the_same() -> None:
    def row(id: str, space: str) -> ConversationRow:
        where = Place(
            channel="telegram", account="a", chat_id=id, thread_id="", kind="dm", space=space
        )
        return ConversationRow(
            id=id,
            place=where,
            epoch=1,
            next_seq=1,
            next_turn=1,
            view_from=1,
            fold_head="",
            title="",
            turns=0,
            updated=datetime(2026, 11, 20, tzinfo=UTC),
            policy="",
            model="",
            own_space=space,
        )

    rows = [*(row(f"c{number}", f"telegram-{number}") for number in range(1_001)), row("owner", "")]
    told: list[str] = []
    looked_up: list[int] = []

    async def conversations(channel: str = "", limit: int = 200) -> Sequence[ConversationRow]:
        looked_up.append(limit)
        return rows[:limit]

    async def tell(conversation: str, notice: AnyPhrase, once: str) -> None:
        told.append(conversation)

    sessions: Any = SimpleNamespace(conversations=conversations)
    well = ChannelStatus(name="telegram", phase="up", since=0.0)
    chat = OwnerNotifier(sessions=sessions, states=lambda: {"telegram": well}, notify=tell)
    await chat("wechat", Phrase("en"))
    assert told == ["owner"]
    looked_up.clear()
    for key in (
        "a limit of the day",
        *(f"limit {number}" for number in range(1_001)),
        "a limit of the day",
    ):
        for _ in range(3):
            await chat("wechat", Phrase("en"), key)
    assert len(told) == 1 + 1_003
    assert len(looked_up) == 2 * 1_003  # each key once, not for each report


def test_of_ten_thousand_and_one_conversations_only_the_oldest_share_of_the_cache_is_forgotten() -> (  # noqa: E501
    None
):
    known = TokenCalibration(SimpleNamespace())  # type: ignore[arg-type]
    for number in range(10_001):
        known.note_cache(f"c{number}", 1, 2)
    assert len(known.shares) == 10_000
    assert "c0" not in known.shares


async def test_a_factor_learnt_while_its_row_is_read_is_not_replaced_by_what_was_read() -> None:
    reading, go_on = asyncio.Event(), asyncio.Event()

    async def factor(row: str) -> tuple[float, int, float]:
        if not reading.is_set():
            reading.set()
            await go_on.wait()
        return (1.0, 0, 0.0)

    async def set_factors(changed: Any) -> None:
        return None

    known = TokenCalibration(SimpleNamespace(factor=factor, set_factors=set_factors))  # type: ignore[arg-type]
    late = asyncio.create_task(known.factor("m"))
    await reading.wait()
    await known.learn("m", 10_000, 12_000)
    go_on.set()
    await late
    assert (await known.factor("m"))[1] == 1


async def test_of_ten_thousand_and_one_counted_spaces_only_the_oldest_is_counted_again(
    tmp_path: Path,
) -> None:
    counted: list[str] = []

    async def linked_space(space: str) -> str:
        return space

    async def members(space: str) -> list[str]:
        counted.append(space)
        return []

    async def nobody(*told: object) -> None:
        return None

    kept_in: Any = SimpleNamespace(
        links=SimpleNamespace(linked_space=linked_space, members=members)
    )
    config = Config.model_validate({"budgets": {"total": {"storage_mb": 0}}})
    storage = StorageQuota(
        kept_in,
        Blobs(tmp_path / "blobs"),
        Workspace(tmp_path),
        lambda: config,
        lambda: datetime(2026, 11, 20, tzinfo=UTC),
        nobody,
    )
    for number in range(10_001):
        await storage.take(f"s{number}", 1)
    for number in (5_000, 10_000, 0):
        await storage.take(f"s{number}", 1)
    assert len(counted) == 10_002
    assert counted[-1] == "s0"
