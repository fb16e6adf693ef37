"""config.json into a backup and back, whatever it contains."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from bot.cli.backup.config import (
    UnreadableConfig,
    keep_file_only,
    restore_secrets,
    restrict_access,
    strip_secrets,
)
from bot.config.keys import list_secrets
from bot.config.loader import default_settings
from tests.cases import every_case

VALUES = st.text(st.characters(codec="utf-8", exclude_characters="$"), min_size=1, max_size=20)


@st.composite
def settings(draw: st.DrawFn) -> dict[str, Any]:
    """Settings with some secrets."""
    every = default_settings()
    every["llm"]["api_key"] = draw(st.sampled_from(["", "${NAME}"]) | VALUES)
    every["llm"]["fallback"] = [
        {"provider": "openai", "api_key": value}
        for value in draw(st.lists(VALUES | st.just(""), max_size=3))
    ]
    every["llm"]["proxy"] = draw(st.sampled_from(["", "http://h:1", "http://u:word@h:1"]))
    every["channels"]["telegram"]["token"] = draw(VALUES | st.just(""))
    every["channels"]["telegram"]["owners"] = draw(st.lists(st.sampled_from("123"), unique=True))
    every["database_url"] = draw(
        st.sampled_from(["", "postgresql+psycopg://u:word@h/x", "postgresql+psycopg://u@h/x"])
    )
    return every


@bounds(deadline=None)
@given(settings(), st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_no_secret_stays_and_all_come_back_from_the_same_home(
    held: dict[str, Any], indent: Any, plain: bool
) -> None:
    text = json.dumps(held, indent=indent, ensure_ascii=plain)
    bare, left_out = strip_secrets(text)
    assert list(list_secrets(json.loads(bare))) == []
    assert len(left_out) == len(list(list_secrets(held)))
    assert restore_secrets(bare, left_out, text) == (text, ())
    assert restore_secrets(bare, left_out, "") == (bare, left_out)
    assert restrict_access(text, text) == (text, ())


@bounds(deadline=None)
@given(settings(), settings())
def test_nobody_is_listed_who_was_not_in_both(held: dict[str, Any], here: dict[str, Any]) -> None:
    text, gone = restrict_access(json.dumps(held), json.dumps(here))
    before, now = (one["channels"]["telegram"]["owners"] for one in (held, json.loads(text)))
    assert now == [one for one in before if one in here["channels"]["telegram"]["owners"]]
    assert len(gone) == len(before) - len(now)


@pytest.mark.parametrize("key", ["base_url", "provider"])
def test_a_secret_is_not_given_to_another_server(key: str) -> None:
    bare, left_out = strip_secrets(
        '{"llm": {"api_key": "k", "provider": "openai", "base_url": "http://a.example"}}'
    )
    for elsewhere in (f'"{key}": "other"', '"model": "m"'):
        here = f'{{"llm": {{"api_key": "k", {elsewhere}}}}}'
        assert restore_secrets(bare, left_out, here) == (bare, ("llm.api_key",))


@every_case(
    "text",
    [
        "",
        "[]",
        '{"a',
        '{"llm": {"api_kye": "x"}}',
        '{"lmm": {"api_key": "x"}}',
        '{"llm": {"model": {"x": "y"}}}',
    ],
)
def test_a_text_whose_secrets_nobody_can_tell_is_not_right(text: str) -> None:
    with pytest.raises(UnreadableConfig):
        strip_secrets(text)


@pytest.mark.parametrize("value", ['["x"]', '{"x": "y"}', "12345678"])
def test_a_secret_of_another_kind_is_left_out_or_refused(value: str) -> None:
    try:
        bare, left_out = strip_secrets(f'{{"llm": {{"api_key": {value}}}}}')
    except UnreadableConfig:
        return
    assert "x" not in bare.replace("api_key", "")
    assert "12345678" not in bare
    assert left_out


def test_names_of_secrets_that_are_no_such_keys_change_nothing() -> None:
    text = '{"llm": {"model": "a", "api_key": ""}}'
    here = '{"llm": {"model": "b", "api_key": "k"}}'
    assert restore_secrets(
        text, ("llm.model", "llm", "", "nothing.at.all", "llm.fallback.0.api_key"), here
    ) == (
        text,
        (),
    )


@pytest.mark.parametrize(
    "own", ["", "{}", '{"mcp": {"files": {"command": ["files"]}}, "language": "zh"}']
)
def test_a_restore_by_the_page_brings_no_program_that_is_run(own: str) -> None:
    theirs = '{"mcp": {"x": {"command": ["sh"]}}, "plugins": {"p": {}}, "language": "en"}'
    kept, known = json.loads(keep_file_only(theirs, own)), json.loads(own or "{}")
    assert kept == {"mcp": known.get("mcp", {}), "plugins": {}, "language": "en"}
    assert json.loads(keep_file_only('{"language": "en"}', own)).get("mcp", {}) == known.get(
        "mcp", {}
    )
