"""The status of a channel from what the gateway saw and what the channel reports: phases, text,
JSON.
"""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.gateway.channel_status import (
    ChannelHealth,
    ChannelStatus,
    channel_phase,
    channel_status,
    channel_status_from_json,
    channel_status_to_json,
    channel_statuses,
    format_channel_status,
)
from bot.texts import format_duration
from channels.base import ConnectionStatus, LoginPrompt
from channels.errors import Ambiguous, LoggedOut, ReceiverConflict, Retryable
from channels.message import Capabilities
from channels.phrases import ShownPhrase
from channels.testing import ScriptedChannel
from tests.bot.moody import DIGITS, QR, Moody
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
DEAF_AFTER = 105.0

NOW = 1_790_000_000.0
LONGEST_POLL, RED_WITHIN = 35.0, 120.0


def up(since: float = NOW - 600) -> ChannelHealth:
    return ChannelHealth(up=True, since=since)


def fallen(err: Exception, at: float, since: float = NOW - 600) -> ChannelHealth:
    health = up(since)
    health.fall(err, at)
    return health


def phase(
    health: ChannelHealth, heard: float | None, prompt: LoginPrompt | None = None
) -> tuple[str, float]:
    return channel_phase(health, heard, prompt, NOW)


def test_a_channel_that_hears_is_up_since_it_rose() -> None:
    assert phase(up(), NOW - 12) == ("up", NOW - 600)


def test_I10_silence_is_red_after_three_polls_and_within_two_minutes() -> None:
    assert 3 * LONGEST_POLL <= DEAF_AFTER < RED_WITHIN
    assert phase(up(), NOW - DEAF_AFTER)[0] == "up"
    assert phase(up(), NOW - DEAF_AFTER - 1) == ("deaf", NOW - DEAF_AFTER - 1)


def test_one_that_was_never_heard_connects_and_is_then_deaf() -> None:
    assert phase(up(NOW - 20), 0.0)[0] == "connecting"
    assert phase(up(NOW - DEAF_AFTER - 1), 0.0)[0] == "deaf"


def test_silence_means_nothing_where_the_platform_calls_us() -> None:
    assert phase(up(), None) == ("up", NOW - 600)


def test_a_task_that_runs_again_is_not_up_before_it_has_heard_something() -> None:
    health = fallen(Retryable("connection reset"), NOW - 30)
    health.rise(NOW - 25)
    assert phase(health, NOW - 90) == ("down", NOW - 30)
    assert phase(health, NOW - 20) == ("up", NOW - 25)


@every_case(
    ("err", "expected"),
    [
        (LoggedOut("the token is refused"), "logged_out"),
        (ReceiverConflict("another program polls"), "contended"),
        (Ambiguous("reset"), "down"),
        (ValueError("odd"), "down"),
    ],
)
def test_what_ended_it_names_the_mood(err: Exception, expected: str) -> None:
    assert phase(fallen(err, NOW - 5), NOW - 1) == (expected, NOW - 5)


def test_what_it_asks_for_counts_for_more_than_that_its_task_runs() -> None:
    assert phase(up(), NOW, QR)[0] == "asking"
    assert phase(fallen(LoggedOut("session expired"), NOW - 5), NOW, QR)[0] == "asking"


def test_the_same_trouble_again_began_when_it_began_and_another_one_now() -> None:
    health = fallen(LoggedOut("session expired"), NOW - 300)
    health.fall(LoggedOut("session expired"), NOW - 240)
    assert (health.since, health.last_error_at) == (NOW - 300, NOW - 240)
    health.fall(ReceiverConflict("another program polls"), NOW - 10)
    assert (health.since, health.why) == (NOW - 10, "another program polls")
    health.rise(NOW)
    assert (health.up, health.why, health.last_error) == (True, "", "another program polls")


def test_an_error_that_is_not_the_platforms_is_named_by_its_kind() -> None:
    assert fallen(ValueError("odd"), NOW).why == "ValueError: odd"


def test_a_channel_without_feelings_is_what_the_gateway_saw() -> None:
    found = channel_statuses(
        {"b": ScriptedChannel(name="b"), "a": ScriptedChannel(name="a")},
        {"a": up(), "b": up()},
        NOW,
    )
    assert [(name, one.phase, one.last_contact, one.has_login) for name, one in found.items()] == [
        ("a", "up", 0.0, False),
        ("b", "up", 0.0, False),
    ]


