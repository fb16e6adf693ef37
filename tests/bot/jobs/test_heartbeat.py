"""The heartbeat: silent by default, free while nothing changes, and paused when it talks or fails
too much.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import KeyRefused, QuotaSpent, Transient
from bot.jobs.heartbeat import IDLE_AFTER, MAX_DUE, MAX_STEPS, cut_tail, has_task
from bot.models.base import Answer, Request, TokensUsed
from memory.conversation import Text
from tests.bot.inside import Inside, inside
from tests.bot.jobs.clock import ZONE, Clock, notices
from tests.bot.talk import Held, call, words
from tests.cases import every_case

SETTINGS: dict[str, Any] = ZONE | {"heartbeat": {"every": 30}}
HOUR = 3_600


def write(folder: Path, text: str = "- Tell me when the roses need water.") -> None:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    (workspace / "HEARTBEAT.md").write_text(f"# Heartbeat\n\n{text}\n", "utf-8")


async def beats(it: Inside, clock: Clock, hours: float) -> list[str]:
    """Beat each half an hour; what each came to."""
    found = []
    for _ in range(int(hours * 2)):
        clock.at += HOUR / 2
        beat = await it.bot.heartbeat.beat()
        found.append(f"{beat.decision} {beat.reason}".strip())
    return found


def silent_then(tell: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """Answers people with a greeting, and beats with `tell`."""
    return lambda asked: tell(asked) if asked.purpose == "heartbeat" else "hi"


def asked(it: Inside) -> list[Request]:
    return [request for request in it.model.requests if request.purpose == "heartbeat"]


async def test_a_day_without_a_change_costs_one_call_and_then_none(tmp_path: Path) -> None:
    write(tmp_path)
    clock = Clock()
    async with inside(
        tmp_path, silent_then(lambda _: "Nothing to say."), SETTINGS, clock=clock
    ) as it:
        await it.text("hello")
        await it.text("/remind daily 9:00 stretch")
        clock.at += HOUR / 2
        assert (await it.bot.heartbeat.beat()).decision == "silent"
        assert len(asked(it)) == 1
        found = await beats(it, clock, 24)
        assert set(found) == {"skipped unchanged", "skipped quiet"}
        assert len(asked(it)) == 1
        assert notices(it, "💓") == []
        assert "Nothing to say." not in [sent.text for sent in it.channel.sent], (
            "other text is dropped"
        )
        write(tmp_path, "- Something new.")
        assert (await it.bot.heartbeat.beat()).decision == "silent"
        assert "Something new." in "".join(words(asked(it)[-1]))
        assert "09:00 stretch" in "".join(words(asked(it)[-1]))
        assert "hello" not in "".join(words(asked(it)[-1])), "never the chat"


async def test_so_many_due_items_are_shown_and_no_more(tmp_path: Path) -> None:
    write(tmp_path)
    async with inside(tmp_path, silent_then(lambda _: "Nothing."), SETTINGS, clock=Clock()) as it:
        for number in range(MAX_DUE + 1):
            await it.text(f"/remind {20 + number}m rose-{number}.")
        await it.bot.heartbeat.beat()
        shown = "".join(words(asked(it)[-1]))
        assert [f"rose-{number}." in shown for number in range(MAX_DUE + 1)] == [True] * MAX_DUE + [
            False
        ]


async def test_one_that_always_talks_is_paused_after_the_notices_of_a_day(tmp_path: Path) -> None:
    clock, numbers = Clock(), iter(range(100))
    tell = silent_then(lambda _: call("notify", text=f"Water them, {next(numbers)}."))
    async with inside(tmp_path, tell, SETTINGS, clock=clock) as it:
        await it.text("hello")
        for number in range(5):
            write(tmp_path, f"- {number}")
            await beats(it, clock, 0.5)
        await it.bot.settled()
        assert notices(it, "💓") == [f"💓 Water them, {number}." for number in range(3)]
        assert len(notices(it, "paused")) == 1
        assert len(asked(it)) == 4
        assert (
            await it.text("/heartbeat") == "The heartbeat: paused (the daily notices are used up)"
        )
        assert "every 30 min" in await it.text("/heartbeat on")


async def test_a_notice_is_not_repeated_within_a_day_and_three_alike_pause(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(
        tmp_path, silent_then(lambda _: call("notify", text="Water!")), SETTINGS, clock=clock
    ) as it:
        await it.text("hello")
        write(tmp_path, "- 1")
        assert await beats(it, clock, 0.5) == ["told"]
        assert await beats(it, clock, 1) == ["dropped", "skipped unchanged"]
        write(tmp_path, "- 2")
        assert await beats(it, clock, 1) == ["dropped", "skipped paused"]
        await it.bot.settled()
        assert notices(it, "💓") == ["💓 Water!"]


async def test_one_that_calls_a_tool_for_ever_ends_at_its_steps(tmp_path: Path) -> None:
    write(tmp_path)
    clock = Clock()
    async with inside(
        tmp_path, silent_then(lambda _: call("web_fetch", url="https://x")), SETTINGS, clock=clock
    ) as it:
        await it.text("hello")
        assert await beats(it, clock, 1) == ["failed steps"] * 2
        assert len(asked(it)) == 2 * MAX_STEPS
        assert await beats(it, clock, 1) == ["paused steps", "skipped paused"]


@pytest.mark.parametrize("error", [KeyRefused("no", status=401), QuotaSpent("spent", status=402)])
async def test_a_refused_key_or_a_spent_quota_pauses_at_once(
    tmp_path: Path, error: Exception
) -> None:
    write(tmp_path)
    clock = Clock()
    async with inside(tmp_path, silent_then(lambda _: [error]), SETTINGS, clock=clock) as it:
        await it.text("hello")
        assert await beats(it, clock, 2) == ["paused key", *["skipped paused"] * 3]
        assert len(asked(it)) == 1
        await it.channel.until(lambda: len(notices(it, "paused")) == 1)


async def test_a_model_that_is_away_pauses_it_after_three_times(tmp_path: Path) -> None:
    write(tmp_path)
    clock = Clock()
    async with inside(
        tmp_path, silent_then(lambda _: [Transient("away", status=400)]), SETTINGS, clock=clock
    ) as it:
        await it.text("hello")
        it.bot.models.use(it.model)
        found = await beats(it, clock, 2)
        assert found == ["failed model", "failed model", "paused model", "skipped paused"]


async def test_nobody_is_watched_who_has_not_written_for_a_week(tmp_path: Path) -> None:
    write(tmp_path)
    clock = Clock()
    async with inside(tmp_path, silent_then(lambda _: "x"), SETTINGS, clock=clock) as it:
        await it.text("hello")
        await it.text("/remind do daily 9:00 look")
        clock.at += IDLE_AFTER.total_seconds() + 60
        await it.bot.ticker.fire_due()
        await it.bot.settled()
        clock.set("2026-12-04T12:00")
        assert await beats(it, clock, 1) == ["skipped idle"] * 2, (
            "its own task is no message of the person"
        )
        assert asked(it) == []
        await it.text("back again")
        assert await beats(it, clock, 0.5) == ["silent"]


async def test_it_is_silent_in_quiet_hours_while_a_turn_runs_and_over_its_share(
    tmp_path: Path,
) -> None:
    write(tmp_path)
    clock = Clock()

    def costly(_: Request) -> Any:
        return [
            Answer(
                parts=(Text(text="-"),),
                stop="end",
                usage=TokensUsed(input=900, output=101),
                model="m",
            )
        ]

    settings = SETTINGS | {
        "heartbeat": {"every": 30, "day_share": 0.001},
        "budgets": {"user": {"tokens_per_day": 1_000_000}},
    }
    async with inside(tmp_path, silent_then(costly), settings, clock=clock) as it:
        await it.text("hello")
        assert await beats(it, clock, 0.5) == ["silent"]
        write(tmp_path, "- new")
        assert await beats(it, clock, 0.5) == ["skipped share"]
        clock.set("2026-11-26T23:00")
        assert (await it.bot.heartbeat.beat()).reason == "quiet"
        clock.set("2026-11-27T09:00")
        model = Held(lambda _: "at last", lambda request: request.purpose == "turn")
        it.bot.models.use(model)
        it.channel.hear("think", chat="c1", key="k9")
        await model.begun.wait()
        assert (await it.bot.heartbeat.beat()).reason == "busy"
        model.go_on.set()
        await it.answer("k9")
        assert (await it.bot.heartbeat.beat()).decision == "silent"


async def test_the_command_turns_it_on_and_off_beats_now_and_shows_the_last(tmp_path: Path) -> None:
    clock = Clock()
    async with inside(tmp_path, silent_then(lambda _: "x"), ZONE, clock=clock) as it:
        await it.text("hello")
        assert "set heartbeat.every" in await it.text("/heartbeat")
        assert "is empty" in await it.text("/heartbeat now")
        assert "not been asked" in await it.text("/heartbeat last")
        write(tmp_path)
        assert await it.text("/heartbeat now") == "nothing to say"
        assert "nothing to say, inputs " in await it.text("/heartbeat last")
        assert await it.text("/heartbeat off") == "The heartbeat: off"
        assert (await it.bot.heartbeat.beat()).reason == "zero"
        assert "没有要说的" in await it.text("/心跳 现在")
        assert "用法" in await it.text("/心跳 x")


@every_case(
    ("text", "holds"),
    [
        ("", False),
        ("# Title\n\n", False),
        ("<!-- a\nb -->\n", False),
        ("<!-- a -->\n- x", True),
        ("<!-- a\n- x\n-->\nwater", True),
    ],
)
def test_only_a_line_that_is_no_blank_heading_or_comment_counts(text: str, holds: bool) -> None:
    assert has_task(text) is holds


@given(st.lists(st.text(max_size=30)), st.integers(0, 200))
def test_the_tail_is_whole_lines_within_its_tokens(lines: list[str], most: int) -> None:
    text = "\n".join(lines)
    tail = cut_tail(text, most)
    whole = text.splitlines()
    kept = tail.splitlines()
    assert not kept or whole[-len(kept) :] == kept
    assert len(tail) <= most * 2.5 + 1
