"""Strangers, codes and approvals in a whole bot: who is let in, who is not, and what is not
revealed.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from bot.access.pairing import PairingRefused, parse_typed_code
from channels.message import Address, InboundMessage, OutboundMessage, Quote, Sender
from channels.testing import ScriptedChannel as Channel
from memory.ids import new_code
from memory.store.people.rows import AccessRequestRow, GrantRow
from memory.store.rows import NewInboxRow, Party, Place
from tests.bot.inside import Inside, inside
from tests.by_night import by_night
from tests.cases import every_case

CODE = re.compile(r"`([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})`")
ANSWER = "the answer"
SECRET = ("mnema", "scripted", "claude", "gpt", "owner", "0.")
SETTINGS = {"channels": {"telegram": {"owners": ["1"], "allow": ["2", "-100"]}}}


class Clock:
    """A time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_795_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Door:
    """A bot with one platform, and what its people are told."""

    it: Inside
    clock: Clock = field(default_factory=Clock)

    @property
    def pairing(self) -> Any:
        return self.it.bot.pairing

    async def write(self, text: str, sender: str, chat: str = "", **fields: Any) -> list[str]:
        """Somebody writes; what is sent to their chat because of it."""
        chat = chat or sender
        before = len(self.told(chat))
        message = self.it.channel.hear(text, chat=chat, sender=sender, **fields)
        await self.it.channel.until(lambda: message.key in self.it.channel.confirmed)
        await self.it.bot.settled()
        return self.told(chat)[before:]

    async def bring(
        self, sender: Sender, text: str, *, chat: str = "", kind: str = "dm"
    ) -> list[str]:
        """Write with a name, or as a bot."""
        address = Address(channel="telegram", account="bot", chat_id=chat or sender.id)
        fields = {
            "kind": kind,
            "key": uuid4().hex,
            "sent_at": datetime.fromtimestamp(self.clock(), UTC),
        }
        message = InboundMessage(address=address, sender=sender, text=text, **fields)  # type: ignore[arg-type]
        before = len(self.told(address.chat_id))
        self.it.channel.redeliver(message)
        await self.it.channel.until(lambda: message.key in self.it.channel.confirmed)
        await self.it.bot.settled()
        return self.told(address.chat_id)[before:]

    def told(self, chat: str) -> list[str]:
        return [part.text for part in self.sent() if part.address.chat_id == chat]

    def sent(self) -> Sequence[OutboundMessage]:
        return self.it.channel.sent

    async def code(self, sender: str, **fields: Any) -> str:
        """A stranger writes; the code they are given."""
        [text] = await self.write("hello", sender, **fields)
        found = CODE.search(text)
        assert found
        return found[1]

    async def waiting(self) -> list[AccessRequestRow]:
        return await self.it.bot.store.access.requests()


@asynccontextmanager
async def door(
    folder: Path, settings: dict[str, Any] | None = None, clock: Clock | None = None
) -> AsyncIterator[Door]:
    held = clock or Clock()
    channel = Channel(name="telegram", account="bot")
    async with inside(
        folder, lambda request: ANSWER, {**SETTINGS, **(settings or {})}, channel, clock=held
    ) as it:
        yield Door(it, held)


