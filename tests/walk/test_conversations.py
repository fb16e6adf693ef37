"""What people do on each platform with a running bot, judged by what they see there."""

import io
import os
import re
import time
from pathlib import Path

import pytest
from PIL import Image

from memory.store.rows import HELD_UNTIL_REPLY
from tests.by_night import by_night
from tests.emulators.model_replies import Reply, is_fold
from tests.walk.conversation_model import CODE, FACT, HALF, ROWS, pictures, step
from tests.walk.conversation_phones import PHONES, WechatMpPhone
from tests.walk.conversation_talk import Talk, talking, written_anywhere
from tests.walk.harness import mnema, until
from tests.walk.record import query
from tests.walk.speech import shown

pytestmark = pytest.mark.kill
STOPPED_WITHIN = 2.0
SECRET = "zanzibar7431"
PAIRING_CODE = re.compile(r"\b([0-9A-Z]{4}-[0-9A-Z]{4})\b")
STALLS = Reply(text=HALF, then="stall", after=12, delta=4)
# All scenes on all platforms take minutes: every night; else each scene is seen on the one that can
# do most.
WHOLE = int(os.environ.get("MNEMA_KILLS", "0")) >= 100
SEEN = [name for name in PHONES if WHOLE or name == "feishu"]
everywhere = pytest.mark.parametrize("name", SEEN)
in_groups = pytest.mark.parametrize("name", [name for name in SEEN if PHONES[name].group])


@everywhere
async def test_words_long_answers_pictures_and_files_go_both_ways(
    tmp_path: Path, name: str
) -> None:
    async with talking(PHONES[name](), tmp_path) as talk:
        await talk.ask("Good morning «one»", "Aye, “one”.")
        await a_long_answer_is_whole(talk)
        await a_picture_goes_there_and_back(talk)
        await a_file_comes(talk)
        assert "turns" in (await talk.ask("/context", "turns")).text
        assert talk.growing() == []


async def a_long_answer_is_whole(talk: Talk) -> None:
    """Every step once and in order, the code as it was, all cells of the table, no part too
    long.
    """
    steps = int(1.6 * max(talk.phone.world.limit, 3_000) / len(step(10, 100)))
    before = len(talk.whole())
    await talk.ask(f"Tell me in {steps} steps", "Fair winds!")
    parts = [one.text for one in talk.whole()[before:]]
    text = "\n".join(parts)
    assert re.findall(r"Step (\d+) of", text) == [str(number) for number in range(1, steps + 1)]
    assert all(step(number, steps) in text.replace("\n", " ") for number in range(1, steps + 1))
    assert "\n".join(CODE) in text
    assert [cell for row in ROWS for cell in row if cell not in text] == []
    assert len(parts) > 1
    assert max(len(part.encode()) for part in parts) <= talk.phone.world.limit


async def a_picture_goes_there_and_back(talk: Talk) -> None:
    """The model is shown it; sent by its handle, it comes as it was."""
    sent = picture()
    talk.show(sent)
    await talk.sees("I see a red square.")
    assert pictures(talk.model.requests[-1].body) == 1
    ((seq,),) = query(talk.bot.db, "SELECT MAX(seq) FROM message WHERE role = 'user'")
    await talk.ask(f"Send back {seq}.0", "There it goes.")
    await until(
        lambda: sent in [one.file[1] for one in talk.whole() if one.file], "the picture is there"
    )


async def a_file_comes(talk: Talk) -> None:
    """The model writes one and sends it; where there is no way for it, the person is told."""
    told = await talk.ask("Send me the notes", "The tool says")
    if not talk.phone.carries:
        assert "this chat carries" in told.text.lower() or "cannot carry files" in told.text
        return
    file = ("notes.md", b"# Notes\n\nHigh water at noon.\n")
    await until(lambda: file in [one.file for one in talk.whole()], "the file is there")
    assert [one for one in talk.whole() if "Your notes" in one.text], "the words beside the file"


@everywhere
async def test_stop_is_heard_in_the_middle_of_a_turn(tmp_path: Path, name: str) -> None:
    async with talking(PHONES[name](), tmp_path) as talk:
        await talk.ask("Good morning «one»", "Aye, “one”.")
        talk.model.script([STALLS])
        talk.say("Count the buoys")
        await until(lambda: len(talk.model.requests) == 2, "the model is asked")
        began = time.monotonic()
        await talk.ask("/stop", "topp")
        assert time.monotonic() - began < STOPPED_WITHIN
        await until(talk.model.hung_up.is_set, "the model is left")
        await talk.ask("Good evening «two»", "Aye, “two”.")
        assert talk.growing() == []


