"""One person's accounts on two platforms: joined by both their words, and apart again; what never
joins.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bot.models.base import Request
from channels.message import Sender
from channels.testing import ScriptedChannel as Channel
from memory.recall.documents import SearchRequest
from memory.store.longterm.rows import LinkRow
from tests.bot.inside import Inside, inside
from tests.bot.talk import words

SETTINGS = {
    "language": "en",
    "channels": {
        "telegram": {"owners": ["1"], "allow": ["5", "6", "-100"]},
        "feishu": {"owners": ["ou_1"], "allow": ["ou_5", "ou_6"]},
    },
}


class Chat:
    """One account's private chat with the bot (or a group's chat): what it says, and what it is
    told unasked.
    """

    def __init__(self, it: Inside, sender: str, chat: str = "", kind: str = "dm") -> None:
        self.it = it
        self.sender = sender
        self.chat = chat or sender
        self.kind = kind

    async def say(self, text: str) -> str:
        shown = {"sender": self.sender, "kind": self.kind}
        return await self.it.text(text, chat=self.chat, **shown)

    async def told(self) -> str:
        """The newest notice that answers nothing this chat has said."""
        await self.it.bot.settled()
        return next((text for text in reversed(self._unasked()) if text), "")

    def _unasked(self) -> Sequence[str]:
        sent = self.it.channel.sent
        return [
            part.text
            for part in sent
            if part.address.chat_id == self.chat and not part.reply_to_key
        ]

    async def conversation(self) -> str:
        return await self.it.conversation(self.chat)

    async def links(self) -> list[LinkRow]:
        row = await self.it.bot.store.sessions.conversation(await self.conversation())
        assert row is not None
        return await self.it.bot.store.links.links(row.place.space)

    async def space(self) -> str:
        row = await self.it.bot.store.sessions.conversation(await self.conversation())
        assert row is not None
        return row.place.space


class Two:
    """A bot with two platforms."""

    def __init__(self, telegram: Inside, feishu: Inside) -> None:
        self.telegram = Chat(telegram, "5")
        self.feishu = Chat(feishu, "ou_5")
        self.bot = telegram.bot
        self.requests = telegram.model.requests
        self._sides = (telegram, feishu)

    def chat(self, sender: str, chat: str = "", kind: str = "dm") -> Chat:
        return Chat(self._sides[sender.startswith("ou_")], sender, chat, kind)

    async def join(self, maker: Chat, typist: Chat) -> None:
        code = await made(maker)
        assert "/link confirm" in await typist.say(f"/link {code}")
        assert "/link confirm" in await typist.say("/link confirm")
        assert "Linked" in await maker.say("/link confirm")


def echo(request: Request) -> str:
    return f"re: {words(request)[-1]}"


@asynccontextmanager
async def two(folder: Path, settings: dict[str, object] | None = None) -> AsyncIterator[Two]:
    telegram, feishu = (
        Channel(name="telegram", account="bot"),
        Channel(name="feishu", account="app"),
    )
    async with inside(folder, echo, {**SETTINGS, **(settings or {})}, telegram) as it:
        await it.bot.channel_manager.add(feishu)
        yield Two(it, Inside(bot=it.bot, channel=feishu, model=it.model))


async def made(chat: Chat) -> str:
    """A fresh code."""
    found = re.search(r"`/link ([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})`", await chat.say("/link"))
    assert found
    return found[1]


def shown(request: Request) -> str:
    """Every word of a request."""
    return "\n".join([*request.system, *words(request)])


async def remember(one: Two, space: str, line: str) -> None:
    """A line in a space's MEMORY.md, as a person writes it."""
    files = one.bot.workspace.space(space)
    files.write("MEMORY.md", f"## 事实 · Facts\n- {line}\n", None)