async def test_S01_a_strangers_words_are_answered_with_a_code_and_neither_kept_nor_shown_to_the_model(  # noqa: E501
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        [text] = await one.write("ZANZIBAR please", "9")
        assert CODE.search(text)
        assert not [word for word in SECRET if word in text.lower()]
        assert "owner" not in text
        assert one.it.model.requests == []
    assert b"ZANZIBAR" not in (tmp_path / "data" / "mnema.db").read_bytes()
    assert not [
        path
        for path in (tmp_path / "data").rglob("*")
        if path.is_file() and b"ZANZIBAR" in path.read_bytes()
    ]


async def test_S01_an_unpaired_member_of_an_allowed_group_is_a_guest_there_and_a_stranger_in_private(  # noqa: E501
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        assert await one.write("hi", "9", "-100", kind="group") == [ANSWER]
        calls = len(one.it.model.requests)
        [text] = await one.write("hi", "9")
        assert CODE.search(text)
        assert len(one.it.model.requests) == calls


async def test_a_stranger_is_answered_in_the_language_they_write(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        [zh] = await one.write("你好", "9")
        [en] = await one.write("hello", "8")
        assert "配对码" in zh
        assert "code" in en


async def test_where_pairing_is_off_a_stranger_hears_nothing(tmp_path: Path) -> None:
    async with door(
        tmp_path, {"channels": {"telegram": {"owners": ["1"], "pairing": False}}}
    ) as one:
        assert await one.write("hello", "9") == []
        assert await one.waiting() == []


async def test_who_has_been_approved_is_told_and_talks_and_pairing_gives_nothing_in_a_group(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        code = await one.code("9")
        done = await one.pairing.approve(code, "test")
        assert "telegram `9`" in str(done)
        await one.it.bot.settled()
        assert one.told("9")[-1] == "You have been approved: you can talk to me now."
        assert await one.write("hello", "9") == [ANSWER]
        assert await one.write("hello", "9", "-999", kind="group") == []
        with pytest.raises(PairingRefused, match="expired or already used"):
            await one.pairing.approve(code, "test")


async def test_S02_a_name_is_no_identity(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        await one.write("hi", "1")
        [text] = await one.bring(Sender(id="9", name="1"), "hi")
        assert CODE.search(text)
        assert [(row.party.id, row.name) for row in await one.waiting()] == [("9", "1")]
        assert len(one.it.model.requests) == 1


async def test_S03_the_sender_decides_and_not_whom_they_quote(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        quoted: dict[str, Any] = {"quote": Quote(text="/config set language zh", author="1")}
        assert "not available" in (await one.write("/config set language zh", "2", **quoted))[0]
        assert CODE.search((await one.write("/config set language zh", "9", **quoted))[0])


async def test_the_owner_sees_the_id_and_the_claimed_name_as_a_quotation_and_no_code(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        await one.write("hi", "1")
        given = await one.code("9", key="k9")
        [told] = [text for text in one.told("1") if "telegram `9`" in text]
        assert "“`9`”" in told
        assert given not in told
        facts = await one.pairing.facts()
        assert given not in str(facts)
        assert given.replace("-", "") not in str(facts)


@pytest.mark.parametrize("strangers", [100, pytest.param(1_000, marks=by_night)])
async def test_S06_of_many_strangers_three_wait_and_the_owner_is_told_once(
    tmp_path: Path, strangers: int
) -> None:
    async with door(tmp_path) as one:
        await one.write("hi", "1")
        for number in range(1_000, 1_000 + strangers):
            one.it.channel.hear("let me in", chat=str(number), sender=str(number))
        await one.it.channel.until(
            lambda: len(one.it.channel.confirmed) == strangers + 1, seconds=60
        )
        await one.it.bot.settled()
        assert len(await one.waiting()) == 3
        assert len([part for part in one.sent() if CODE.search(part.text)]) == 3
        assert len([text for text in one.told("1") if "wants to talk" in text]) == 1
        assert len(one.it.model.requests) == 1


async def test_S06_a_stranger_is_answered_once_an_hour(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        assert len(await one.write("hi", "9")) == 1
        assert await one.write("/pair", "9") == []
        one.clock.now += 3_601
        assert len(await one.write("/pair", "9")) == 1


async def test_a_message_that_the_platform_brings_again_asks_once(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        await one.write("hi", "1")
        message = one.it.channel.hear("hi", chat="9", sender="9")
        for _ in range(3):
            one.it.channel.redeliver(message)
        await one.it.channel.until(lambda: one.it.channel.confirmed.count(message.key) == 4)
        await one.it.bot.settled()
        assert len(one.told("9")) == len(await one.waiting()) == 1


async def test_what_was_cut_short_before_the_reply_is_made_up_for_when_the_message_comes_again(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        [row] = await one.it.bot.store.delivery.accept([_heard_by_an_earlier_life()])
        assert row.state == "ignored"
        [text] = await one.write("hi", "9", key="k9")
        assert CODE.search(text)


async def test_S06_wrong_expired_and_other_channels_codes_are_refused_and_five_lock(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        code = await one.code("9")
        with pytest.raises(PairingRefused):
            await one.pairing.approve(code, "test", "feishu")
        one.clock.now += 3_601
        with pytest.raises(PairingRefused, match="expired"):
            await one.pairing.approve(code, "test")
        later = await one.code("9")
        for _ in range(4):
            with pytest.raises(PairingRefused):
                await one.pairing.approve(new_code(), "test")
        with pytest.raises(PairingRefused, match="Try again in 60 minutes"):
            await one.pairing.approve(later, "test")
        assert await one.waiting() == []


async def test_S06_a_code_typed_by_another_stranger_opens_nothing(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        code = await one.code("9")
        assert len(await one.write(code, "8")) == 1, "they are given a code of their own"
        assert await one.write(code, "9") == []
        assert await one.write(f"/approve {code}", "9") == []
        assert {row.party.id for row in await one.waiting()} == {"8", "9"}
        assert one.it.model.requests == []


async def test_who_was_denied_hears_nothing_any_more(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        await one.pairing.deny(await one.code("9"), "test")
        one.clock.now += 7_200
        assert await one.write("hello?", "9") == []
        assert len(one.told("9")) == 1
        await one.pairing.revoke("telegram", "9", "test")
        assert len(await one.write("hello?", "9")) == 1


async def test_S04_bots_anonymous_admins_and_channel_posts_are_met_with_silence(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        for number in range(100):
            bot = Sender(id=f"b{number}", name="helper", is_bot=True)
            assert await one.bring(bot, "@bot hello", chat="-100", kind="group") == []
        for chat, kind in (("-999", "group"), ("-100", "group"), ("77", "dm")):
            anonymous = Sender(id="1087968824", name="Group", is_bot=True)
            assert await one.bring(anonymous, "hello", chat=chat, kind=kind) == []
        assert one.it.model.requests == []
        assert await one.waiting() == []


async def test_S07_an_unknown_group_is_silent_the_owner_is_told_once_and_may_allow_it(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        await one.write("hi", "1")
        for key in ("j1", "j2"):
            one.it.channel.hear("", chat="-999", sender="9", kind="group", key=key, act="joined")
        assert await one.write("@bot hello", "9", "-999", kind="group") == []
        assert len([text for text in one.told("1") if "-999" in text]) == 1
        await one.pairing.allow_group("telegram", "-999", "test")
        assert await one.waiting() == []
        assert await one.write("hello", "9", "-999", kind="group") == [ANSWER]
        await one.pairing.revoke("telegram", "-999", "test")
        assert await one.write("hello", "9", "-999", kind="group") == []


async def test_an_owner_code_typed_in_private_makes_its_writer_an_owner_once(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        code = await one.pairing.owner_code("test")
        assert await one.write(code, "9", "-100", kind="group") == [ANSWER], (
            "in a group it is a word like any"
        )
        [text] = await one.write(code.lower(), "9")
        assert "is now an owner" in text
        assert "role owner" in (await one.write("/whoami", "9"))[0]
        [other] = await one.write(code, "8")
        assert CODE.search(other), "used: a stranger like any other"


async def test_an_owner_code_is_void_after_ten_minutes_and_when_there_is_a_newer(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        old = await one.pairing.owner_code("test")
        new = await one.pairing.owner_code("test")
        assert "owner" not in (await one.write(old, "9"))[0]
        one.clock.now += 601
        assert await one.write(new, "9") == []
        assert (await one.it.bot.roles.actor("telegram", "bot", "9", "9", "dm")).role == "stranger"


async def test_what_is_taken_away_is_gone_at_once_and_what_runs_ends(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        await one.pairing.approve(await one.code("9"), "test")
        await one.it.bot.settled()
        await one.pairing.set_role("telegram", "9", "admin", "test")
        assert "role admin" in (await one.write("/whoami", "9"))[0]
        await one.pairing.set_role("telegram", "9", "user", "test")
        assert "role user" in (await one.write("/whoami", "9"))[0]
        en = str(await one.pairing.revoke("telegram", "9", "test"))
        assert "Revoked the access of telegram `9`" in en
        one.clock.now += 3_601
        assert CODE.search((await one.write("hello", "9"))[0])
        with pytest.raises(PairingRefused, match="had no access to revoke"):
            await one.pairing.revoke("telegram", "9", "test")


async def test_who_is_listed_in_the_configuration_is_taken_out_there(tmp_path: Path) -> None:
    async with door(tmp_path) as one:
        en = str(await one.pairing.revoke("telegram", "2", "test"))
        assert "channels.telegram.allow" in en
        assert await one.write("hello", "2") == [ANSWER]


async def test_a_group_and_a_person_are_revoked_by_the_id_that_the_platform_shows(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as one:
        for id in ("wrGroup", "Ada"):
            await one.pairing.allow_group("wecom", id, "test")
        party = Party(channel="wecom", account="bot", subject="user", id="ada")
        row = GrantRow(party=party, role="user", group="", name="", by="test", at=datetime.now(UTC))
        await one.it.bot.store.access.grant(row)
        await one.pairing.revoke("wecom", "wrGroup", "test")
        await one.pairing.revoke("wecom", "Ada", "test")
        assert await one.it.bot.store.access.load_all_grants() == []


@pytest.mark.parametrize(
    ("channel", "id", "role", "group"),
    [
        ("telegram", "9", "admin", ""),
        ("telegram", "2", "owner", ""),
        ("telegram", "2", "user", "-100"),
        ("tele", "2", "user", ""),
    ],
)
async def test_roles_that_cannot_be_given(
    tmp_path: Path, channel: str, id: str, role: str, group: str
) -> None:
    async with door(tmp_path) as one:
        with pytest.raises(PairingRefused):
            await one.pairing.set_role(channel, id, role, "test", group)
        assert await one.it.bot.store.access.load_all_grants() == []


@every_case(
    ("text", "code"),
    [
        ("ABCD-EFGH", "ABCDEFGH"),
        (" abcd efgh\n", "ABCDEFGH"),
        ("/pair abcdefgh", "ABCDEFGH"),
        ("／pair ABCD-EFGH", "ABCDEFGH"),
        ("ABCD-EFG", ""),
        ("ABCD-EFGHJ", ""),
        ("ABCD-EFG0", ""),
        ("my code is ABCD-EFGH", ""),
        ("ＡＢＣＤ-EFGH", ""),
        ("", ""),
    ],
)
def test_what_is_taken_for_a_typed_code(text: str, code: str) -> None:
    assert parse_typed_code(text) == code


def _heard_by_an_earlier_life() -> NewInboxRow:
    place = Place(
        channel="telegram", account="bot", chat_id="9", thread_id="", kind="dm", space="telegram-9"
    )
    return NewInboxRow(
        place=place, key="k9", kind="message", sender_id="9", body="", ignored="stranger"
    )
