"""Logins in Settings: listed with the browser that reads them, and another one ended at once."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.browser.faults import check
from tests.browser.opening import BROWSER, opened, show
from tests.browser.real import real_bot
from tests.by_night import first_by_day

pytestmark = BROWSER
END_MS = 10_000  # at most; it is told at once


@pytest.mark.parametrize("phone", first_by_day(1, [True, False]))
async def test_another_login_is_ended_and_its_page_is_signed_out_at_once(
    chromium: Browser, tmp_path: Path, phone: bool
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/c/c1", fresh=True) as other,
        opened(
            chromium, real.site, "/settings/logins", ready="#logins li", phone=phone, dark=phone
        ) as page,
    ):
        rows = page.locator("#logins li")
        await expect(rows).to_have_count(2)
        await expect(rows.filter(has_text="this one")).to_contain_text("Chrome · ")
        await show(page, f"logins-{phone}")
        assert await check(page, page.url) == []
        await page.get_by_role("button", name="End Chrome").click()
        await expect(other.locator("#token")).to_be_visible(timeout=END_MS)
        await expect(rows).to_have_count(1)
        assert [actor for actor, _ in await real.audited("login")] == ["console"]
