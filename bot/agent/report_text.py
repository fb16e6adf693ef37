"""The facts of `/context` as lines for a phone's screen, in Chinese and in English. Pure."""

from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Any

from bot.agent.prompt import counted_zh
from bot.agent.whys import place_words, reason_words

BAR = 10
WIDE = 44
"""Characters that a phone shows in a line."""
MOST_FOLDS = 3
SOUL_TOKENS = 3_000
"""What a persona is advised to keep within. Source: the budget seed's SOUL_BUDGET."""
_NAMES = {
    "system": ("系统", "system"),
    "tools": ("工具", "tools"),
    "summary": ("摘要", "summary"),
    "history": ("历史", "history"),
    "running": ("进行中", "running"),
}
_SYSTEM = {
    "rules": ("规则", "rules"),
    "awareness": ("能力说明", "what it can do"),
    "log": ("今日日记", "today's diary"),
}
_ROLES = {"user": ("用户", "user"), "assistant": ("助手", "assistant")}
_MARKS = {
    "tokens": ("到 {at:,} tokens", "at {at:,} tokens"),
    "turns": ("满 {at} 轮", "after {at} turns"),
    "messages": ("到 {at} 条消息", "at {at} messages"),
    "new_messages": ("满 {at} 条新消息（现 {now}）", "after {at} new messages (now {now})"),
    "new_tokens": ("满 {at:,} 新 tokens（现 {now:,}）", "after {at:,} new tokens (now {now:,})"),
}


def text(facts: dict[str, Any], lang: str, zone: tzinfo | None = None) -> str:
    """Short lines, bars under each other, hours in this zone."""
    zh = lang == "zh"
    blocks = [_measures(facts, zh), _made_of(facts, zh), _asides(facts, zh), _fold_lines(facts, zh, zone)]
    return "\n\n".join("\n".join(block) for block in blocks)


def bar(share: float) -> str:
    """A share of 1 as ten signs; what is more than nothing shows."""
    full = min(BAR, max(round(share * BAR), 1 if share > 0 else 0))
    return f"`{'█' * full}{'░' * (BAR - full)}`"


def next_words(marks: list[dict[str, Any]], lang: str) -> str:
    """Where the next fold is, such as "at 37,500 tokens or after 20 turns"."""
    words = [_MARKS[mark["unit"]][0 if lang == "zh" else 1].format(**mark) for mark in marks]
    return ("，或" if lang == "zh" else " or ").join(words)


def _measures(facts: dict[str, Any], zh: bool) -> list[str]:
    epoch = f"第 {facts['epoch']} 期" if zh else f"epoch {facts['epoch']}"
    lines = [
        f"**{'上下文' if zh else 'Context'}** · {facts['policy']} · {epoch}",
        _measure(facts["tokens"], facts["max_tokens"], "tokens"),
        _measure(facts["turns"], facts["max_turns"], "轮" if zh else "turns"),
    ]
    if marks := next_words(facts["next_fold"], "zh" if zh else "en"):
        lines.append(f"下次整理：{marks}" if zh else f"next fold {marks}")
    if facts["budget"] < facts["max_tokens"]:
        lines.append(
            f"按模型的窗口与计数，最多 {facts['budget']:,} tokens"
            if zh
            else f"by the model's window and count: {facts['budget']:,} at most"
        )
    return lines


def _measure(used: int, most: int, unit: str) -> str:
    share = used / most if most else 0.0
    return f"{bar(share)} {used:,} / {most:,} {unit} · {share:.0%}"


def _made_of(facts: dict[str, Any], zh: bool) -> list[str]:
    lines, whole = [f"**{'构成' if zh else 'Made of'}**"], max(1, facts["tokens"])
    for name, count in facts["parts"].items():
        if count:
            lines.append(f"{bar(count / whole)} {_NAMES[name][0 if zh else 1]} {count:,}{_detail(facts, name, zh)}")
        if name == "system":
            lines += _wrapped([f"{_part(part, zh)} {part['tokens']:,}" for part in facts["system_parts"]])
    return lines + _left_out(facts, zh)


def _part(part: dict[str, Any], zh: bool) -> str:
    name: str = part["name"]
    return _SYSTEM.get(name, (name, name))[0 if zh else 1]


