"""Makes the pictures of README from a seeded home, light and dark:
`python -m tests.browser.screenshot docs/images`.
"""

import asyncio
import random
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.async_api import Page, async_playwright

from memory.store.people.spending import OWNER
from tests.browser.opening import ARGS, CHROMIUM, opened, write
from tests.browser.real import ANN, Real, real_bot
from tests.browser.test_usage import add_usage

SIZE = {"width": 1280, "height": 800}
WIDTH = 1440  # of a picture, in pixels
QUALITY = 72
ANSWERS = {
    "When did I last water the plants, and what do they like?": (
        "You watered them on **Friday**, and you noted what each one likes:\n\n"
        "| plant | light | water |\n| --- | --- | ---: |\n| fern | shade | every 3 days |\n"
        "| lemon tree | sun | weekly |\n| mint | half shade | daily |\n\n> watered all three, the "
        "mint was dry"
    ),
    "Remind me in code: how do I print the next day for the fern?": (
        "```python\nfrom datetime import date, timedelta\n\nprint(date(2026, 11, 20) + "
        "timedelta(days=3))\n```\n\nThat is **Monday, 23 November**."
    ),
}
TITLES = (
    "Bread, third try",
    "A name for the boat",
    "Questions about the lease",
    "Weekend in the hills",
)
USED = ((OWNER, "claude-sonnet-5-5", 900_000), (f"telegram:1:{ANN}", "claude-haiku-5-5", 2_000_000),
        (OWNER, "gpt-6-luna", 1_500_000))  # fmt: skip
SHOTS = {"chat": "/c/plants/context", "usage": "/usage", "trace": "/c/plants/trace/newest"}
READY = {"chat": "#drawer .facts", "usage": ".chart canvas", "trace": ".step.model"}


async def seed(real: Real, page: Page) -> None:
    """Have a few conversations, and a month of use."""
    for name, text in ((f"c{number}", title) for number, title in enumerate(TITLES)):
        await page.goto(f"{real.site.base}/c/{name}")
        await say(real, page, text)
    await page.goto(f"{real.site.base}/c/plants")
    for text in ANSWERS:
        await say(real, page, text)
    row = await real.bot.store.sessions.find("web", "console", "plants")
    assert row is not None
    chance = random.Random(7)
    for day in range(30):
        for who, model, most in USED:
            await real.bot.store.database.write(
                add_usage, row.id, who, model, day, chance.randrange(most // 9, most)
            )


async def say(real: Real, page: Page, text: str) -> None:
    await page.wait_for_selector("#text:not([disabled])")
    await write(page, text)
    await page.wait_for_selector(".line.assistant footer")
    await real.bot.settled()


async def take(page: Page, base: str, target: Path, theme: str) -> None:
    """Take every picture in one theme."""
    for name, path in SHOTS.items():
        await page.set_viewport_size(SIZE)  # type: ignore[arg-type]
        await page.goto(base + path)
        await page.wait_for_selector(READY[name])
        await page.wait_for_load_state("networkidle")
        await page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        image = Image.open(BytesIO(await page.screenshot(animations="disabled")))
        image = image.resize((WIDTH, WIDTH * image.height // image.width), Image.Resampling.LANCZOS)
        image.convert("RGB").save(target / f"{name}-{theme}.webp", quality=QUALITY, method=6)


def answer(asked: object) -> str:
    """Answer a question that is known, and any other one shortly."""
    text = str(asked)
    time.sleep(0.12)  # a bar of the waterfall that can be seen
    return next((ANSWERS[question] for question in reversed(ANSWERS) if question in text), "Noted.")


async def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with async_playwright() as playwright, real_bot(Path(folder), answer) as real:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            for dark in (False, True):
                async with opened(browser, real.site, "/c/plants", dark=dark, scale=2) as page:
                    if not dark:
                        await seed(real, page)
                    await take(page, real.site.base, target, "dark" if dark else "light")
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
