"""Titles by the small model: for the owner's new conversations alone, behind replies, and gone with
what is forgotten.
"""

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.titles import SYSTEM, clean_title, is_worth_a_title
from bot.models.base import Request
from memory.store.conversations.inbox import make_title
from memory.store.rows import ConversationRow
from tests.bot.inside import Inside, inside

ON = {"console": {"titles": True}}
ASKED = "Please plan a trip to ZANZIBAR7 with my two children in April"


def named(asked: Request) -> str:
    """A title in other words where one is asked for, else an answer."""
    return "**Holiday by the sea.**\nmore" if asked.purpose == "title" else "With pleasure."


async def row(it: Inside, chat: str = "c1") -> ConversationRow:
    found = await it.bot.store.sessions.conversation(await it.conversation(chat))
    assert found is not None
    return found


async def test_the_first_answer_is_followed_by_a_title_whose_use_is_counted(tmp_path: Path) -> None:
    async with inside(tmp_path, named, ON) as it:
        await it.say(ASKED)
        await it.bot.turns_settled()
        assert (await row(it)).title == "Holiday by the sea"
        [asked] = [one for one in it.model.requests if one.purpose == "title"]
        assert asked.system == (SYSTEM,)
        assert "With pleasure" not in repr(asked.messages)
        assert not asked.tools
        await it.say("And another long message about something else entirely")
        await it.bot.turns_settled()
        assert [one.purpose for one in it.model.requests].count("title") == 1
        assert "titles" in await it.text("/usage")


@pytest.mark.parametrize("first", ["/help me with something that is long enough", "Short words"])
async def test_a_command_or_a_short_message_is_no_matter_for_the_model(
    tmp_path: Path, first: str
) -> None:
    async with inside(tmp_path, named, ON) as it:
        await it.say(first)
        await it.bot.turns_settled()
        assert "title" not in [one.purpose for one in it.model.requests]
        assert (await row(it)).title == ("" if first.startswith("/") else first)


async def test_nothing_is_asked_where_it_is_off(tmp_path: Path) -> None:
    async with inside(tmp_path, named) as it:
        await it.say(ASKED)
        await it.bot.turns_settled()
        assert "title" not in [one.purpose for one in it.model.requests]
        assert (await row(it)).title == ASKED[:60]


async def test_a_reply_does_not_wait_for_a_title(tmp_path: Path) -> None:
    async with inside(tmp_path, named, {**ON, "llm": {"background": "idle"}}) as it:
        async with asyncio.timeout(60):
            with it.bot.models.background.reply():
                await it.say(ASKED)
                assert (await it.say("And then?"))[0].text == "With pleasure."
                assert "title" not in [one.purpose for one in it.model.requests]


async def test_what_is_forgotten_takes_a_title_in_other_words_with_it(tmp_path: Path) -> None:
    async with inside(tmp_path, named, ON) as it:
        await it.say(ASKED)
        await it.bot.turns_settled()
        asked = await it.text("/forget ZANZIBAR7", chat="c2")
        confirmed = re.search(r"/forget yes [A-Z0-9]{4}-[A-Z0-9]{4}", asked)
        assert confirmed is not None
        await it.text(confirmed[0], chat="c2")
        title = (await row(it)).title
        assert "Holiday" not in title
        assert "ZANZIBAR7" not in title
        assert title == "[forgotten]"


async def test_a_title_of_a_message_that_was_forgotten_meanwhile_is_not_stored(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, named) as it:
        await it.say(ASKED)
        id = await it.conversation()
        body = await it.bot.store.titles.first_body(id)
        assert not await it.bot.store.titles.set(id, "Holiday", body.replace("ZANZIBAR7", "x"))
        assert (await row(it)).title == ASKED[:60]
        assert await it.bot.store.titles.set(id, "Holiday", body)
        assert (await row(it)).title == "Holiday"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("/status", ""),
        ("📎 plan.pdf", ""),
        ("see this\n📎 plan.pdf", "see this"),
        ("  two\n lines ", "two lines"),
    ],
)
def test_first_words_are_no_command_and_no_name_of_a_file(text: str, title: str) -> None:
    assert make_title(text) == title


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ('"Green tea"', "Green tea"),
        ("Title: Green tea.", "Green tea"),
        ("标题：绿茶。", "绿茶"),
        ("# Green\ntea", "Green"),
        ("/forget all", ""),
        ("", ""),
        ("a\u202eb\u0007", "ab"),
        ("word " * 20, "word word word word word word word word word word word…"),
    ],
)
def test_a_title_is_one_clean_line(answer: str, title: str) -> None:
    assert clean_title(answer) == title


@given(st.text(max_size=300))
def test_a_title_is_short_whatever_the_model_says(answer: str) -> None:
    title = clean_title(answer)
    assert len(title) <= 60
    assert title.isprintable()
    assert not title.startswith("/")


def test_what_was_forgotten_gets_no_title() -> None:
    assert is_worth_a_title("a message that is long enough")
    assert not is_worth_a_title("a message that is [forgotten] now")
