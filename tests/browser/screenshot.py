"""Makes the picture of the page for README: `python -m tests.browser.screenshot docs/page.png`."""

import asyncio
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.async_api import async_playwright

from tests.browser.opening import ARGS, CHROMIUM, opened
from tests.browser.scripted import Page, page_house

SIZE = {"width": 1280, "height": 1090}
TALK = (
    ("user", "When did I last water the plants, and what do they like?"),
    (
        "assistant",
        "You watered them on **Friday**, and you noted what each one likes:\n\n"
        "| plant | light | water |\n| --- | --- | ---: |\n| fern | shade | every 3 days |\n"
        "| lemon tree | sun | weekly |\n| mint | half shade | daily |\n\n"
        "> watered all three, the mint was dry\n> — 2026-11-20",
    ),
    ("user", "Remind me in code: how do I print the next day for the fern?"),
    (
        "assistant",
        "```python\nfrom datetime import date, timedelta\n\nprint(date(2026, 11, 20) + timedelta(days=3))\n```\n\n"
        "That is **Monday, 23 November**.",
    ),
)
TITLES = ("Weekend in the hills", "Tea for Ann", "Questions about the lease", "A name for the boat", "Bread, third try")


async def main(target: Path) -> None:
    house = Page()
    for number, title in enumerate(reversed(TITLES)):
        house.add(f"c{number}", "user", title)
    house.channels |= {"c1": "telegram", "c3": "feishu"}
    for role, text in TALK:
        house.add("plants", role, text, "plants-1" if role == "assistant" else "")
    with tempfile.TemporaryDirectory() as folder:
        async with async_playwright() as playwright, page_house(Path(folder), house=house) as site:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            async with opened(browser, site, "/c/plants/context", scale=2) as page:
                await page.set_viewport_size(SIZE)  # type: ignore[arg-type]
                await page.wait_for_selector("#drawer .timeline")
                await page.locator("#text").focus()
                image = Image.open(BytesIO(await page.screenshot()))
            await browser.close()
    image.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(target, optimize=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