@everywhere
async def test_what_was_interrupted_by_a_kill_is_answered_once(tmp_path: Path, name: str) -> None:
    async with talking(PHONES[name](), tmp_path) as talk:
        await talk.ask("Good morning «one»", "Aye, “one”.")
        # an answer is not seen growing where the one before is still on its way
        await at_rest(talk)
        talk.model.script([STALLS])
        talk.say("Count the buoys «two»")
        await until(lambda: len(talk.model.requests) == 2, "the model is asked")
        if talk.phone.grows:
            await until(lambda: half_written(talk), "the answer begins to be seen")
        talk.happens("SIGKILL, and started again")
        await talk.bot.restart()
        await talk.sees("Aye, “two”.")
        await talk.ask("Good evening «three»", "Aye, “three”.")
        assert ayes(talk) == ["one", "two", "three"]
        assert half_written(talk) == []
        assert talk.growing() == []


@everywhere
async def test_a_fact_from_before_a_fold_is_remembered(tmp_path: Path, name: str) -> None:
    async with talking(PHONES[name](), tmp_path) as talk:
        await talk.ask(f"Mind: my boat Vermilion lies at {FACT}. «one»", "Aye, “one”.")
        for word in ("two", "three", "four", "five"):
            await talk.ask(
                f"And what of the weather «{word}»? " + "It has been raining. " * 30,
                f"Aye, “{word}”.",
            )
        await talk.ask("/context fold", "olded turns")
        assert any(is_fold(seen.body) for seen in talk.model.requests)
        told = await talk.ask("At which berth does my boat Vermilion lie?", "At ")
        assert told.text == f"At {FACT}, you said."
        asked = shown(talk.model.requests[-1].body)
        assert "[End of summary]" in asked
        assert re.search(rf"\[Recalled (\w+):.*{FACT}.*\[End of recalled \1\]", asked, re.DOTALL)


@everywhere
async def test_a_stranger_gets_a_code_and_is_answered_once_the_owner_has_entered_it(
    tmp_path: Path, name: str
) -> None:
    async with talking(PHONES[name](), tmp_path) as talk:
        await talk.ask("Good morning «one»", "Aye, “one”.")
        stranger = talk.phone.stranger
        talk.say(f"Let me in, {SECRET}", stranger)
        code = await until(
            lambda: PAIRING_CODE.search("".join(one.text for one in talk.whole(stranger))), "a code"
        )
        await talk.sees(stranger)
        assert len(talk.model.requests) == 1
        assert written_anywhere(tmp_path / "data", "Good morning")
        assert written_anywhere(tmp_path / "data", SECRET) == []
        done, said, complaint = await mnema(tmp_path, "pair", "approve", code[1])
        talk.happens(f"$ mnema pair approve {code[1]}: {said.strip()}")
        assert (done, complaint) == (0, "")
        await until(lambda: len(talk.whole(stranger)) == 2, "the stranger is told")
        await talk.ask("Thank you «two»", "Aye, “two”.", stranger)
        assert SECRET not in shown(talk.model.requests[-1].body)
        assert not any(code[1] in one.text for one in talk.whole())


@pytest.mark.parametrize("name", ["telegram", "wechat_mp"][: 2 if WHOLE else 1])
async def test_where_pairing_is_off_a_stranger_hears_nothing(tmp_path: Path, name: str) -> None:
    async with talking(PHONES[name](), tmp_path, pairing=False) as talk:
        talk.say(f"Let me in, {SECRET}", talk.phone.stranger)
        await talk.ask("Good morning «one»", "Aye, “one”.")
        talk.say(f"Is nobody there? {SECRET}", talk.phone.stranger)
        await talk.ask("Good morning «two»", "Aye, “two”.")
        assert talk.phone.shown(talk.phone.stranger) == []
        assert len(talk.model.requests) == 2
        assert written_anywhere(tmp_path / "data", SECRET) == []


