"""The owner is notified once of a channel that needs them, on another channel, and once when it
works again.
"""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.gateway.channel_status import ChannelStatus
from bot.gateway.notifications import (
    CHANNEL_CALM_SECONDS,
    ChannelNotifications,
    find_owner_conversation,
)
from channels.phrases import AnyPhrase
from memory.store.errors import StoreBusy
from memory.store.rows import ConversationRow, Place
from tests.bot.inside import inside
from tests.bot.moody import QR, Moody, join

NOW = 1_790_000_000.0
FINE = ChannelStatus(name="wechat", phase="up", since=NOW, has_login=True)
ASKS = ChannelStatus(name="wechat", phase="asking", since=NOW, has_login=True, prompt=QR)
OUT = ChannelStatus(name="telegram", phase="logged_out", since=NOW, why="the token is refused")
CONTENDED = ChannelStatus(
    name="telegram", phase="contended", since=NOW, why="another program polls"
)


def hi(_: object) -> str:
    return "hi"


class Ear:
    """What the owner was told: (the channel it is about, the English text)."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.broken = False

    async def __call__(self, channel: str, notice: AnyPhrase) -> None:
        if self.broken:
            raise StoreBusy("locked")
        assert channel in notice.text("zh")
        self.told.append((channel, notice.text("en")))


async def look(news: ChannelNotifications, now: float, *seen: ChannelStatus) -> None:
    news.states = lambda: {one.name: one for one in seen}
    await news.look(now)


async def test_each_trouble_is_told_once_and_once_that_it_is_over() -> None:
    ear = Ear()
    news = ChannelNotifications(dict, ear)
    for at in range(3):
        await look(news, NOW + at, ASKS)
    assert [channel for channel, _ in ear.told] == ["wechat"]
    assert "mnema channels login wechat" in ear.told[0][1]
    assert QR.text not in ear.told[0][1]
    for calm in (1.0, CHANNEL_CALM_SECONDS, CHANNEL_CALM_SECONDS + 5):
        await look(news, NOW + calm, FINE)
    assert ear.told[1:] == [("wechat", "Channel wechat works again.")]
    await look(news, NOW, ASKS)
    assert len(ear.told) == 3


async def test_the_text_says_what_to_do() -> None:
    ear = Ear()
    news = ChannelNotifications(dict, ear)
    await look(news, NOW, OUT)
    await look(news, NOW, CONTENDED)
    assert "Update the credentials under channels.telegram." in ear.told[0][1]
    assert "the token is refused" in ear.told[0][1]
    assert "stop one of the two" in ear.told[1][1]


async def test_two_that_take_turns_are_told_of_once() -> None:
    ear = Ear()
    news = ChannelNotifications(dict, ear)
    turn = ChannelStatus(name="telegram", phase="up", since=NOW)
    for at in range(0, 1_200, 60):
        await look(news, NOW + at, replace(CONTENDED if at % 120 else turn, since=NOW + at))
    assert len(ear.told) == 1


@pytest.mark.parametrize("phase", ["connecting", "down", "deaf"])
async def test_what_passes_by_itself_is_not_told(phase: str) -> None:
    ear = Ear()
    await look(ChannelNotifications(dict, ear), NOW, replace(FINE, phase=phase))  # type: ignore[arg-type]
    assert ear.told == []


async def test_what_could_not_be_told_is_told_at_the_next_look() -> None:
    ear = Ear()
    ear.broken = True
    news = ChannelNotifications(dict, ear)
    with pytest.raises(StoreBusy):
        await look(news, NOW, ASKS)
    ear.broken = False
    await look(news, NOW, ASKS)
    assert len(ear.told) == 1


async def test_a_channel_that_was_switched_off_is_forgotten() -> None:
    ear = Ear()
    news = ChannelNotifications(dict, ear)
    await look(news, NOW, ASKS)
    await look(news, NOW)
    await look(news, NOW + 500, FINE)
    assert len(ear.told) == 1


def row(id: str, channel: str, **fields: str) -> ConversationRow:
    place = Place(
        **{
            "channel": channel,
            "account": "a",
            "chat_id": id,
            "thread_id": "",
            "kind": "dm",
            "space": "",
            **fields,
        }
    )
    return ConversationRow(
        id=id,
        place=place,
        epoch=1,
        next_seq=1,
        next_turn=1,
        view_from=1,
        fold_head="",
        title="",
        turns=1,
        updated=datetime(2026, 11, 20, tzinfo=UTC),
        policy="",
        model="",
    )


def test_the_owner_is_told_where_it_rings_and_never_before_others() -> None:
    page, phone = row("p", "web"), row("t", "telegram")
    group, friend = (
        row("g", "telegram", kind="group", space="telegram-group-g"),
        row("f", "feishu", space="feishu-f"),
    )
    joined = replace(row("j", "feishu"), own_space="feishu-j")
    rows = [group, friend, joined, page, phone]
    assert find_owner_conversation(rows, ["web", "telegram", "feishu"]) == "t"
    assert find_owner_conversation(rows, ["web", "feishu"]) == "p"
    assert find_owner_conversation(rows, ["feishu"]) == ""


async def test_a_bot_tells_its_owner_in_the_terminal_what_another_channel_needs(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, hi) as it:
        await it.say("hello")
        moody = Moody("wechat")
        join(it.bot, moody)
        moody.asked = QR
        await it.bot.channel_notifications.look(NOW)
        await it.channel.until(lambda: "needs a login" in it.channel.sent[-1].text)
