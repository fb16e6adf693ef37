"""Pages become text that a person could have read, within limits of time and memory."""

import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bot.tools.web import page_worker
from bot.tools.web.addresses import WebError, parse_url
from bot.tools.web.client import WebResponse
from bot.tools.web.page_text import PAGES_PER_CHILD, PageReader
from memory.text.invisible import INVISIBLE_RANGES
from memory.workspace.blobs import Blobs
from tests.bot.gateway.test_attachments import drawn, pdf

ARTICLE = """<html><head><title>On canoes</title><meta name="description" content="ORDER \
title"></head><body>
<nav>Home Login</nav><article><h1>On canoes</h1><p>A canoe is a light, narrow boat, pointed at \
both ends. {}</p>
<p>Read <a href="https://a.example/more?x=1">more about paddles</a>, which are held in both \
hands.</p>
<table><tr><th>Length</th><td>4.9 m</td></tr></table><pre>paddle --left</pre></article>
<footer>Copyright</footer></body></html>"""


def page(body: str | bytes, kind: str = "text/html; charset=utf-8") -> WebResponse:
    data = body.encode() if isinstance(body, str) else body
    return WebResponse(
        url=parse_url("https://a.example/page"),
        status=200,
        headers={"content-type": kind},
        body=data,
    )


NESTED = "<div>" * 100_000 + "in the middle" + "</div>" * 100_000


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PageReader]:
    """One for all tests: its child process takes half a second to start."""
    reader = PageReader(Blobs(tmp_path_factory.mktemp("blobs")))
    yield reader
    await reader.close()


async def refused(reader: PageReader, response: WebResponse) -> str:
    with pytest.raises(WebError) as err:
        await reader.read(response)
    return err.value.code


async def test_an_article_is_read_as_markdown_with_its_links_and_tables(reader: PageReader) -> None:
    read = await reader.read(page(ARTICLE.format("独木舟很轻。")))
    assert read.title == "On canoes"
    for part in ("独木舟很轻。", "(https://a.example/more?x=1)", "4.9 m", "paddle --left"):
        assert part in read.text
    assert "Login" not in read.text
    assert "Copyright" not in read.text


NUMBERS = "Order number 20210506, since 2019-03-04. Copyright 2018. "


@pytest.mark.parametrize(
    ("stated", "date"),
    [
        ("", ""),
        ('<meta property="article:published_time" content="2026-01-02T00:00:00Z">', "2026-01-02"),
        (
            (
                '<script type="application/ld+json">{"@type": "Article", "datePublished": '
                '"2026-01-03"}</script>'
            ),
            "2026-01-03",
        ),
        ('<meta name="description" content="of 2017-08-09">', ""),
    ],
)
async def test_the_date_of_a_page_is_what_it_states_and_no_number_in_its_text(
    reader: PageReader, stated: str, date: str
) -> None:
    html = ARTICLE.format(NUMBERS).replace("<title>", f"{stated}<title>")
    assert (await reader.read(page(html))).date == date


async def test_a_time_with_its_own_value_states_the_date(reader: PageReader) -> None:
    html = ARTICLE.format(f'<time datetime="2026-01-04" pubdate>yesterday</time> {NUMBERS}')
    assert (await reader.read(page(html))).date == "2026-01-04"


async def test_a_page_is_freed_of_all_that_is_known_as_invisible() -> None:
    assert page_worker.INVISIBLE_RANGES == INVISIBLE_RANGES
    assert page_worker.clean("a\u3164b\u2800c\u034fd") == "abcd"


HIDDEN = [
    '<p style="display:none">ORDER</p>',
    '<p style="visibility: hidden">ORDER</p>',
    "<p hidden>ORDER</p>",
    '<div aria-hidden="true"><p>ORDER</p></div>',
    "<!-- ORDER -->",
    "<script>ORDER</script>",
    "<style>ORDER</style>",
    "<noscript>ORDER</noscript>",
    "<template>ORDER</template>",
    '<p style="font-size:0">ORDER</p>',
]


