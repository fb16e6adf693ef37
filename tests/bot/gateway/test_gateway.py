"""Sending and receiving: order kept, failures stored by their outcome, and channels that come
back.
"""

import asyncio
import shutil
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.console.site import attach_console
from bot.gateway.gateway import is_given_up, next_attempt_seconds, next_reconnect_seconds
from bot.messages import split_reply
from bot.models.base import Request
from channels.errors import (
    Ambiguous,
    BadFormat,
    ChannelError,
    LoggedOut,
    ReceiverConflict,
    Rejected,
    Retryable,
)
from channels.message import Address, Capabilities, LiveEvent, OutboundMessage, Receipt
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from channels.testing import ScriptedChannel as Channel
from channels.toolkit.text import text_length
from memory.store.open import open_store
from memory.store.rows import OutboxRow
from tests.bot.inside import Inside, inside
from tests.bot.talk import words
from tests.channels.web.server import ScriptedBot, running

# Literals, so that the product is not compared with itself.
LOGGED_OUT_PAUSE = 60.0
LONGEST_DEAF = 60.0
MOST_ATTEMPTS = 20
MOST_SENDS = 32

SHORT = Capabilities(limit=100, unit="utf16", live=True)
KEYED = Capabilities(live=True, keyed=True, key_valid=1e9)


def terminal(able: Capabilities = SHORT) -> Channel:
    return Channel(name="terminal", account="local", capabilities=able)


def long_words(count: int = 30) -> str:
    return " ".join(f"word{number:02}" for number in range(count))


def echo(request: Request) -> str:
    return f"re: {[text for text in words(request) if not text.startswith('[')][-1]}"


async def left(it: Inside, chat: str = "c1") -> OutboxRow | None:
    """The next part that has not gone out."""
    return await it.bot.store.delivery.next_outbox_row(await it.conversation(chat))


async def tried(it: Inside, chat: str = "c1") -> OutboxRow:
    """The next part, once a try at it has ended."""
    async with asyncio.timeout(5):
        while True:
            row = await left(it, chat)
            if row is not None and row.attempts:
                return row


async def gone(it: Inside) -> None:
    await it.bot.turn_dispatcher.settled()
    await it.bot.outbox_dispatcher.settled()


def joined(parts: list[OutboundMessage]) -> str:
    return " ".join(part.text.strip() for part in parts)


async def test_S14_only_a_channel_that_takes_calls_has_an_address_for_them(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, channel=terminal()) as it:
        hooked = Channel(name="telegram", account="9", capabilities=Capabilities(hook=True))
        await it.bot.channel_manager.add(hooked)
        found = it.bot.gateway.hooked
        assert found("terminal") is None, "it is there, and takes no calls"
        assert found("feishu") is None
        assert found("telegram") is hooked
        async with running(ScriptedBot(), opened=False) as site, site.nobody() as platform:
            attach_console(site.site, it.bot)
            for name in ("terminal", "feishu", "web"):
                assert (await platform.post(f"/hooks/{name}", content=b"{}")).status_code == 404


def test_S14_telegram_takes_calls_only_where_it_is_told_to() -> None:
    secret = "x" * 32
    assert not Telegram(TelegramSettings(token="100:x")).capabilities.hook
    assert not Telegram(TelegramSettings(token="100:x", webhook_secret=secret)).capabilities.hook
    assert Telegram(
        TelegramSettings(token="100:x", mode="webhook", webhook_secret=secret)
    ).capabilities.hook


async def test_parts_arrive_in_order_though_one_has_to_wait_in_the_middle(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: long_words(), channel=terminal()) as it:
        it.channel.fail(Retryable("later", retry_after=0.1))
        parts = await it.say("talk")
        it.channel.fail(
            Retryable("later", retry_after=0.1),
            BadFormat("markup"),
            Retryable("and again", retry_after=0),
        )
        more = await it.say("talk more")
        for sent in (parts, more):
            assert len(sent) > 2
            assert [part.part_no for part in sent] == list(range(len(sent)))
            assert joined(sent) == long_words()
            assert all(text_length(part.text, "utf16") <= 100 for part in sent)


