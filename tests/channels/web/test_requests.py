"""Pure functions: condensed events, event ids, file labels, text cleaning."""

import json
from datetime import UTC, datetime
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import LiveEvent
from channels.web.backend import web_address
from channels.web.events import StreamPosition, condense_events, parse_position
from channels.web.requests import HttpRefusal, clean_text, file_label, parse_json, parse_message
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
LABEL_BYTES = 120

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PLACE = web_address("c1")


def event(name: str, text: str = "", **facts: bool) -> LiveEvent:
    return LiveEvent(address=PLACE, name=name, message_id="m", text=text, facts=facts)


@given(st.lists(st.tuples(st.sampled_from(["delta", "tool_started", "tool_ended"]), st.text(max_size=9))))
def test_condensed_events_tell_the_whole_text_and_the_open_tool(told: list[tuple[str, str]]) -> None:
    events = [event("started"), *(event(name, text) for name, text in told)]
    short = reduce(condense_events, events, ())
    by_name = {one.name: one for one in short}
    whole = "".join(text for name, text in told if name == "delta")
    assert len(short) == len(by_name) <= 3
    assert short[0].name == "started"
    if any(name == "delta" for name, _ in told):
        assert by_name["delta"].text == whole
        assert by_name["delta"].facts["whole"] is True
    tools = [name for name, _ in told if name != "delta"]
    assert ("tool_started" in by_name) == (bool(tools) and tools[-1] == "tool_started")


def test_a_void_text_and_a_new_start_begin_again() -> None:
    shown = reduce(condense_events, [event("delta", "a"), event("delta", "", whole=True), event("delta", "b")], ())
    assert [one.text for one in shown] == ["b"]
    assert condense_events(shown, event("started")) == (event("started"),)


@every_case(
    ("text", "place"),
    [
        ("7", StreamPosition(line=7)),
        ("7.12", StreamPosition(line=7, step=12)),
        (" 0 ", StreamPosition(line=0)),
        ("", None),
        ("-1", None),
        ("7.", None),
        ("١", None),
        ("9" * 16, None),
        ("7.1.1", None),
        ("x", None),
    ],
)
def test_event_ids_are_read_strictly(text: str, place: StreamPosition | None) -> None:
    assert parse_position(text) == place


@given(st.text(st.characters(), max_size=200))
def test_cleaned_text_can_be_stored_and_keeps_everything_else(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned.encode().decode() == cleaned
    assert "\0" not in cleaned
    if text.isprintable():
        assert cleaned == text


@given(st.text(st.characters(), max_size=300))
def test_a_label_is_short_visible_and_never_a_path(name: str) -> None:
    shown = file_label(name)
    assert shown
    assert len(shown.encode()) <= LABEL_BYTES
    assert not set(shown) & set("/\\\0\u202e\u2066\n\r")
    assert shown not in (".", "..")


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=50).filter(lambda key: clean_text(key) == key))
def test_a_message_keeps_its_text_and_its_key_within_its_conversation(text: str, key: str) -> None:
    fields = {"conversation": "c1", "text": text, "key": key}
    if not clean_text(text).strip():
        with pytest.raises(HttpRefusal, match="text is empty"):
            parse_message(fields, NOON)
        return
    message = parse_message(fields, NOON)
    assert message.text == clean_text(text)
    assert message.key == f"c1\x1f{key}"
    assert message.address == PLACE


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=20,
    )
)
def test_plain_json_is_read_as_it_was_written(value: object) -> None:
    assert parse_json(json.dumps(value).encode()) == value
