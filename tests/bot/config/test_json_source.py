"""Reading JSON with positions, and edits that leave everything else as written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config import json_source
from bot.config.json_source import JsonSyntaxError
from tests.cases import every_case

scalars = st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=8)
scalars = scalars | st.floats(allow_nan=False, allow_infinity=False)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
)
objects = st.dictionaries(names, values, max_size=4)
layouts = st.sampled_from(
    [{"indent": 2}, {"indent": "\t"}, {"indent": None}, {"separators": (",", ":")}]
)


@given(objects, layouts)
def test_what_json_writes_is_read_as_json_reads_it(
    settings: dict[str, Any], layout: dict[str, Any]
) -> None:
    assert json_source.parse_config_json(json.dumps(settings, **layout)).value == settings


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_place_in_it(text: str) -> None:
    offset = 0
    try:
        json_source.parse_config_json(text)
    except JsonSyntaxError as err:
        offset = err.offset
    assert 0 <= offset <= len(text)
    assert json_source.line_and_column(text, offset) >= (1, 1)


@given(objects, st.lists(names, min_size=1, max_size=3), values, layouts)
def test_an_edit_changes_its_place_and_nothing_else(
    settings: dict[str, Any], path: list[str], value: Any, layout: dict[str, Any]
) -> None:
    text = json.dumps(settings, **layout)
    expected = json.loads(text)
    section = expected
    for step in path[:-1]:
        if not isinstance(section.get(step), dict):
            section[step] = {}
        section = section[step]
    section[path[-1]] = value
    assert (
        json_source.parse_config_json(json_source.replace_value(text, tuple(path), value)).value
        == expected
    )


def test_an_edit_keeps_order_blanks_and_line_ends() -> None:
    text = '\ufeff{\r\n    "b" : 1,\r\n    "a": {"x":1,   "y": 2}\r\n}\r\n'
    edited = json_source.replace_value(text, ("a", "x"), 7)
    assert edited == text.replace('"x":1', '"x":7')
    added = json_source.replace_value(text, ("c",), {"d": True})
    assert added == text.replace("2}\r\n}", '2},\r\n    "c": {\r\n        "d": true\r\n    }\r\n}')
    assert json_source.replace_value(text, ("a", "z"), "é") == text.replace(
        '"y": 2}', '"y": 2, "z": "é"}'
    )


@every_case(
    ("text", "fault", "place"),
    [
        ("", "empty", (1, 1)),
        ("[]", "not_object", (1, 1)),
        ('{"a": 1,}', "trailing_comma", (1, 8)),
        ('{"a": 1\n "b": 2}', "no_comma", (2, 2)),
        ('{"a" 1}', "no_colon", (1, 6)),
        ("{a: 1}", "bare_key", (1, 2)),
        ("{'a': 1}", "bare_key", (1, 2)),
        ('{"a": }', "no_value", (1, 7)),
        ('{"a": yes}', "bare_word", (1, 7)),
        ('{"a": NaN}', "bare_word", (1, 7)),
        ('{"a": 01}', "bare_word", (1, 7)),
        ('{"a": 1e999}', "long_number", (1, 7)),
        ('{"a": ' + "9" * 5000 + "}", "long_number", (1, 7)),
        ('{"a": 1, "a": 2}', "duplicate", (1, 10)),
        ('{"a": "b', "open_string", (1, 7)),
        ('{"a": "b\nc"}', "bad_string", (1, 9)),
        ('{\n "a": 1', "cut_off", (2, 8)),
        ('{"a": 1} x', "trailing_text", (1, 10)),
        ("// hi\n{}", "comment", (1, 1)),
        ('{"a": ' + "[" * 40 + "]" * 40 + "}", "too_deep", (1, 38)),
    ],
)
def test_what_is_not_json_is_refused_by_name_and_place(
    text: str, fault: str, place: tuple[int, int]
) -> None:
    with pytest.raises(JsonSyntaxError) as caught:
        json_source.parse_config_json(text)
    assert caught.value.fault == fault
    assert json_source.line_and_column(text, caught.value.offset) == place


def test_a_byte_order_mark_has_no_column() -> None:
    with pytest.raises(JsonSyntaxError) as caught:
        json_source.parse_config_json("\ufeff{x}")
    assert json_source.line_and_column("\ufeff{x}", caught.value.offset) == (1, 2)


def test_a_lone_surrogate_cannot_get_in() -> None:
    assert json_source.parse_config_json(r'{"a": "\ud800x"}').value == {"a": "?x"}