async def test_two_answers_to_one_chat_do_not_mix(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: long_words(), channel=terminal()) as it:
        it.channel.fail(Retryable("later", retry_after=0.1))
        first, second = it.channel.hear("one"), it.channel.hear("two")
        await it.answer(second.key)
        keys = [part.reply_to_key for part in it.channel.sent]
        assert keys == [first.key] * (len(keys) // 2) + [second.key] * (len(keys) // 2)


async def test_a_chat_that_has_to_wait_holds_up_no_other(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, channel=terminal()) as it:
        it.channel.fail(Retryable("429", retry_after=60))
        slow = it.channel.hear("one", chat="slow")
        await it.channel.until(lambda: slow.key in it.channel.confirmed)
        await it.bot.turn_dispatcher.settled()
        row = await tried(it, "slow")
        async with asyncio.timeout(1):
            assert await it.text("two", chat="fast") == "re: two"
        assert not it.parts(slow.key)
        assert row.not_before == pytest.approx(time.time() + 60, abs=5)


async def test_the_whole_channel_waits_where_the_platform_says_so(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, channel=terminal()) as it:
        it.channel.fail(Retryable("429", retry_after=0.3, whole_channel=True))
        began = time.monotonic()
        it.channel.hear("one", chat="a")
        await it.channel.until(lambda: len(it.channel.confirmed) == 1)
        await it.bot.turn_dispatcher.settled()
        await it.text("two", chat="b")
        assert time.monotonic() - began >= 0.25


async def test_refused_markup_goes_out_as_plain_text(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: "**bold", channel=terminal()) as it:
        it.channel.fail(BadFormat("can't parse entities"))
        (part,) = await it.say("talk")
        assert (part.text, part.plain, part.repeated) == ("**bold", True, False)


async def test_plain_text_that_is_refused_as_markup_again_has_failed(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: "**bold", channel=terminal()) as it:
        it.channel.fail(BadFormat("no"), BadFormat("no"))
        it.channel.hear("talk")
        await it.channel.until(lambda: bool(it.channel.sent))
        assert it.channel.sent[0].kind == "notice"
        assert "could not be delivered" in it.channel.sent[0].text


async def test_a_lost_answer_without_a_key_is_repeated_once_and_marked(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, channel=terminal()) as it:
        it.channel.fail(Ambiguous("timeout"), arrived=True)
        it.channel.hear("talk")
        await it.channel.until(lambda: len(it.channel.sent) == 2)
        first, second = it.channel.sent
        assert (first.text, first.repeated) == ("re: talk", False)
        assert (second.text, second.repeated) == ("(possibly repeated)\nre: talk", True)


async def test_the_mark_is_in_the_language_of_the_conversation_and_fits_the_limit(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, lambda _: "字" * 250, channel=terminal()) as it:
        it.channel.fail(Ambiguous("timeout"), arrived=True)
        message = it.channel.hear("说吧")
        await it.channel.until(lambda: any(part.repeated for part in it.channel.sent))
        await it.answer(message.key)
        repeated = next(part for part in it.channel.sent if part.repeated)
        assert repeated.text.startswith("（可能重复）\n")
        assert text_length(repeated.text, "utf16") <= 100


async def test_an_answer_lost_twice_without_a_key_is_given_up_and_the_rest_goes_on(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, lambda _: long_words(), channel=terminal()) as it:
        it.channel.fail(Ambiguous("timeout"), Ambiguous("timeout"))
        message = it.channel.hear("talk")
        await it.channel.until(
            lambda: (
                it.channel.sent != []
                and it.channel.sent[-1].part_no == it.channel.sent[-1].parts - 1
            )
        )
        numbers = [part.part_no for part in it.parts(message.key)]
        assert numbers == list(range(1, len(numbers) + 1))


async def test_a_lost_answer_with_a_key_is_sent_again_with_the_same_key_and_no_mark(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, echo, channel=terminal(KEYED)) as it:
        it.channel.fail(Ambiguous("reset"), arrived=True)
        it.channel.hear("talk")
        await it.channel.until(lambda: len(it.channel.sent) == 2)
        first, second = it.channel.sent
        assert first.client_key == second.client_key
        assert not second.repeated
        assert first.text == second.text


async def test_answers_that_are_lost_again_and_again_are_not_tried_in_a_tight_loop(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, echo, channel=terminal(KEYED)) as it:
        it.channel.fail(*[Ambiguous("reset")] * 1_000)
        it.channel.hear("talk")
        await asyncio.sleep(1.2)
        row = await left(it)
        assert row is None or row.attempts <= 3


async def test_a_rejected_part_fails_the_later_ones_and_is_told_once(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: long_words(), channel=terminal()) as it:
        it.channel.fail(Rejected("message is too strange"))
        it.channel.hear("talk")
        await it.channel.until(lambda: len(it.channel.sent) == 1)
        await gone(it)
        assert {part.kind for part in it.channel.sent} == {"notice"}
        assert joined(it.channel.sent).count("could not be delivered: message is too strange") == 1
        assert any(event.name == "failed" for event in it.channel.shown)
        assert await left(it) is None


async def test_a_notice_that_is_rejected_too_is_not_told_of_again(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, channel=terminal()) as it:
        it.channel.fail(Rejected("blocked", gone=True), Rejected("blocked", gone=True))
        message = it.channel.hear("talk")
        await it.channel.until(lambda: message.key in it.channel.confirmed)
        await gone(it)
        assert not it.channel.sent
        assert await it.text("unblocked") == "re: unblocked"


async def test_a_channel_that_is_logged_out_keeps_what_is_to_be_sent(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, channel=terminal()) as it:
        it.channel.fail(LoggedOut("token revoked"))
        message = it.channel.hear("talk")
        await it.channel.until(lambda: message.key in it.channel.confirmed)
        await it.bot.turn_dispatcher.settled()
        row = await tried(it)
        assert row.state == "pending"
        assert row.not_before > time.time() + LOGGED_OUT_PAUSE - 10
        health = it.bot.gateway.health["terminal"]
        assert (health.up, health.trouble, health.why) == (False, "logged_out", "token revoked")


async def test_an_adapter_that_breaks_is_taken_for_a_lost_answer(tmp_path: Path) -> None:
    class Broken(Channel):
        broken = True

        async def send(self, message):  # type: ignore[no-untyped-def]
            if self.broken:
                self.broken = False
                raise KeyError("an adapter's fault")
            return await super().send(message)

    async with inside(tmp_path, echo, channel=Broken("terminal", "local", SHORT)) as it:
        (part,) = await it.say("talk")
        assert part.repeated


@pytest.mark.parametrize(("able", "mark"), [(SHORT, "(possibly repeated)\n"), (KEYED, "")])
async def test_a_crash_after_sending_repeats_that_part_once(
    tmp_path: Path, able: Capabilities, mark: str
) -> None:
    class Dying(Channel):
        """Takes the part, and then never lets the program know."""

        dead = asyncio.Event()

        async def send(self, message):  # type: ignore[no-untyped-def]
            await super().send(message)
            self.dead.set()
            await asyncio.Event().wait()

    dying = Dying("terminal", "local", able)
    async with inside(tmp_path, echo, channel=dying) as it:
        it.channel.hear("talk")
        await dying.dead.wait()
        await it.bot.store.close()
    async with inside(tmp_path, echo, channel=terminal(able)) as it:
        await it.channel.until(lambda: len(it.channel.sent) == 1)
        await gone(it)
        (again,) = it.channel.sent
        assert again.text == f"{mark}re: talk"
        assert again.client_key == dying.sent[0].client_key
    async with inside(tmp_path, echo, channel=terminal(able)) as it:
        await gone(it)
        assert not it.channel.sent


async def test_what_waits_for_an_unknown_channel_goes_out_once_it_is_there(tmp_path: Path) -> None:
    asked = terminal()
    async with inside(tmp_path, echo, channel=asked) as it:
        asked.fail(*[Retryable("the network is gone", retry_after=0.2)] * 100)
        message = asked.hear("talk")
        await asked.until(lambda: message.key in asked.confirmed)
        await tried(it)
        await it.bot.gateway.remove("terminal")
    later = Channel(name="other", account="bot")
    async with inside(tmp_path, echo, channel=later) as it:
        await gone(it)
        assert not later.sent
        back = terminal()
        await it.bot.channel_manager.add(back)
        await back.until(lambda: len(back.sent) == 1)
        assert back.sent[0].text == "re: talk"


async def test_a_channel_may_be_removed_while_all_are_closed(tmp_path: Path) -> None:
    class Leaving(Channel):
        async def close(self) -> None:
            await it.bot.gateway.remove("other")

    async with inside(tmp_path, echo, channel=Leaving(name="terminal", account="local")) as it:
        await it.bot.channel_manager.add(Channel(name="other", account="bot"))
        await it.bot.gateway.close()
        assert set(it.bot.gateway.channels) == {"terminal"}


async def test_a_channel_that_ended_with_an_error_is_heard_again(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, channel=terminal()) as it:
        it.channel.end(Retryable("connection reset"))
        await asyncio.sleep(0.05)
        health = it.bot.gateway.health["terminal"]
        assert (health.up, "connection reset" in health.why) == (False, True)
        assert await it.text("are you there?") == "re: are you there?"
        assert health.up


async def test_a_channel_that_ends_again_and_again_is_not_called_up_between(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, channel=terminal()) as it:
        it.channel.end(Retryable("once"))
        await asyncio.sleep(0.05)
        it.channel.end(Retryable("twice"))
        health = it.bot.gateway.health["terminal"]
        async with asyncio.timeout(3):
            while "twice" not in health.why:
                assert not health.up
                await asyncio.sleep(0.02)


def test_pauses_grow_and_have_an_end() -> None:
    assert next_reconnect_seconds(Retryable("x"), 0.0, 0.1) == 1.0
    assert next_reconnect_seconds(Retryable("x"), 1.0, 0.1) == 2.0
    assert next_reconnect_seconds(KeyError("x"), 50.0, 0.1) == LONGEST_DEAF
    assert next_reconnect_seconds(ChannelError("x"), 60.0, 3_600.0) == 1.0
    assert next_reconnect_seconds(LoggedOut("x"), 1.0, 3_600.0) == LOGGED_OUT_PAUSE
    assert [
        next_reconnect_seconds(ReceiverConflict("x"), last, 0.1) for last in (0.0, 1.0, 5.0, 40.0)
    ] == [
        5.0,
        5.0,
        10.0,
        LONGEST_DEAF,
    ]
    assert 0.5 <= next_attempt_seconds(1) <= 1.0
    assert 150.0 <= next_attempt_seconds(50) <= 300.0


def test_a_part_is_given_up_when_it_is_both_old_and_often_tried() -> None:
    assert not is_given_up(MOST_ATTEMPTS, timedelta(hours=2))
    assert not is_given_up(3, timedelta(days=2))
    assert is_given_up(MOST_ATTEMPTS, timedelta(days=2))


@pytest.mark.parametrize(
    "able", [SHORT, KEYED, Capabilities(limit=100, keyed=True, key_valid=60.0)]
)
def test_every_part_has_room_for_the_mark(able: Capabilities) -> None:
    parts = split_reply("字" * 1_000, "final", able)
    room = able.limit - len("（可能重复）\n") if able.limit else 1_000
    assert all(len(part.text) <= room for part in parts)
    assert "".join(part.text for part in parts) == "字" * 1_000


async def test_a_live_view_that_fails_costs_neither_the_message_nor_its_answer(
    tmp_path: Path,
) -> None:
    class Blind(Channel):
        def show(self, event: LiveEvent) -> None:
            raise KeyError(event.name)

    user_writes_first = Capabilities(live=True, keyed=True, key_valid=1e9, user_writes_first=True)
    async with inside(tmp_path, echo, channel=Blind("terminal", "local", user_writes_first)) as it:
        it.bot.gateway.publish = it.channel.show
        with capture_logs() as logged:
            answers = [await it.text(f"talk {number}", key=f"k{number}") for number in range(3)]
    assert answers == ["re: talk 0", "re: talk 1", "re: talk 2"]
    assert len(it.model.requests) == 3  # no turn was tried twice
    faults = [line for line in logged if line["log_level"] == "error"]
    assert [(line["event"], line["view"]) for line in faults] == [
        ("live view failed", "terminal"),
        ("live view failed", "elsewhere"),
    ]


class Waiting(Channel):
    """Is ready once `free` is set, or ends the wait with `error`."""

    def __init__(self) -> None:
        super().__init__("terminal", "local", Capabilities(limit=4096, unit="utf16"))
        self.free, self.arrived = asyncio.Event(), asyncio.Event()
        self.error: Exception | None = None

    async def wait_until_ready(self, address: Address, reply_to_key: str) -> None:
        self.arrived.set()
        await self.free.wait()
        if self.error is not None:
            error, self.error = self.error, None
            raise error


async def test_what_waits_for_a_connection_is_not_marked_as_being_sent(tmp_path: Path) -> None:
    channel = Waiting()
    async with inside(tmp_path, echo, channel=channel) as it:
        message = it.channel.hear("talk")
        await channel.arrived.wait()
        row = await left(it)
        assert row is not None
        assert (row.state, row.attempts) == ("pending", 0)
        channel.free.set()
        [sent] = await it.answer(message.key)
        await gone(it)
        assert (sent.text, sent.repeated) == ("re: talk", False)
        assert await left(it) is None


async def test_a_kill_while_a_part_waits_makes_no_repeat_of_it(tmp_path: Path) -> None:
    channel = Waiting()
    async with inside(tmp_path, echo, channel=channel) as it:
        it.channel.hear("talk")
        await channel.arrived.wait()
        frozen = tmp_path / "frozen"
        shutil.copytree(tmp_path / "data", frozen)
    store = await open_store(frozen / "mnema.db")
    try:
        assert (await store.delivery.recover()).sends_unknown == 0
        [conversation] = await store.delivery.unsent()
        row = await store.delivery.next_outbox_row(conversation)
        assert row is not None
        assert (row.text, row.repeats) == ("re: talk", 0)
    finally:
        await store.close()


@pytest.mark.parametrize(
    "error", [Ambiguous("lost"), Retryable("no connection"), RuntimeError("odd")]
)
async def test_whatever_ends_the_wait_for_a_channel_makes_no_repeat_of_the_part(
    tmp_path: Path, error: Any
) -> None:
    channel = Waiting()
    channel.free.set()
    channel.error = error
    async with inside(tmp_path, echo, channel=channel) as it:
        [sent] = await it.say("talk")
        await gone(it)
        assert (sent.text, sent.repeated) == ("re: talk", False)


async def test_a_part_that_is_dropped_while_it_waits_is_not_sent(tmp_path: Path) -> None:
    channel = Waiting()
    async with inside(tmp_path, echo, channel=channel) as it:
        it.channel.hear("talk")
        await channel.arrived.wait()
        await it.bot.store.sessions.clear(await it.conversation())
        channel.free.set()
        assert [part.text for part in await it.say("next")] == ["re: next"]
        assert [part.text for part in it.channel.sent] == ["re: next"]


class Full(Channel):
    """Counts the sends in progress; each waits until `free` is set."""

    def __init__(self) -> None:
        super().__init__("terminal", "local", Capabilities(limit=4096, unit="utf16"))
        self.free = asyncio.Event()
        self.in_progress = 0

    async def send(self, message: OutboundMessage) -> Receipt:
        self.in_progress += 1
        self._notify_waiters()
        await self.free.wait()
        return await super().send(message)


async def test_a_part_that_waits_for_a_place_among_the_sends_is_not_marked_as_being_sent(
    tmp_path: Path,
) -> None:
    channel = Full()
    chats = [f"c{number}" for number in range(MOST_SENDS + 1)]
    async with inside(tmp_path, echo, settings={"concurrency": len(chats)}, channel=channel) as it:
        messages = [it.channel.hear("talk", chat=chat) for chat in chats]
        await it.bot.turn_dispatcher.settled()
        await channel.until(lambda: channel.in_progress == MOST_SENDS)
        await it.bot.turn_dispatcher.settled()
        waiting = [row for chat in chats if (row := await left(it, chat)) is not None]
        assert [(row.state, row.attempts) for row in waiting] == [("pending", 0)]
        channel.free.set()
        for message in messages:
            [sent] = await it.answer(message.key)
            assert not sent.repeated
