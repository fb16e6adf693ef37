"""Two ways to use the page without a mouse: the keyboard alone, and a finger alone on a
telephone.
"""

from abc import ABC, abstractmethod

from playwright.async_api import Locator, Page, expect

MOST_TABS = 150
# What a finger has to find: links in running text are as high as their line (WCAG 2.5.8 excepts
# them).
LEAST_SIZE, LEAST_LINE = 44.0, 15.0
HAS_FOCUS = "node => node === document.activeElement && node.matches(':focus-visible')"
IN_TEXT = (
    "node => node.matches('a:not(.button, .chips a, .press, nav a, .icon, .row), .linklike, label')"
)


class Hand(ABC):
    """Somebody who reads the page and acts on it in one way."""

    phone = False

    def __init__(self, page: Page) -> None:
        self.page = page

    @abstractmethod
    async def press(self, target: Locator) -> None:
        """Press a link, a button or a box."""

    @abstractmethod
    async def reach(self, target: Locator) -> None:
        """Put the cursor into a field."""

    @abstractmethod
    async def visit(self, section: str) -> None:
        """Go to a page by the rail, or by the bar below and what stands under "More"."""

    async def write(self, target: Locator, text: str) -> None:
        """Put this text into a field in place of what is there."""
        await self.reach(target)
        await self.page.keyboard.press("Control+a")
        await self.page.keyboard.press("Delete")
        await self.page.keyboard.type(text)
        await expect(target).to_have_value(text)

    async def slide(self, target: Locator, key: str) -> None:
        """Move a slider that has been reached."""
        await self.reach(target)
        await self.page.keyboard.press(key)


class Keyboard(Hand):
    """Tab until it has the focus, and shows it."""

    async def reach(self, target: Locator) -> None:
        await expect(target).to_be_enabled()
        for _ in range(MOST_TABS):
            if await target.evaluate(HAS_FOCUS):
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"not reached by {MOST_TABS} tabs: {target}")

    async def press(self, target: Locator) -> None:
        await self.reach(target)
        box = await target.evaluate("node => node.matches('[type=checkbox], [type=radio]')")
        await self.page.keyboard.press("Space" if box else "Enter")

    async def visit(self, section: str) -> None:
        await self.press(self.page.locator(f"#go-{section}"))


class Finger(Hand):
    """Tap what is large enough for it."""

    phone = True

    async def reach(self, target: Locator) -> None:
        await self.press(target)

    async def press(self, target: Locator) -> None:
        await expect(target).to_be_enabled()
        await target.scroll_into_view_if_needed()
        box = await target.bounding_box()
        assert box is not None
        least = LEAST_LINE if await target.evaluate(IN_TEXT) else LEAST_SIZE
        label = target.locator("xpath=ancestor::label")
        if box["height"] < least and await label.count():  # a box and its words are one target
            box = await label.bounding_box() or box
            least = LEAST_LINE
        assert box["height"] >= least, f"{target} is {box['height']} px high"
        await target.tap()

    async def slide(self, target: Locator, key: str) -> None:
        box = await target.bounding_box()
        assert box is not None
        place = {"Home": 1.0, "End": box["width"] - 1.0}[key]
        await target.tap(position={"x": place, "y": box["height"] / 2})

    async def visit(self, section: str) -> None:
        if not await self.page.locator("#rail").is_visible():
            await self.press(self.page.locator("#menu"))
        entry = self.page.locator(f"#go-{section}")
        if await entry.is_visible():
            await self.press(entry)
            return
        await self.press(self.page.locator("#rail a[href='/more']"))
        await self.press(self.page.locator(f"main a[href='/{section}']"))
