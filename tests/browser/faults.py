"""What can be wrong with what is shown: findings of axe, and what is cut off or squeezed."""

from pathlib import Path

from playwright.async_api import Page

AXE = Path(__file__).with_name("axe") / "axe.min.js"
RUN_AXE = """async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const found = await axe.run(document, { runOnly: { type: "tag", values: tags } });
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: \
${node.html.slice(0, 200)}`));
}"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# What is too wide, which cells have more than three lines, and which controls are cut off sideways.
# What a strip of choices or a table on a phone holds can be scrolled to.
FAULTS = """phone => {
  const found = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide) found.push(`the page is ${wide} px too wide`);
  const named = (node) => `${node.tagName.toLowerCase()}.${node.className} \
${(node.textContent || node.value || "").trim().replace(/\\s+/g, " ").slice(0, 40)}`;
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const lines = (node) => {
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const tops = [];
    while (texts.nextNode()) {
      if (texts.currentNode.parentElement.closest(".unseen")) continue;
      range.selectNode(texts.currentNode);
      const boxes = [...range.getClientRects()].filter((one) => one.width > 1);
      tops.push(...boxes.map((one) => one.bottom));
    }
    return tops.sort((a, b) => a - b).filter((one, at) => !at || one - tops[at - 1] > 5).length;
  };
  for (const node of document.querySelectorAll("td, th, dt, dd, .cell")) {
    if (!shown(node)) continue;
    const count = lines(node);
    if (count > 3) found.push(`${count} lines, ${Math.round(node.clientWidth)} px: ${named(node)}`);
  }
  for (const node of document.querySelectorAll("button, a, input, select, textarea, summary")) {
    if (!shown(node) || node.closest(".unseen, .skip")) continue;
    const box = node.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    for (let outer = node.parentElement; outer; outer = outer.parentElement) {
      const style = getComputedStyle(outer);
      if (style.overflowX === "visible") continue;
      const edge = outer.getBoundingClientRect();
      if (box.left < edge.left - 1 || box.right > edge.right + 1) {
        const scrolls = phone && outer.matches(".strip, .table, .scrolling");
        if (!scrolls) found.push(`cut off: ${named(node)}`);
      }
      break;
    }
  }
  return [...new Set(found)];
}"""


async def check(page: Page, path: str) -> list[str]:
    """What axe finds, and whether the page is too wide."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text("utf-8"))
    wrong: list[str] = await page.evaluate(RUN_AXE)
    wide = await page.evaluate(OVERFLOW)
    return [f"{path}: {one}" for one in [*wrong, *([f"{wide} px too wide"] if wide else [])]]
