"""Markdown to Telegram's HTML, judged by the emulator's strict reader."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Address, OutboundMessage
from channels.telegram.html import to_html, visible_text
from channels.telegram.messages import render
from channels.toolkit.text import split_text
from tests.cases import every_case
from tests.emulators.telegram_html import ParseError, parse_html

BLOCKS = ("```", "```py\n", "> ", "- ", "1. ", "| a | b |\n|---|---|\n")
INLINES = (
    "**",
    "~~",
    "](",
    "http://x",
    "<b>",
    "</b>",
    "&lt;",
    "&#0;",
    "<script>",
    "tg://user?id=1",
)
SIGNS = (*"*_`~[]()<>&\\#>-+=|!\n\t \"'\x1b中🙂", "word")
HOSTILE = st.lists(st.sampled_from(SIGNS + BLOCKS + INLINES), max_size=120).map("".join)


@given(HOSTILE | st.text(max_size=300))
def test_whatever_the_markdown_the_server_can_read_the_html(markdown: str) -> None:
    html = to_html(markdown)
    text, _ = parse_html(html)
    assert text == visible_text(html)


@given(HOSTILE)
def test_no_letter_is_lost(markdown: str) -> None:
    html = to_html(markdown)
    if html:
        wanted = sum(sign in "wo中🙂" for sign in markdown.replace("```py", ""))
        assert sum(sign in "wo中🙂" for sign in html) >= wanted


WORD = st.integers(0, 10**6).map(lambda number: f"w{number}")
INLINE = st.recursive(
    WORD | WORD.map(lambda word: f"`{word} < &`"),
    lambda inside: (
        st.builds(
            lambda mark, words: f"{mark}{' '.join(words)}{mark}",
            st.sampled_from(["**", "*", "~~", "***"]),
            st.lists(inside, min_size=1, max_size=3),
        )
        | inside.map(lambda words: f"[{words}](https://e.example/?a=1&b=2)")
    ),
    max_leaves=8,
)
LINE = st.lists(INLINE, min_size=1, max_size=12).map(" ".join)
CODE = st.integers(1, 900).map(
    lambda lines: "```py\n" + "\n".join(f"w{line}" for line in range(lines)) + "\n```"
)
TABLE = st.builds(
    lambda row, rows: "\n".join(
        ["| wa | wb |", "|---|---|", *(f"| {row} | w{number} |" for number in range(rows))]
    ),
    INLINE,
    st.integers(1, 60),
)
DOCUMENT = st.lists(
    st.recursive(
        LINE | CODE | TABLE | LINE.map(lambda line: f"# {line}"),
        lambda blocks: (
            blocks.map(lambda block: "\n".join(f"> {line}" for line in block.split("\n")))
            | st.lists(blocks, min_size=1, max_size=3).map(
                lambda items: "\n".join("- " + item.replace("\n", "\n  ") for item in items)
            )
        ),
        max_leaves=4,
    ),
    min_size=1,
    max_size=6,
).map("\n\n".join)
LIMIT = 4096
_WORD = re.compile(r"\bw\d+\b")


@given(DOCUMENT)
def test_the_parts_of_a_document_show_all_its_words_in_order(document: str) -> None:
    address = Address(channel="telegram", account="1", chat_id="1")
    shown = []
    for number, piece in enumerate(split_text(document, LIMIT, "utf16")):
        parameters = render(
            OutboundMessage(id="o", address=address, client_key="k", text=piece, part_no=number)
        )
        text = parameters["text"]
        shown.append(parse_html(text)[0] if "parse_mode" in parameters else text)
    assert all(len(text.encode("utf-16-le")) // 2 <= LIMIT for text in shown)
    assert _WORD.findall("\n".join(shown)) == _WORD.findall(document)


@given(DOCUMENT | HOSTILE)
def test_marks_nest_and_nothing_stands_in_code(document: str) -> None:
    spans = [
        (entity["offset"], entity["offset"] + entity["length"], entity["type"])
        for entity in parse_html(to_html(document))[1]
    ]
    for start, end, kind in spans:
        for other, last, inner in spans:
            assert not start < other < end < last, "they cross"
            if kind in ("code", "pre") and (start, end, kind) != (other, last, inner):
                assert not start <= other < last <= end or (start, end) == (other, last)


def marks(markdown: str) -> list[tuple[str, str]]:
    """Return (type of entity, the text it covers) as the server would display it."""
    text, entities = parse_html(to_html(markdown))
    units = text.encode("utf-16-le")
    return [
        (e["type"], units[2 * e["offset"] : 2 * (e["offset"] + e["length"])].decode("utf-16-le"))
        for e in entities
    ]


@every_case(
    ("markdown", "entities"),
    [
        (
            "**b** and *i* and ~~s~~ and `c`",
            [("bold", "b"), ("italic", "i"), ("strikethrough", "s"), ("code", "c")],
        ),
        ("# Title 🙂", [("bold", "Title 🙂")]),
        ("🙂 [l](https://x.y/?a=1&b=2)", [("text_link", "l")]),
        ("```py\na < b\n```", [("pre", "a < b")]),
        ("> said", [("blockquote", "said")]),
        ("> a\n> > b", [("blockquote", "a\n\nb")]),
        ("**a *b***", [("italic", "b"), ("bold", "a b")]),
    ],
)
def test_marks_become_entities(markdown: str, entities: list[tuple[str, str]]) -> None:
    assert marks(markdown) == entities


@every_case(
    ("markdown", "shown"),
    [
        ("a < b & c > d", "a < b & c > d"),
        ("<b>raw</b><br>", "<b>raw</b><br>"),
        ("- a\n- b\n  - c", "• a\n• b\n  • c"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("- x\n  ```\n  a\n    b\n  ```", "• x\n  a\n  b"),
        (
            "| a | bb |\n|---|---|\n| 中 | [l](http://u.v) |",
            "a | bb\n--+---------------\n中 | l (http://u.v)",
        ),
        ("[me](tg://user?id=7)", "me (tg://user?id=7)"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[note]: http://u.v", "[note]: http://u.v"),
        ("![alt](http://u.v/p.png)", "alt"),
        ("a\n\n***\n\nb", "a\n\n———\n\nb"),
    ],
)
def test_what_telegram_lacks_is_written_out(markdown: str, shown: str) -> None:
    text = visible_text(to_html(markdown))
    if "```" in markdown:
        assert text.split() == shown.split()
    else:
        assert text == shown


def test_code_in_a_list_keeps_its_indentation() -> None:
    assert "<pre>a\n  b</pre>" in to_html("- x\n\n  ```\n  a\n    b\n  ```")


def test_nesting_without_end_is_shown_as_it_is_written() -> None:
    html = to_html(">" * 2000 + " deep")
    assert visible_text(html) == ">" * 2000 + " deep"


@every_case("markdown", ["", "\n \n", "```\n```", "#"])
def test_nothing_visible_gives_nothing(markdown: str) -> None:
    assert to_html(markdown) == ""


@every_case(
    ("html", "why"),
    [
        ("a < b", 'Unsupported start tag "" at byte offset 2'),
        ("中<br>", 'Unsupported start tag "br" at byte offset 3'),
        ("<b/>x</b>", 'Unsupported start tag "b/" at byte offset 0'),
        ("x <b", "Unclosed start tag at byte offset 2"),
        ('<a href="x', 'Unclosed start tag "a" at byte offset 0'),
        ("<a =x>y</a>", 'Empty attribute name in the tag "a" at byte offset 0'),
        ("<a href=x/y>z</a>", "Unexpected end of name token at byte offset 8"),
        ('<span class="x">y</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b>x</b ", "Unclosed end tag at byte offset 4"),
        ("<b>x</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
    ],
)
def test_the_emulators_reader_refuses_in_the_servers_words(html: str, why: str) -> None:
    with pytest.raises(ParseError) as refused:
        parse_html(html)
    assert str(refused.value) == why


def test_the_emulators_reader_reads_what_is_right() -> None:
    text, entities = parse_html(
        "<B>x</> &amp; &nbsp; &#65;<blockquote "
        "expandable>q</blockquote><i></i><tg-spoiler>s</tg-spoiler>"
    )
    assert text == "x & &nbsp; Aqs"
    assert [entity["type"] for entity in entities] == ["bold", "expandable_blockquote", "spoiler"]
