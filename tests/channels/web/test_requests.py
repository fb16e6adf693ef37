"""Pure functions: condensed events, event ids, file labels, text cleaning."""

import json
from datetime import UTC, datetime
from functools import reduce
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from channels.message import LiveEvent
from channels.web.backend import web_address
from channels.web.events import StreamPosition, condense_events, parse_position
from channels.web.models import NewMessageBody
from channels.web.requests import HttpRefusal, clean_text, file_label, parse_json
from channels.web.routes import to_inbound_message
from channels.web.validation import Base64Data, Day, RequiredWord, at_most, parse_body, parse_query
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
LABEL_BYTES = 120

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PLACE = web_address("c1")


def event(name: str, text: str = "", **facts: bool) -> LiveEvent:
    return LiveEvent(address=PLACE, name=name, message_id="m", text=text, facts=facts)


@given(
    st.lists(
        st.tuples(st.sampled_from(["delta", "tool_started", "tool_ended"]), st.text(max_size=9))
    )
)
def test_condensed_events_tell_the_whole_text_and_the_open_tool(
    told: list[tuple[str, str]],
) -> None:
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
    shown = reduce(
        condense_events,
        [event("delta", "a"), event("delta", "", whole=True), event("delta", "b")],
        (),
    )
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


@given(
    st.text(min_size=1, max_size=200),
    st.text(min_size=1, max_size=50).filter(lambda key: clean_text(key) == key),
)
def test_a_message_keeps_its_text_and_its_key_within_its_conversation(text: str, key: str) -> None:
    body = parse_body(NewMessageBody, {"conversation": "c1", "text": text, "key": key})
    if not clean_text(text).strip():
        with pytest.raises(HttpRefusal, match="text is empty"):
            to_inbound_message(body, body.key, NOON)
        return
    message = to_inbound_message(body, body.key, NOON)
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


class Inner(BaseModel):
    data: Base64Data


class Everything(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: RequiredWord = "x"
    count: int = Field(1, ge=1, le=9)
    limit: Annotated[int, at_most(200)] = Field(50, ge=1, le=200)
    on: bool = False
    kind: Literal["", "log", "said", "tool"] = ""
    share: float = 0.0
    files: Annotated[list[Inner], Field(min_length=1, max_length=2)] = Field([Inner(data="aA==")])  # type: ignore[arg-type]
    part: dict[str, int] = Field({})
    day: Day = ""


@every_case(
    ("body", "field", "sentence"),
    [
        ({"name": 5}, "name", "name must be a string"),
        ({"name": " "}, "name", "name is missing"),
        ({"name": "x" * 201}, "name", "name may have at most 200 characters"),
        ({"name": "\ud800"}, "name", "name must be plain text"),
        ({"count": "5"}, "count", "count must be a whole number"),
        ({"count": True}, "count", "count must be a whole number"),
        ({"count": 0}, "count", "count must be 1 or more"),
        ({"count": 10}, "count", "count must be 9 or less"),
        ({"on": 1}, "on", "on must be true or false"),
        ({"kind": "x"}, "kind", "kind must be one of log, said, tool"),
        ({"share": "x"}, "share", "share must be a number"),
        ({"files": {}}, "files", "files must be a list"),
        ({"files": []}, "files", "files is empty"),
        ({"files": [{"data": "aA=="}] * 3}, "files", "files may have at most 2 entries"),
        ({"files": [{"data": "aA=="}, {}]}, "files", "files.1.data is missing"),
        ({"files": [{"data": 5}]}, "files", "data must be base64"),
        ({"files": ["x"]}, "files", "files.0 must be an object"),
        ({"part": []}, "part", "part must be an object"),
        ({"day": "2026-13-01"}, "day", "day must be a day such as 2026-11-20"),
        ({"colour": "red"}, "colour", "colour is not a field here"),
    ],
)
def test_a_wrong_field_is_named_in_one_sentence(
    body: dict[str, object], field: str, sentence: str
) -> None:
    with pytest.raises(HttpRefusal) as refused:
        parse_body(Everything, body)
    assert (refused.value.status, refused.value.field, str(refused.value.message)) == (
        400,
        field,
        sentence,
    )


@every_case(
    ("query", "expected"),
    [
        (b"limit=900&on=1&name=+a%00b+&kind=&x=y", {"limit": 200, "on": True, "name": "ab"}),
        (b"limit=" + b"9" * 30, {"limit": 200}),
        (b"day=20261120", {"day": "2026-11-20"}),
        (b"", {}),
    ],
)
def test_a_query_is_taken_for_what_it_means(query: bytes, expected: dict[str, object]) -> None:
    request = Request({"type": "http", "query_string": query, "headers": []})
    found = parse_query(Forgiving, request)
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.model_fields_set == set(expected)


class Forgiving(Everything):
    model_config = ConfigDict(extra="ignore")
