"""Footnotes, parts that fold, code that wraps and tables as files: what they do, and that hostile
ones do nothing.
"""

import csv
import io
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.browser.faults import check
from tests.browser.opening import BROWSER, opened, show
from tests.channels.web.server import Running

pytestmark = BROWSER
NOTES = """Tea is old[^tea], and so is ink[^2]. Unknown[^none], again[^tea].

[^2]: Ink, with `code`.
[^tea]: From a note.

    It has two paragraphs.
[^left]: Nobody mentions it.
"""
FOLDED = """<details>
<summary>More **about** it</summary>

- one
- two

```
print("</details>")
```

</details>

after
"""
WIDE = f"""```
{"x" * 500}
```

| name | sum |
| --- | ---: |
| =HYPERLINK("http://spy.example") | -1 |
| a,"b" | @x |
"""
PICTURE = '<img src=x onerror="window.hit=1">'
HOSTILE = f"""Text[^{PICTURE}] and[^a] [^a](javascript:window.hit=2) ![^a](http://spy.example/p.png)

[^a]: {PICTURE} [x](javascript:window.hit=3) <script>window.hit=4</script>
[^b]: [^c]: [^d]: [^e]: [^f]: [^g]: [^h]: [^i]: deep
[^__proto__]: prototype[^__proto__]

<details open ontoggle="window.hit=5"><summary>{PICTURE}</summary>raw</details>

<details open><summary>{PICTURE} <a href="javascript:window.hit=6">x</a></summary>

{PICTURE} <style>body{{display:none}}</style> <summary>second</summary>

| {PICTURE} |
| --- |
| <svg onload="window.hit=7"> |

</details>

{"<details>" * 50}
never closed {PICTURE}
"""
# Elements and attributes that only a text could have made.
MADE = "script, img, svg, iframe, form, style, input, [onerror], [ontoggle], [onload], [id], a"


async def answer(page: Page, site: Running, text: str) -> None:
    """Let the text come in pieces, as an answer does, to its end."""
    asked = site.bot.add("c1", "user", "tell me")
    site.web.hub.notify_stored("c1")
    site.bot.show("c1", "started", asked.id)
    for start in range(0, len(text), 40):
        site.bot.show("c1", "delta", asked.id, text[start : start + 40])
    await expect(page.locator(".draft .words")).not_to_be_empty()
    await site.bot.reply("c1", asked.id, text)
    await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(1)


async def test_footnotes_are_numbered_and_lead_there_and_back(
    chromium: Browser, site: Running
) -> None:
    site.bot.add("c1", "assistant", NOTES)
    async with opened(chromium, site, "/c/c1") as page:
        words = page.locator(".line.assistant .words")
        await expect(words.locator("p").first).to_have_text(
            "Tea is old1, and so is ink2. Unknown[^none], again1."
        )
        notes = words.locator(".notes > li")
        await expect(notes).to_have_count(3)
        await expect(notes.first).to_contain_text("It has two paragraphs.")
        await expect(notes.last).to_have_text("Nobody mentions it.")
        first = words.get_by_role("button", name="Footnote 1").first
        await first.focus()
        await page.keyboard.press("Enter")
        await expect(notes.first).to_be_focused()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(first).to_be_focused()
        await show(page, "footnotes")


async def test_a_part_folds_with_what_it_holds(chromium: Browser, site: Running) -> None:
    async with opened(chromium, site, "/c/c1", locale="zh-CN", phone=True, dark=True) as page:
        await answer(page, site, FOLDED)
        part = page.locator(".line.assistant details:not(.steps)")
        await expect(part).to_have_count(1)
        await expect(part.locator("summary strong")).to_have_text("about")
        await expect(part.locator("li")).to_have_count(2)
        await expect(part.locator("li").first).to_be_hidden()
        await part.locator("summary").focus()
        await page.keyboard.press("Enter")
        await expect(part.locator("pre")).to_have_text('print("</details>")')
        await expect(page.locator(".line.assistant .words > p")).to_have_text("after")
        assert await check(page, "folded") == []
        await show(page, "folded")


async def test_code_wraps_and_a_table_is_saved_without_formulas(
    chromium: Browser, site: Running, tmp_path: Path
) -> None:
    site.bot.add("c1", "assistant", WIDE)
    async with opened(chromium, site, "/c/c1") as page:
        code, wrap = page.locator(".line pre"), page.get_by_role("button", name="Wrap lines")
        assert await code.evaluate("box => box.scrollWidth > box.clientWidth")
        await wrap.click()
        await expect(wrap).to_have_attribute("aria-pressed", "true")
        assert await code.evaluate("box => box.scrollWidth === box.clientWidth")
        async with page.expect_download() as coming:
            await page.get_by_role("button", name="Download as CSV").click()
        await (await coming.value).save_as(tmp_path / "table.csv")
        await show(page, "wide")
    text = (tmp_path / "table.csv").read_text("utf-8-sig")
    assert list(csv.reader(io.StringIO(text))) == [
        ["name", "sum"],
        ['\'=HYPERLINK("http://spy.example")', "'-1"],
        ['a,"b"', "'@x"],
    ]


async def test_hostile_footnotes_and_parts_are_text(chromium: Browser, site: Running) -> None:
    site.bot.add("c1", "notice", HOSTILE)
    async with opened(chromium, site, "/c/c1") as page:
        await answer(page, site, HOSTILE)
        for kind in ("notice", "assistant"):
            words = page.locator(f".line.{kind} .words")
            await expect(words.locator(".notes > li").first).to_contain_text(PICTURE)
            await expect(words.locator("details summary").first).to_have_text(
                f'{PICTURE} <a href="javascript:window.hit=6">x</a>'
            )
            await expect(words.locator("td")).to_have_text('<svg onload="window.hit=7">')
            await expect(words).to_contain_text("never closed")
            assert await words.locator(MADE).count() == 1  # the picture of elsewhere is a link
            assert await words.locator("details details details details details").count() > 0
        await page.wait_for_timeout(100)
        assert await page.evaluate("window.hit") is None