@pytest.mark.parametrize("shell", [ARTICLE, "<p>Only a line.</p>{}"], ids=["article", "no article"])
async def test_S55_what_people_do_not_see_is_not_read(reader: PageReader, shell: str) -> None:
    for hidden in HIDDEN:
        read = await reader.read(page(shell.format(hidden)))
        assert "ORDER" not in read.text, hidden


async def test_invisible_signs_are_gone(reader: PageReader) -> None:
    tags = "".join(chr(0xE0000 + ord(sign)) for sign in "ORDER")
    read = await reader.read(page(f"<title>a\u200bb</title><p>vis\u200bible{tags}\u202e</p>"))
    assert (read.title, read.text) == ("ab", "visible")
    assert (await reader.read(page(f'{{"a": "b{tags}"}}', "application/json"))).text == '{"a": "b"}'


async def test_large_and_nested_pages_end_soon(reader: PageReader) -> None:
    large = "<table>" + "<tr><td>cell</td></tr>" * 250_000
    for html, outcome in ((NESTED, (False, len("in the middle"))), (large, (True, 200_000))):
        assert await outcome_of(reader, html) in (outcome, "too_large"), (
            "on a slow machine its seconds may be over first"
        )
    assert "still" in (await reader.read(page("<p>still here</p>"))).text


async def outcome_of(reader: PageReader, html: str) -> object:
    """Whether the text was cut and its length, else the code of the refusal."""
    try:
        read = await reader.read(page(html))
    except WebError as err:
        return err.code
    return read.cut, len(read.text)


async def test_a_page_of_nested_elements_is_walked_in_little_time() -> None:
    began = time.process_time()
    assert "in the middle" in page_worker.walk(NESTED, "https://a.example/page")[1]
    assert time.process_time() - began < page_worker.CPU_SECONDS


async def test_the_child_is_replaced_and_ends_with_us(reader: PageReader) -> None:
    for number in range(PAGES_PER_CHILD + 1):
        assert str(number) in (await reader.read(page(f"<p>page {number}</p>"))).text
    child = reader._child
    assert child is not None
    await reader.close()
    assert child.returncode is not None


UNREADABLE = [
    ("<html><body></body></html>", "text/html", "empty"),
    ("<html><script src=x></script><div id=app></div></html>", "text/html", "needs_script"),
    ("", "text/plain", "empty"),
    (b"PK\x03\x04", "application/zip", "type"),
    (b"\0" * 100, "application/octet-stream", "type"),
    (b"%PDF-1.7 broken", "application/pdf", "type"),
    (b"GIF89a broken", "image/gif", "type"),
]


async def test_what_cannot_be_read_is_said(reader: PageReader) -> None:
    for body, kind, code in UNREADABLE:
        assert await refused(reader, page(body, kind)) == code, (body, kind)


ENCODED = [
    ("<p>中文网页</p>".encode("gb18030"), "text/html; charset=gb2312"),
    ("<meta charset='gbk'><p>中文网页</p>".encode("gb18030"), "text/html"),
    ("<p>中文网页</p>".encode(), "text/html"),
    ("<p>中文网页</p>".encode("gb18030"), "text/html; charset=no-such-thing"),
    ("中文网页".encode("utf-16"), "text/plain"),
]


async def test_the_encoding_is_found(reader: PageReader) -> None:
    for body, kind in ENCODED:
        assert (await reader.read(page(body, kind))).text == "中文网页", (body, kind)


async def test_a_picture_is_a_picture(reader: PageReader) -> None:
    read = await reader.read(page(drawn("PNG"), "image/png"))
    assert [image.media_type for image in read.images] == ["image/png"]


async def test_200000_characters_of_a_text_are_read(reader: PageReader) -> None:
    for length, cut in ((200_000, False), (200_001, True)):
        read = await reader.read(page("x" * length, "text/plain"))
        assert (len(read.text), read.cut) == (200_000, cut)


async def test_a_pdf_is_read_by_its_text(reader: PageReader) -> None:
    read = await reader.read(page(pdf("paddle left", "paddle right"), "application/pdf"))
    assert "paddle left" in read.text
    assert "paddle right" in read.text
