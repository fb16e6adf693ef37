"""A link of `mnema login` in a real Chromium: it signs in, leaves nothing in the address, and says
why it does not.
"""

from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER
from tests.channels.web.server import Running

pytestmark = BROWSER


async def test_a_link_opens_the_page_signed_in_and_its_code_leaves_the_address(
    chromium: Browser, site: Running
) -> None:
    code = site.gate.create_login_code()
    context = await chromium.new_context()
    page = await context.new_page()
    await page.goto(f"{site.base}/login#code={code}")
    await expect(page.locator("#text")).to_be_visible()
    assert code not in page.url
    await page.reload()
    await expect(page.locator("#text")).to_be_visible()
    await context.close()


async def test_a_used_link_leads_to_the_login_page_which_says_why_and_what_helps(
    chromium: Browser, site: Running
) -> None:
    context = await chromium.new_context(locale="zh-CN")
    page = await context.new_page()
    await page.goto(f"{site.base}/login#code=used")
    await expect(page.locator("#problem")).to_contain_text("mnema login")
    await expect(page.locator("#token")).to_be_visible()
    assert "used" not in page.url
    await context.close()