def test_what_the_channel_feels_is_part_of_its_state() -> None:
    channel = Moody()
    channel.felt = ConnectionStatus(
        last_contact=NOW - 3, trouble="two replies wait for their reader", quota="7 of 10"
    )
    state = channel_status(channel, up(), NOW)
    assert (state.ready, state.why, state.quota, state.has_login) == (
        True,
        "two replies wait for their reader",
        "7 of 10",
        True,
    )
    channel.felt = replace(channel.felt, last_contact=NOW - 400)
    assert not channel_status(channel, up(), NOW).ready
    hooked = Moody(capabilities=Capabilities(hook=True))
    hooked.felt = ConnectionStatus(last_contact=NOW - 400)
    assert channel_status(hooked, up(), NOW).ready


def test_the_words_say_since_when_what_went_wrong_and_what_is_left() -> None:
    state = ChannelStatus(
        name="telegram", phase="up", since=NOW - 11_520, last_contact=NOW - 12, quota="7 of 10",
        last_error="reset", last_error_at=NOW - 11_530,
    )  # fmt: skip
    assert format_channel_status(state, NOW, "en") == (
        "● telegram — connected for 3 h 12 min; last heard 12 s ago; last error 3 h 12 min ago: "
        "reset; left: 7 of 10"
    )
    assert format_channel_status(state, NOW, "zh") == (
        "● telegram — 已连接 3 小时 12 分钟；12 秒前收到平台消息；3 小时 12 分钟前出错：reset；"
        "余量：7 of 10"
    )


def test_the_words_of_a_trouble_name_it_once() -> None:
    health = fallen(ReceiverConflict("another program polls"), NOW - 60)
    state = channel_status(Moody("telegram"), health, NOW)
    assert format_channel_status(state, NOW, "en").startswith(
        "○ telegram — on standby for 1 min: another program is receiving instead (another "
        "program polls)"
    )
    assert format_channel_status(state, NOW, "en").count("another program polls") == 1
    assert "已待命 1 分钟" in format_channel_status(state, NOW, "zh")


def test_what_lets_somebody_in_is_in_no_words_and_no_status() -> None:
    channel = Moody("wechat")
    channel.asked = QR
    state = channel_status(channel, up(), NOW)
    # there is nothing to scan where this is read
    assert "扫码" not in format_channel_status(state, NOW, "zh")
    channel.asked = DIGITS
    assert format_channel_status(channel_status(channel, up(), NOW), NOW, "zh").endswith(
        "；请输入手机上显示的数字"
    )
    for told in (
        json.dumps(channel_status_to_json(state)),
        format_channel_status(state, NOW, "en"),
        format_channel_status(state, NOW, "zh"),
    ):
        assert "s3cret" not in told


@given(
    st.builds(
        ChannelStatus,
        name=st.just("telegram"),
        phase=st.sampled_from(
            ["up", "connecting", "asking", "deaf", "down", "logged_out", "contended"]
        ),
        since=st.integers(0, 2**31),
        last_contact=st.integers(0, 2**31),
        last_error_at=st.integers(0, 2**31),
        why=st.text(),
        last_error=st.text(),
        quota=st.text(),
        has_login=st.booleans(),
        prompt=st.none()
        | st.builds(
            LoginPrompt,
            kind=st.sampled_from(["qr", "digits", "wait"]),
            about=st.builds(ShownPhrase, en=st.text(), zh=st.text()),
        ),
    )
)
def test_what_the_api_tells_is_read_back_whole(state: ChannelStatus) -> None:
    told = channel_status_to_json(state)
    assert channel_status_from_json("telegram", json.loads(json.dumps(told))) == state
    assert told["up"] == state.ready
    for lang in ("zh", "en"):
        assert format_channel_status(state, NOW, lang).startswith(
            ("● telegram — ", "○ telegram — ")
        )


@every_case(
    ("seconds", "zh", "en"),
    [
        (-5, "0 秒", "0 s"),
        (59.9, "59 秒", "59 s"),
        (60, "1 分钟", "1 min"),
        (3_600, "1 小时", "1 h"),
        (90_061, "1 天 1 小时", "1 d 1 h"),
        (172_860, "2 天 1 分钟", "2 d 1 min"),
    ],
)
def test_a_length_of_time_has_two_units_at_most(seconds: float, zh: str, en: str) -> None:
    assert (format_duration(seconds, "zh"), format_duration(seconds, "en")) == (zh, en)