@in_groups
async def test_in_a_group_whoever_mentions_the_bot_is_answered_and_known_by_name(
    tmp_path: Path, name: str
) -> None:
    async with talking(PHONES[name](), tmp_path) as talk:
        group = talk.phone.group
        for token in ("one", "two"):
            if talk.phone.overheard:
                talk.speak(f"Listen all, the tide turns. «aside {token}»", mention=False)
            talk.speak(f"When is high water «{token}»?")
            await talk.sees(f"Aye, “{token}”.", group)
        assert [one.text for one in talk.whole(group)] == ["Aye, “one”.", "Aye, “two”."]
        first, second = [shown(seen.body) for seen in talk.model.requests]
        assert "aside" not in first + second
        assert re.search(r"(?i)\bbo #[0-9a-f]{4}: .*When is high water «two»", second)
        await talk.ask("Good morning «three»", "Aye, “three”.")
        assert "high water" not in shown(talk.model.requests[-1].body), (
            "the group's talk stays in the group"
        )


@in_groups
async def test_a_half_written_answer_in_a_group_is_finished_after_a_kill(
    tmp_path: Path, name: str
) -> None:
    async with talking(PHONES[name](), tmp_path) as talk:
        group = talk.phone.group
        talk.model.script([STALLS])
        talk.speak("Count the buoys «one»")
        await until(lambda: half_written(talk, group), "the answer begins to be seen")
        if not talk.phone.world.keyed:
            await until(lambda: noted(talk), "the bot has noted which message it is")
        talk.happens("SIGKILL, and started again")
        await talk.bot.restart()
        await talk.sees("Aye, “one”.", group)
        talk.speak("And now «two»?")
        await talk.sees("Aye, “two”.", group)
        assert [one.text for one in talk.phone.shown(group)] == ["Aye, “one”.", "Aye, “two”."]


@pytest.mark.parametrize(
    ("name", "steps", "notice", "more"),
    [
        pytest.param("wechat", 440, "more follows", 1, marks=by_night),
        ("wechat_mp", 58, "not all yet", 2),
    ],
)
async def test_what_the_platform_takes_only_later_comes_after_the_next_messages(
    tmp_path: Path, name: str, steps: int, notice: str, more: int
) -> None:
    phone = PHONES[name]()
    if isinstance(phone, WechatMpPhone):
        phone.emulator.world.verified = False
    async with talking(phone, tmp_path) as talk:
        await talk.ask(f"Tell me in {steps} steps", notice)
        said: list[str] = []
        while not any("Fair winds!" in one.text for one in talk.whole()):
            said.append(f"more {len(said)}")
            before = len(talk.whole())
            talk.say(f"Go on «{said[-1]}»")
            await until(lambda before=before: len(talk.whole()) > before, "more is seen")  # type: ignore[misc]
            await at_rest(talk)
        text = "\n".join(one.text for one in talk.whole())
        assert re.findall(r"Step (\d+) of", text) == [str(number) for number in range(1, steps + 1)]
        assert len(said) == more
        assert ayes(talk) == said[: len(ayes(talk))]


async def at_rest(talk: Talk) -> None:
    """Nothing is worked on, and what is left to be sent waits for the person."""

    def resting() -> bool:
        worked_on = query(talk.bot.db, "SELECT id FROM inbox WHERE state IN ('new', 'running')")
        left = query(
            talk.bot.db,
            "SELECT not_before FROM outbox WHERE state IN ('pending', 'sending', 'unknown')",
        )
        return not worked_on and (not left or any(due >= HELD_UNTIL_REPLY for (due,) in left))

    await until(resting, "nothing is under way")


def half_written(talk: Talk, chat: str = "") -> list[str]:
    """What stands there of the answer that the model does not end."""
    return [one.text for one in talk.phone.shown(chat or talk.phone.owner) if HALF[:12] in one.text]


def noted(talk: Talk) -> bool:
    """Whether a later life would know of what is half written."""
    return bool(query(talk.bot.db, "SELECT name FROM channel_note WHERE name LIKE 'live%'"))


def ayes(talk: Talk) -> list[str]:
    """The tokens that were answered, in order."""
    return [found for one in talk.whole() for found in re.findall("“(.*?)”", one.text)]


def picture() -> bytes:
    """A red square."""
    kept = io.BytesIO()
    Image.new("RGB", (16, 16), "red").save(kept, "PNG")
    return kept.getvalue()
