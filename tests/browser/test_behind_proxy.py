"""The page in Chromium behind a proxy with TLS: somebody signs in, sees an answer grow and sends a
file.
"""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, write
from tests.browser.scripted import Page, page_bot
from tests.channels.attacked import Authority
from tests.channels.web.server import TOKEN
from tests.emulators.tls_proxy import Proxy, tls_proxy

pytestmark = BROWSER


async def test_who_comes_by_the_proxy_signs_in_sees_an_answer_grow_and_sends_a_file(
    chromium: Browser, tmp_path: Path
) -> None:
    Authority(tmp_path).context("good")
    certificate = str(tmp_path / "good.pem")
    async with (
        tls_proxy(Proxy(certificate=certificate)) as proxy,
        page_bot(tmp_path, public_url=proxy.url) as site,
    ):
        proxy.lead_to(site.port)
        context = await chromium.new_context(ignore_https_errors=True, locale="en-GB")
        page = await context.new_page()
        page.set_default_timeout(30_000)
        await page.goto(proxy.url)
        await page.fill("#token", TOKEN)
        await page.press("#token", "Enter")
        await page.wait_for_selector("#text:not([disabled])")
        [cookie] = await context.cookies()
        assert cookie["name"] == f"__Host-mnema_{site.port}"
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")

        await write(page, "wait")
        await expect(page.locator(".draft .words")).to_contain_text("Half of an ans")
        assert isinstance(site.bot, Page)
        site.bot.release.set()
        await expect(page.locator(".line.assistant:not(.draft) .words")).to_have_text(
            "You said: wait"
        )

        await page.set_input_files(
            "#picker", {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"tea " * 500_000}
        )
        await write(page, "a file")
        await expect(page.locator(".line.assistant:not(.draft) .words").nth(1)).to_have_text(
            "You said: a file"
        )
        [sent] = [message for message in site.bot.taken if message.text == "a file"]
        assert [len(file.data) for file in sent.attachments] == [2_000_000]

        other = await context.new_page()
        await other.set_content(f"<iframe src='{proxy.url}/c/c1'></iframe>")
        frame = await (await other.wait_for_selector("iframe")).content_frame()
        assert frame is not None
        await frame.wait_for_url("chrome-error://**")
        outcome = await other.evaluate(
            """async url => fetch(url, { method: "POST", mode: "no-cors", credentials: "include", \
body: "{}" }).then(
                 (answer) => answer.type, () => "failed")""",
            f"{proxy.url}/api/v1/messages",
        )
        assert outcome in ("opaque", "failed")
        assert len(site.bot.taken) == 2
        await context.close()