def _wrapped(items: list[str]) -> Iterator[str]:
    """Items side by side, as many as a line holds."""
    line = ""
    for item in items:
        if line and len(line) + len(item) + 3 > WIDE:
            yield line
            line = ""
        line = f"{line} · {item}" if line else item
    if line:
        yield line


def _left_out(facts: dict[str, Any], zh: bool) -> list[str]:
    return [
        f"⚠ {_part(part, zh)} 省略了：{'；'.join(map(counted_zh, part['left_out']))}"
        if zh
        else f"⚠ left out of {_part(part, zh)}: {'; '.join(part['left_out'])}"
        for part in facts["system_parts"]
        if part["left_out"]
    ]


def _detail(facts: dict[str, Any], name: str, zh: bool) -> str:
    if name != "summary":
        return ""
    turns = facts["summary_turns"]
    return f"（{turns} 轮）" if zh else f" (of {_turns(turns)})"


def _turns(count: int) -> str:
    return f"{count} turn" if count == 1 else f"{count} turns"


def _asides(facts: dict[str, Any], zh: bool) -> list[str]:
    side = 0 if zh else 1
    roles = " · ".join(f"{_ROLES[role][side]} {count}" for role, count in sorted(facts["roles"].items(), reverse=True))
    counter, share = facts["counter"], facts["cache_share"]
    lines = [
        f"消息 {facts['messages']}{f'（{roles}）' if roles else ''}，{facts['characters']:,} 字"
        if zh
        else f"messages {facts['messages']}{f' ({roles})' if roles else ''}, {facts['characters']:,} characters",
        f"计数 {counter['name']} × {counter['factor']:.2f}，上次误差 {counter['last_error_percent']:+.1f}%"
        if zh
        else f"counter {counter['name']} × {counter['factor']:.2f}, last error {counter['last_error_percent']:+.1f}%",
        f"上次回答的缓存命中 {share:.0%}" if zh else f"last answer {share:.0%} from cache",
    ]
    if facts["soul_tokens"] > SOUL_TOKENS:
        lines.append(
            f"⚠ SOUL.md 超过建议的 {SOUL_TOKENS:,} tokens；它总是整篇放入。"
            if zh
            else f"⚠ SOUL.md is over the advised {SOUL_TOKENS:,} tokens; it always goes in whole."
        )
    return lines


def _fold_lines(facts: dict[str, Any], zh: bool, zone: tzinfo | None) -> list[str]:
    folds = facts["folds"]
    if not folds:
        return ["**整理** 还没有" if zh else "**Folds** none yet"]
    return [f"**整理** {len(folds)} 次" if zh else f"**Folds** {len(folds)}"] + [
        _fold_line(fold, zh, zone) for fold in reversed(folds[-MOST_FOLDS:])
    ]


def _fold_line(fold: dict[str, Any], zh: bool, zone: tzinfo | None) -> str:
    first, last, before, after = (fold[key] for key in ("from_turn", "to_turn", "tokens_before", "tokens_after"))
    one = first == last
    which = f"{first}" if one else f"{first}–{last}"
    turns = f"第 {which} 轮" if zh else f"{'turn' if one else 'turns'} {which}"
    extract = ("（摘录）" if zh else " (extract)") if fold["method"] == "extract" else ""
    at = datetime.fromisoformat(fold["at"]).astimezone(zone)
    lines = [
        f"- {turns} · {before:,} → {after:,} · {saved(before, after)}{extract}",
        f"  {at:%m-%d %H:%M} · {fold['file']}",
        f"  {_because(fold, zh)}",
    ]
    return "\n".join(lines)


def saved(before: int, after: int) -> str:
    """What a fold took away, as −96%."""
    return f"−{1 - after / before:.0%}" if before > after else "±0%"


def _because(fold: dict[str, Any], zh: bool) -> str:
    lang = "zh" if zh else "en"
    reason, place = reason_words(fold["reason"], lang), place_words(fold["why"], lang) if fold["why"] else ""
    if not place:
        return reason
    return f"{reason}；切在{place}" if zh else f"{reason}; cut {place}"