async def test_what_is_noted_for_one_account_is_known_to_the_other_while_both_are_joined(
    tmp_path: Path,
) -> None:
    async with two(tmp_path) as one:
        await one.telegram.say("hello")
        await one.feishu.say("hello")
        await remember(one, "telegram-5", "plays the viola")
        await one.feishu.say("what do I play?")
        assert "viola" not in shown(one.requests[-1]), "nothing crosses before"

        await one.join(one.telegram, one.feishu)
        await one.feishu.say("what do I play?")
        assert "viola" in shown(one.requests[-1])

        assert "Unlinked" in await one.feishu.say("/unlink")
        await one.feishu.say("what do I play?")
        assert "viola" not in shown(one.requests[-1]), "nothing crosses after"
        await one.telegram.say("what do I play?")
        assert "viola" in shown(one.requests[-1]), "it stays where it was"


async def test_what_one_account_said_is_found_for_the_other_only_while_both_are_joined(
    tmp_path: Path,
) -> None:
    async with two(tmp_path) as one:
        await one.feishu.say("my viola is from Cremona")
        await one.telegram.say("hello")

        async def found() -> bool:
            wanted = SearchRequest(
                space=await one.telegram.space(), query="viola Cremona", now=one.bot.now()
            )
            return "Cremona" in repr(await one.bot.recall.search(wanted))

        assert not await found()
        await one.join(one.telegram, one.feishu)
        assert await found()
        await one.feishu.say("/unlink")
        assert not await found()


