"""The page in a real Chromium: writing, streaming, safety, memory files, phone width, restarts."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, in_views, opened, show, write
from tests.browser.scripted import Page as Scripted
from tests.browser.scripted import page_bot
from tests.channels.web.server import TOKEN, Running

HOSTILE = """<script>window.hit = 1</script>
<img src=x onerror="window.hit=2"><svg onload="window.hit=3"></svg>
[click](javascript:window.hit=4) [data](data:text/html,<script>window.hit=5</script>)
![spy](http://spy.example/pixel.png) <a href="javascript:window.hit=6">raw</a>
<iframe srcdoc="<script>parent.hit=7</script>"></iframe><style>body{display:none}</style>
<form action="http://spy.example"><input name=x></form>

[ok](https://good.example/)
`<b>code</b>` <math><mtext></mtext></math><noscript><p title="</noscript><img src=x \
onerror=window.hit=8>">"""

pytestmark = BROWSER


async def test_a_message_is_sent_and_its_answer_seen_growing_and_whole(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site) as page:
        await write(page, "wait")
        await expect(page.locator(".draft .words")).to_contain_text("Half of an ans")
        await expect(page.locator(".draft .note")).to_have_text("Using memory_search… step 2")
        await expect(page.locator("#stop")).to_be_visible()
        await page.click("#stop")
        site.bot.release.set()  # type: ignore[attr-defined]
        await expect(page.locator(".line.assistant:not(.draft) .words")).to_have_text(
            "You said: wait"
        )
        await expect(page.locator("#stop")).to_be_hidden()
        await expect(page.locator(".line")).to_have_count(2)
    assert len(site.bot.stopped) == 1


async def test_the_wrong_token_is_told_and_the_right_one_opens_the_page(
    chromium: Browser, site: Running
) -> None:
    page = await chromium.new_page(locale="zh-CN")
    await page.goto(site.base)
    await page.fill("#token", "wrong")
    await page.press("#token", "Enter")
    await expect(page.locator("#problem")).to_have_text("令牌不正确。")
    await page.fill("#token", TOKEN)
    await page.press("#token", "Enter")
    await expect(page.locator("#new")).to_have_attribute("aria-label", "新对话")
    assert TOKEN not in page.url
    assert await page.evaluate("document.cookie") == ""


async def test_hostile_text_is_shown_and_does_nothing(chromium: Browser, site: Running) -> None:
    site.bot.add("c1", "user", HOSTILE)
    site.bot.add("c1", "assistant", HOSTILE)
    site.bot.add("c1", "notice", HOSTILE)
    async with opened(chromium, site, "/c/c1") as page:
        await expect(page.locator(".line")).to_have_count(3)
        for kind in ("user", "assistant", "notice"):
            await expect(page.locator(f".line.{kind}")).to_contain_text(
                "<script>window.hit = 1</script>"
            )
        await page.wait_for_timeout(100)
        assert await page.evaluate("window.hit") is None
        assert (
            await page.locator("#lines")
            .locator("script, img, svg, iframe, form, style, input, math")
            .count()
            == 0
        )
        links = await page.locator("#lines a").evaluate_all(
            "all => all.map(a => [a.getAttribute('href'), a.rel])"
        )
        assert {href for href, _ in links} == {
            "http://spy.example/pixel.png",
            "https://good.example/",
        }
        assert {rel for _, rel in links} == {"noopener noreferrer"}


async def test_markdown_is_beautiful_and_code_can_be_copied(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site) as page:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await write(page, "long")
        answer = page.locator(".line.assistant:not(.draft)")
        await expect(answer.locator("table td")).to_have_count(4)
        await expect(answer.locator("strong")).to_have_text("Green tea")
        await answer.locator(".copy").click()
        copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("def remember(fact: str) -> None:\n")


async def test_commands_are_completed_and_answered_by_a_notice(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, locale="zh-CN") as page:
        await page.type("#text", "/co")
        await expect(page.locator(".completion")).to_have_count(2)
        await expect(page.locator(".completion").first).to_contain_text("查看模型读到的内容")
        await page.press("#text", "Tab")
        await expect(page.locator("#text")).to_have_value("/context ")
        await page.press("#text", "Enter")
        await expect(page.locator(".line.notice strong")).to_have_text("/context")


async def test_files_are_previewed_and_sent_with_the_message(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site) as page:
        png = await page.screenshot(clip={"x": 0, "y": 0, "width": 40, "height": 40})
        note = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"hello"}
        image = {"name": "dot.png", "mimeType": "image/png", "buffer": png}
        await page.set_input_files("#picker", [image, note])  # type: ignore[list-item]
        await expect(page.locator("#files .chip")).to_have_count(2)
        await expect(page.locator("#files img")).to_have_count(1)
        await write(page, "look")
        await expect(page.locator(".line.assistant:not(.draft)")).to_be_visible()
        await expect(page.locator(".line.user .shot")).to_have_count(1)
    [message] = site.bot.taken
    assert [(file.name, file.media_type) for file in message.attachments] == [
        ("dot.png", "image/png"),
        ("notes.txt", "text/plain"),
    ]
    assert message.attachments[0].data == png


async def test_a_reload_keeps_the_transcript_and_the_unsent_text(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site) as page:
        await write(page, "first")
        await expect(page.locator(".line.assistant:not(.draft)")).to_be_visible()
        await page.fill("#text", "not sent yet 还没发")
        await page.reload()
        await expect(page.locator(".line")).to_have_count(2)
        await expect(page.locator("#text")).to_have_value("not sent yet 还没发")


async def test_a_reload_in_the_middle_of_an_answer_shows_what_came_so_far(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site) as page:
        await write(page, "wait")
        await expect(page.locator(".draft .words")).to_contain_text("Half of an ans")
        await page.reload()
        await expect(page.locator(".draft .words")).to_contain_text("Half of an ans")
        site.bot.release.set()  # type: ignore[attr-defined]
        await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(1)
        await expect(page.locator(".draft")).to_have_count(0)


async def test_what_could_not_be_stored_is_sent_again_and_shown_once(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site) as page:
        site.bot.broken = OSError("disk full")
        async with page.expect_response(lambda answer: answer.status == 503):
            await write(page, "again")
        await expect(page.locator(".line.user.pending")).to_be_visible()
        site.bot.broken = None
        await expect(page.locator(".line.assistant:not(.draft)")).to_be_visible()
        await expect(page.locator(".line.user")).to_have_count(1)
    assert len(site.bot.taken) == 1


async def test_after_a_restart_of_the_server_a_new_login_leads_back_to_the_conversation(
    chromium: Browser, tmp_path: Path
) -> None:
    bot = Scripted()
    bot.add("c1", "user", "before")
    async with page_bot(tmp_path, bot=bot) as site, opened(chromium, site, "/c/c1") as page:
        await page.fill("#text", "half a thought")
        await expect(page.locator(".line")).to_have_count(1)
        await site.close()
        bot.add("c1", "assistant", "while it was away", "c1-1")
        async with page_bot(tmp_path, bot=bot, port=site.port):
            await page.fill("#token", TOKEN)
            await page.press("#token", "Enter")
            await expect(page.locator(".line")).to_have_count(2)
            await expect(page.locator("#text")).to_have_value("half a thought")


async def test_two_windows_show_the_same_conversation(chromium: Browser, site: Running) -> None:
    site.bot.add("c1", "user", "hello")
    async with opened(chromium, site, "/c/c1") as one, opened(chromium, site, "/c/c1") as two:
        await expect(two.locator(".line")).to_have_count(1)
        await write(one, "from the first")
        await expect(two.locator(".line.user")).to_have_count(2)
        await expect(two.locator(".line.assistant:not(.draft) .words")).to_have_text(
            "You said: from the first"
        )
        await expect(one.locator(".line")).to_have_count(3)


async def test_older_lines_are_shown_on_request(chromium: Browser, site: Running) -> None:
    for number in range(70):
        site.bot.add("c1", "user", f"line {number}")
    async with opened(chromium, site, "/c/c1") as page:
        await expect(page.locator(".line")).to_have_count(40)
        # without scrolling there: they are loaded as somebody comes near
        await page.locator(".earlier").dispatch_event("click")
        await expect(page.locator(".line")).to_have_count(70)
        await expect(page.locator(".line .plain").first).to_have_text("line 0")
        await expect(page.locator(".earlier")).to_have_count(0)


@in_views("en-GB", phone=True)
async def test_the_page_fits_a_phone_and_a_desktop(
    chromium: Browser, site: Running, locale: str, phone: bool
) -> None:
    dark = locale == "zh-CN"
    kind = f"{'phone' if phone else 'desktop'}{'-dark' if dark else ''}"
    async with opened(
        chromium, site, f"/c/look-{kind}", dark=dark, phone=phone, locale=locale
    ) as page:
        await show(page, f"{kind}-empty")
        await write(
            page, "Do you still know what I drink in the morning, and where I walk? 早上好！"
        )
        await write(page, "long")
        await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(2)
        await write(page, "/help")
        await expect(page.locator(".line.notice")).to_be_visible()
        await write(page, "wait")
        await expect(page.locator(".draft .note")).to_be_visible()
        await show(page, f"{kind}")
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert await page.evaluate(overflow) == 0
        await page.click("#context")
        await show(page, f"{kind}-context")
        await page.keyboard.press("Escape")
        if phone:
            await page.click("#menu")
            await expect(page.locator("#list .entry").first).to_be_visible()
            await show(page, f"{kind}-menu")
        await page.click("#go-memory")
        await page.click("main nav a[href='/memory/files']")
        await page.wait_for_selector(".file")
        await show(page, f"{kind}-memory")
        await page.click("text=MEMORY.md")
        await page.wait_for_selector(".editor")
        await show(page, f"{kind}-editor")
        await page.click("header .icon")
        await page.click("#go-c")
        if phone:
            await page.click("#list .entry >> nth=0")
        await page.fill("#text", "/")
        await show(page, f"{kind}-commands")
        assert await page.evaluate(overflow) == 0
