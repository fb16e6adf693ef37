"""The emulator's readers of markup, judged by the markup that aiogram writes."""

import pytest
from aiogram.types import MessageEntity
from aiogram.utils.text_decorations import html_decoration, markdown_decoration
from hypothesis import given
from hypothesis import strategies as st

from tests.emulators.telegram_html import ParseError, parse_html, units
from tests.emulators.telegram_markdown import parse_markdown

FLAT = ("bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "text_link")
WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\0", exclude_categories=["Cc", "Cs"]),
    min_size=1,
    max_size=12,
)


@given(st.lists(st.tuples(WORDS, st.sampled_from(("", *FLAT))), min_size=1, max_size=8))
def test_what_another_client_writes_is_read_as_it_was_meant(pieces: list[tuple[str, str]]) -> None:
    text, entities = "", []
    for words, kind in pieces:
        if kind:
            url = "https://e.example/?a=1&b=2" if kind == "text_link" else None
            entities.append(
                MessageEntity(type=kind, offset=units(text), length=units(words), url=url)
            )
        text += words + "|"
    wanted = [(entity.type, entity.offset, entity.length) for entity in entities]
    readers = [(parse_html, html_decoration)]
    # into these it writes signs of its own
    if not {"italic", "underline", "pre"} & {kind for _, kind in pieces}:
        readers.append((parse_markdown, markdown_decoration))
    for reader, writer in readers:
        shown, found = reader(writer.unparse(text, entities))
        assert shown == text
        assert [(one["type"], one["offset"], one["length"]) for one in found] == wanted


@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        ("*b _i_*", "b i", [("italic", 2, 1), ("bold", 0, 3)]),
        (
            "__u__ ||s|| ~x~",
            "u s x",
            [("underline", 0, 1), ("spoiler", 2, 1), ("strikethrough", 4, 1)],
        ),
        ("🙂 `a_b` \\.", "🙂 a_b .", [("code", 3, 3)]),
        ("```py\na*b\n```", "a*b\n", [("pre", 0, 4)]),
        (">one\n>two\nafter", "one\ntwo\nafter", [("blockquote", 0, 7)]),
        ("[l](https://x\\.y/)", "l", [("text_link", 0, 1)]),
        ("[l](javascript:x)", "l", []),
    ],
)
def test_markdown_is_read_as_the_server_does(
    markdown: str, text: str, entities: list[tuple[str, int, int]]
) -> None:
    shown, found = parse_markdown(markdown)
    assert (shown, [(one["type"], one["offset"], one["length"]) for one in found]) == (
        text,
        entities,
    )


@pytest.mark.parametrize(
    ("markdown", "why"),
    [
        ("end.", "Character '.' is reserved and must be escaped with the preceding '\\'"),
        ("a > b", "Character '>' is reserved and must be escaped with the preceding '\\'"),
        ("a | b", "Character '|' is reserved and must be escaped with the preceding '\\'"),
        ("中 *b", "Can't find end of Bold entity at byte offset 4"),
        ("_i", "Can't find end of Italic entity at byte offset 0"),
        ("```x", "Can't find end of Pre entity at byte offset 0"),
        ("[l](http://x", "Can't find end of a URL at byte offset 12"),
    ],
)
def test_markdown_is_refused_in_the_servers_words(markdown: str, why: str) -> None:
    with pytest.raises(ParseError) as refused:
        parse_markdown(markdown)
    assert str(refused.value) == why
