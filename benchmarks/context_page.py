"""Writes what `benchmarks.context` measures into docs/context.md and docs/context.zh-CN.md, and
draws docs/context.svg.

`python -m benchmarks context --write` runs it.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.context import (
    Headline,
    Measured,
    draw_case,
    format_overview,
    format_report,
    measure_all,
)

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {"en": DOCS / "context.md", "zh": DOCS / "context.zh-CN.md"}
PICTURE = DOCS / "context.svg"
BLOCK = re.compile(r"(?<=<!-- measured: (\w{5}) -->\n).*?(?=<!-- end of measured -->)", re.DOTALL)
HEADS = {
    "en": "| what | the design's | here |\n| --- | ---: | ---: |",
    "zh": "| 项目 | 原设计 | 这里 |\n| --- | ---: | ---: |",
}
FOUND = {
    "en": (
        "Shown or found by a search: {least:.0f} to {most:.0f} % of the answers. Requests over "
        "their budget: {over}."
    ),
    "zh": "要么可见、要么能搜到的答案：{least:.0f} % 到 {most:.0f} %。超出预算的请求：{over} 个。",
}
NAMES_ZH = {
    "long session: tokens without compression": "长对话（`layers`）：不压缩的 token 数",
    "the turn that passes 200,000 tokens": "第几轮超过 200,000",
    "saved by snip, and what is left": "截断省下 → 剩下",
    "saved by one line, and what is left": "压成一行省下 → 剩下",
    "saved by fold, and what is left": "整理省下 → 剩下",
    "hard truncations": "硬截断次数",
    "share of the window at the end": "结束时占窗口",
    "requests over the limit": "超限的请求",
    "debugging: tokens": "调试（`boundary`）：token 数",
    "messages": "消息数",
    "boundary at its own threshold: tokens at the end": "按自己的阈值，结束时 token 数",
    "boundary told to wait for 178,000: tokens at the end": "等到 178,000 再整理，结束时 token 数",
    "of the three edits, named in the view": "三处修改在视图里可见",
    "topics_en: boundary cuts before message": "topics_en：在哪条消息前切",
    "topics_zh: boundary cuts before message": "topics_zh：在哪条消息前切",
    "of its five remedies, named in the view afterwards": "errors：五个解决办法整理后仍可见",
    "heavy: turns that budget keeps": "heavy：`budget` 保留的轮数",
    "light: turns that budget keeps": "light：`budget` 保留的轮数",
}
VALUES_ZH = {
    " or ": " 或 ",
    ", a change of topic": "，话题变化处",
    ", no change of topic": "，不是话题变化处",
}


def main(args: Sequence[str]) -> str:
    """Measure and return the report; with --write, also update the pages and the picture."""
    measured = measure_all()
    if "--write" in args:
        for lang, path in PAGES.items():
            path.write_text(
                fill_page(path.read_text("utf-8"), format_blocks(measured, lang)), encoding="utf-8"
            )
        PICTURE.write_text(draw_case("long_session"), encoding="utf-8")
    return format_report(measured)


def fill_page(page: str, blocks: Mapping[str, str]) -> str:
    """Replace the text of each measured block of a page.

    Raises:
        KeyError: the page has a block that is not measured.
    """
    return BLOCK.sub(lambda found: f"\n{blocks[found[1]]}\n\n", page)


def format_blocks(measured: Measured, lang: str) -> dict[str, str]:
    """Format each block of the page: `owned` and `equal` budgets, what was `found`, and the `plans`
    of others.
    """
    figures = [
        each
        for cases in (measured.own, measured.equal)
        for case in cases.values()
        for each in case.values()
    ]
    shares = [each["either_percent"] for each in figures]
    return {
        "owned": format_overview(measured.own),
        "equal": format_overview(measured.equal),
        "found": FOUND[lang].format(
            least=min(shares), most=max(shares), over=sum(each["over_budget"] for each in figures)
        ),
        "plans": "\n".join(
            [HEADS[lang], *(_format_row(row, lang) for row in measured.headlines if row.seed)]
        ),
    }


def _format_row(row: Headline, lang: str) -> str:
    cells: tuple[str, ...] = (row.name.strip(), row.seed, row.ours)
    if lang == "zh":
        cells = (NAMES_ZH[cells[0]], *map(_translate_value, cells[1:]))
    return f"| {' | '.join(cells)} |"


def _translate_value(value: str) -> str:
    for en, zh in VALUES_ZH.items():
        value = value.replace(en, zh)
    return value
