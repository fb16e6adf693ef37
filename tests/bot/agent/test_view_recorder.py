"""What a turn's calls showed waits for a commit, and is stored once."""

import asyncio
import time
from pathlib import Path

import pytest

from bot.agent.context.recorder import MAX_PENDING_TURNS, ViewRecorder
from bot.config.schema import Config
from memory.store.errors import StoreFull
from memory.store.longterm.views import MAX_RECALLED, RecalledPlace, dump_recalled, load_recalled
from tests.bot.inside import inside

PLACE = (RecalledPlace(path="MEMORY.md", line=1, last=1),)


def given(
    recorder: ViewRecorder, turn: str, err: BaseException | None = None
) -> tuple[RecalledPlace, ...]:
    """What is given to be stored with a commit, which may raise."""
    with recorder.storing(turn) as batch:
        if err is not None:
            raise err
    return batch.recalled


def test_what_the_store_refused_waits_and_what_was_cancelled_in_its_commit_does_not() -> None:
    recorder = ViewRecorder(Config, lambda: 0.0)
    recorder.note_recalled("t", PLACE)
    with pytest.raises(StoreFull):
        given(recorder, "t", StoreFull("full"))
    assert given(recorder, "t") == PLACE
    assert given(recorder, "t") == ()
    recorder.note_recalled("t", PLACE)
    with pytest.raises(asyncio.CancelledError):
        given(recorder, "t", asyncio.CancelledError())
    assert given(recorder, "t") == ()


def test_of_more_turns_than_run_at_once_the_oldest_is_left_out() -> None:
    recorder = ViewRecorder(Config, lambda: 0.0)
    for number in range(MAX_PENDING_TURNS + 1):
        recorder.note_recalled(str(number), PLACE)
    assert [given(recorder, str(number)) for number in (0, 1, MAX_PENDING_TURNS)] == [
        (),
        PLACE,
        PLACE,
    ]


def test_of_more_places_than_a_turn_shows_the_first_are_stored() -> None:
    places = tuple(
        RecalledPlace(conversation="c", turn=number) for number in range(MAX_RECALLED + 1)
    )
    assert load_recalled(dump_recalled(places)) == places[:MAX_RECALLED]


async def test_texts_that_only_one_turn_shows_are_not_remembered(tmp_path: Path) -> None:
    minutes = [0]
    async with inside(
        tmp_path, lambda asked: "Yes.", clock=lambda: time.time() + 60 * minutes[0]
    ) as it:
        await it.say("Hello.")
        known = set(it.bot.view_recorder._known)
        for minutes[0] in range(1, 4):
            await it.say(f"Hello {minutes[0]}.")
        assert known == set(it.bot.view_recorder._known) != set()