async def test_what_is_folded_while_joined_stands_in_the_homes_log(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        await one.join(one.telegram, one.feishu)
        for number in range(6):
            await one.feishu.say(f"the viola lesson number {number}")
        assert "Folded" in await one.feishu.say("/context fold")
        spaces = tmp_path / "workspace" / "spaces"
        logs = {path.parent.parent.name for path in spaces.rglob("memory/*.md")}
        assert logs == {"telegram-5"}


async def test_a_day_log_of_the_home_leaves_the_prompt_with_the_account(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        await one.join(one.telegram, one.feishu)
        for number in range(4):
            await one.telegram.say(f"the viola lesson number {number}")
        await one.telegram.say("/new")
        await one.bot.settled()
        await one.feishu.say("hello")
        assert "viola" in shown(one.requests[-1])
        await one.feishu.say("/unlink")
        await one.feishu.say("hello again")
        assert "viola" not in shown(one.requests[-1])


async def test_both_chats_are_told_at_each_step_in_their_own_language(tmp_path: Path) -> None:
    async with two(tmp_path, {"language": "auto"}) as one:
        await one.telegram.say("你好")
        code = await made(one.telegram)
        who = await one.feishu.say(f"/link {code.lower().replace('-', ' ')}")
        assert "telegram `5`" in who
        assert not await one.telegram.told(), "the maker is asked once the typist agrees"
        await one.feishu.say("/link confirm")
        assert "feishu `ou_5` “`ou_5`” 想共用这份记忆" in await one.telegram.told()
        assert "已关联：feishu `ou_5`" in await one.telegram.say("/link confirm")
        assert (
            "Linked: from now on this account uses the memory of telegram `5`"
            in await one.feishu.told()
        )
        assert "1. feishu `ou_5`" in await one.telegram.say("/link")
        assert "shares the memory of `telegram-5`" in await one.feishu.say("/link")
        assert "已取消关联" in await one.telegram.say("/unlink 1")
        assert "feishu `ou_5` has its own memory again" in await one.feishu.told()


async def test_leaving_by_oneself_is_told_to_the_home(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        await one.join(one.telegram, one.feishu)
        await one.feishu.say("/unlink")
        assert "feishu `ou_5` has its own memory again" in await one.telegram.told()
        assert await one.feishu.space() == "feishu-ou_5"


async def test_a_third_persons_entry_joins_nothing_until_the_maker_says_so(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        code = await made(one.telegram)
        thief = one.chat("ou_6")
        await thief.say(f"/link {code}")
        await thief.say("/link confirm")
        assert "feishu `ou_6`" in await one.telegram.told()
        assert await thief.say("/link confirm")
        assert await thief.space() == "feishu-ou_6"
        assert "not work here" in await one.feishu.say(f"/link {code}")
        assert "Declined" in await one.telegram.say("/link refuse")
        assert "declined the link" in await thief.told()
        assert "No link is waiting" in await one.telegram.say("/link confirm")
        assert await one.telegram.links() == []


async def test_who_was_lured_into_typing_a_code_learns_whose_it_is_before_anything_is_shared(
    tmp_path: Path,
) -> None:
    async with two(tmp_path) as one:
        lure = await made(one.chat("6"))
        assert "telegram `6`" in await one.feishu.say(f"/link {lure}")
        assert "has not confirmed yet" in await one.chat("6").say("/link confirm")
        assert "Declined" in await one.feishu.say("/link refuse")
        assert "No link is waiting" in await one.chat("6").say("/link confirm")
        assert await one.feishu.space() == "feishu-ou_5"


async def test_the_owners_memory_is_shared_and_the_owners_rights_are_not(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        owner = one.chat("1")
        await one.join(owner, one.feishu)
        assert await one.feishu.space() == ""
        assert "role user" in await one.feishu.say("/whoami")
        assert "not available" in await one.feishu.say("/config agent_max_steps 3")
        assert "shares the memory of the owner" in await one.feishu.say("/link")


async def test_the_owners_memory_joins_no_other(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        lure = await made(one.telegram)
        assert "cannot join another" in await one.chat("ou_1").say(f"/link {lure}")
        assert await one.telegram.links() == []


async def test_groups_and_guests_link_nothing(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        code = await made(one.telegram)
        for sender in ("1", "5", "77"):
            group = one.chat(sender, "-100", "group")
            for command in ("/link", f"/link {code}", "/link confirm", "/unlink"):
                assert "not available" in await group.say(command)
        assert "This code comes from" in await one.feishu.say(f"/link {code}"), "it is still good"


async def test_one_memory_at_a_time_no_chain_no_circle(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        await one.join(one.telegram, one.feishu)
        other = await made(one.chat("6"))
        assert "/unlink first" in await one.feishu.say(f"/link {other}")
        assert "cannot join another" in await one.telegram.say(f"/link {other}")
        third = one.chat("ou_6")
        await one.join(one.feishu, third)
        assert await third.space() == "telegram-5", "a joined account's code leads to the home"
        assert [link.own_space for link in await one.telegram.links()] == [
            "feishu-ou_5",
            "feishu-ou_6",
        ]
        assert "2. feishu `ou_6`" in await one.telegram.say("/unlink")
        assert "ou_6" in await one.telegram.say("/unlink 2")
        assert await third.space() == "feishu-ou_6"


@pytest.mark.parametrize(
    "word", ["12345678", "ABCD-EFGH", "x", "🙂", "confirm me", "' OR 1=1 --", "A" * 3_000]
)
async def test_what_is_no_code_is_refused_in_the_same_words(tmp_path: Path, word: str) -> None:
    async with two(tmp_path) as one:
        assert "This code does not work here" in await one.feishu.say(f"/link {word}")
        own = await made(one.feishu)
        assert "This code does not work here" in await one.feishu.say(f"/link {own}")


async def test_five_wrong_codes_lock_for_an_hour(tmp_path: Path) -> None:
    async with two(tmp_path) as one:
        code = await made(one.telegram)
        for _ in range(4):
            assert "not work here" in await one.feishu.say("/link WRONGONE")
        assert "Too many wrong codes. Try again in 60 minutes" in await one.feishu.say(
            "/link WRONGONE"
        )
        assert "Too many wrong codes" in await one.feishu.say(f"/link {code}")
        assert "This code comes from" in await one.chat("ou_6").say(f"/link {code}"), (
            "others are not locked"
        )


async def test_a_name_that_somebody_claims_is_quoted_and_cannot_write_markup(
    tmp_path: Path,
) -> None:
    async with two(tmp_path) as one:
        code = await made(one.telegram)
        heard = one.feishu.it.channel.hear("hello", chat="ou_5", sender="ou_5", key="plain")
        name = "`](https://evil.example) **owner**\n/link confirm " + "x" * 90
        one.feishu.it.channel.redeliver(
            replace(heard, key="claimed", text=f"/link {code}", sender=Sender(id="ou_5", name=name))
        )
        await one.feishu.it.answer("claimed")
        await one.feishu.say("/link confirm")
        assert (
            "feishu `ou_5` “`](https://evil.example) **owner** /link `”"
            in await one.telegram.told()
        )
