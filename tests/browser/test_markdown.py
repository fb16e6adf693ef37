"""Markdown in the page: what is kept of it, and that a text which grows ends as one parse of it
would.
"""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from channels.web.static_files import STATIC_FOLDER
from tests.browser.opening import BROWSER, follow_link, opened
from tests.browser.scripted import page_bot
from tests.channels.web.server import Running

CODE_AND_FORMULAS = r"""```python
answer = 41 + one  # nearly
```

$$\\int_0^1 x^2\\,dx$$

It costs $5 and $6; $x^2$ is \\(\\href{javascript:alert(1)}{x}\\)."""

pytestmark = BROWSER
[MODULE] = [
    f"/static/assets/{path.name}" for path in (STATIC_FOLDER / "assets").glob("markdown-*.js")
]
TABLE = """| left | middle | right |
| :--- | :---: | ---: |
| a | b | 1 |

5. five
6. six
"""
MIXED = """# A title

Some words with `code`, **bold** and [a link](https://example.org/).
And a second line.

- one
- two

  with a paragraph
    - deeper
- three

1. first

```python
def f():

    return "# no title"
```

| a | b |
| --- | ---: |
| 1 | 2 |
| 3 | 4 |

> quoted

> again

    indented code

- [x] done
- [ ] not done

Setext
======

---

<div>html
</div>

the end"""
REFERENCES = (
    "See [one] and [two][1].\n\nMore words.\n\nAnd more.\n\n[one]: https://one.example/\n[1]: "
    "https://two.example/"
)
OPEN_TAG = (
    "A <code> that stays open & on\n\nwith <b>more</b> & more\n\nand more </code> here\n\nend"
)
UNCLOSED = "words\n\nmore\n\nstill more\n\n```js\nlet a = 1;\n\nlet b = 2;"
CRLF = "one\r\n\r\ntwo\r\n\r\n- a\r\n- b\r\n\r\nthree\r\n"
GROW = """async ([address, text, step]) => {
  const { Growing, render } = await import(address);
  const [grown, whole] = [document.createElement("div"), document.createElement("div")];
  const growing = new Growing(grown);
  let pieces = 0, first = null, stayed = true;
  for (let end = step; end < text.length; end += step) {
    growing.show(text.slice(0, end));
    pieces += 1;
    if (pieces === 8) first = grown.firstChild;
    if (pieces > 8) stayed &&= grown.firstChild === first;
  }
  growing.end(text);
  whole.append(render(text));
  return { grown: grown.innerHTML, whole: whole.innerHTML, parsed: growing.parsed, pieces, stayed };
}"""


async def grown(page: Page, text: str, step: int = 7) -> dict[str, object]:
    told: dict[str, object] = await page.evaluate(GROW, [MODULE, text, step])
    return told


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with page_bot(tmp_path_factory.mktemp("files")) as up:
        yield up


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(chromium: Browser, site: Running) -> AsyncIterator[Page]:
    """One window for all tests, each of which has a chat of its own."""
    async with opened(chromium, site) as shown:
        yield shown


async def test_columns_keep_their_side_and_lists_their_numbers(page: Page, site: Running) -> None:
    site.bot.add("columns", "assistant", TABLE)
    await follow_link(page, "/c/columns")
    cells = page.locator(".line td")
    await expect(cells).to_have_count(3)
    sides = await cells.evaluate_all("all => all.map(cell => getComputedStyle(cell).textAlign)")
    assert sides == ["left", "center", "right"]
    assert await page.locator(".line ol").evaluate("list => list.start") == 5


async def test_a_text_that_grew_ends_as_one_parse_of_it(page: Page) -> None:
    for text in (MIXED, REFERENCES, OPEN_TAG, UNCLOSED, CRLF, TABLE, "", "x"):
        for step in (1, 7):
            told = await grown(page, text, step)
            assert told["grown"] == told["whole"], text


async def test_only_the_last_blocks_are_parsed_again_while_a_text_grows(page: Page) -> None:
    text = "\n\n".join([MIXED] * 140)[:48_000]
    told = await grown(page, text, 240)
    assert told["stayed"]
    pieces, parsed = told["pieces"], told["parsed"]
    assert (isinstance(pieces, int), isinstance(parsed, int)) == (True, True)
    assert pieces >= 199
    assert parsed * 8 < pieces * 24_000  # type: ignore[operator]  # all of it each time is 24,000 on the average


async def test_an_answer_stays_where_it_grew_and_what_is_told_aloud_is_little(
    page: Page, site: Running
) -> None:
    asked = site.bot.add("growing", "user", "tell me")
    await follow_link(page, "/c/growing")
    await expect(page.locator(".line.user .plain")).to_have_text("tell me")
    site.bot.show("growing", "started", asked.id)
    await expect(page.locator("#said")).to_have_text("Answering…")
    site.bot.show("growing", "delta", asked.id, "# First\n\nsecond\n\nthird\n\nfou")
    await expect(page.locator(".draft h1")).to_have_text("First")
    await page.evaluate("window.first = document.querySelector('.draft h1')")
    await site.bot.reply("growing", asked.id, "# First\n\nsecond\n\nthird\n\nfourth **word**")
    await expect(page.locator(".line.assistant:not(.draft) strong")).to_have_text("word")
    assert await page.evaluate("window.first === document.querySelector('.line.assistant h1')")
    await expect(page.locator("#said")).to_have_text("The answer is ready.")
    assert await page.locator("#lines").get_attribute("aria-live") == "off"


async def test_long_code_and_tables_are_reached_by_the_keyboard(page: Page, site: Running) -> None:
    site.bot.add("long", "assistant", f"```\n{'x' * 500}\n```\n\n| a |\n| --- |\n| {'y' * 500} |")
    await follow_link(page, "/c/long")
    for scrolled in (".line pre", ".line .scroll"):
        await page.locator(scrolled).focus()
        await expect(page.locator(scrolled)).to_be_focused()
        await page.keyboard.press("ArrowRight")
        await expect(page.locator(scrolled)).not_to_have_js_property("scrollLeft", 0)


async def test_code_gets_colours_and_formulas_their_signs_once_they_are_whole(
    page: Page, site: Running
) -> None:
    site.bot.add("colours", "user", "show me")
    site.bot.add("colours", "assistant", CODE_AND_FORMULAS, "colours-1")
    await follow_link(page, "/c/colours")
    words = page.locator(".line.assistant .words")
    await expect(words.locator("pre .hljs-number")).to_have_text("41")
    await expect(words.locator("pre").first).to_have_text("answer = 41 + one  # nearly")
    await expect(words.locator("math")).to_have_count(2)
    await expect(words.locator("math [mathvariant], math msup").first).to_be_attached()
    await expect(words).to_contain_text("costs $5 and $6")
    assert await words.locator("img, a[href], [style], script").count() == 0
