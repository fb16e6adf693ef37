"""The report of `/context`: the view in numbers, as JSON for the console and as lines for a
chat.
"""

from collections import Counter as Tally
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime, tzinfo
from typing import Any

from bot.agent.context.fitter import ContextFitter, FitLimits, FitRequest, run_beside_loop
from bot.config.schema import Config
from bot.errors import BudgetShortage
from bot.gateway.notifications import count_text_zh
from bot.memory.view_segments import fixed_segments, session_segments
from bot.models.windows import ModelWindow, format_window
from bot.texts import LONG_SOUL_TOKENS, format_shortage
from memory.context.policies.boundary import load_choice
from memory.context.policies.planner import next_fold_triggers
from memory.context.tokens import TokenCounter
from memory.context.view import ContextView, assemble_view
from memory.conversation import Session, Text
from memory.store.rows import ConversationRow, FoldRow
from memory.store.store import Store

FOLD_REASON_TEXTS = {
    "turns": ("轮数到了上限", "the most turns were reached"),
    "tokens": ("token 到了阈值", "the tokens reached the threshold"),
    "messages": ("消息积累到了阈值", "enough messages had come together"),
    "overflow": ("模型说请求太长", "the model called the request too long"),
    "restart": ("程序重新启动", "the program restarted"),
    "import": ("导入对话时", "the conversation was imported"),
    "/context fold": ("由 /context fold 要求", "asked for by /context fold"),
}
SCORE_TERM_TEXTS = {
    "base": ("基础", "base"),
    "tool_result": ("工具结果之后", "after a tool result"),
    "reply": ("回答之后", "after an answer"),
    "tool_sequence": ("工具调用之中", "inside tool work"),
    "break": ("自然停顿", "natural break"),
    "error": ("临近错误", "near an error"),
    "topic": ("话题转换", "change of topic"),
}
# English terms with another wording for a place.
CUT_PLACE_TEXTS = {"break": "at a natural break", "topic": "at a change of topic"}
ADAPTATION_TEXTS = {
    "code": ("多为代码", "much code"),
    "chat": ("多为闲聊", "much talk"),
    "errors": ("报错较多", "many errors"),
}


def load_cut_facts(text: str) -> dict[str, Any] | None:
    """Return the choice of the cut as JSON values; None if there was none.

    Args:
        text: as stored with the fold (boundary.explain).

    Returns:
        turns: folded turns; terms: [name, points] of the place; keep: share that was to stay;
            candidates: their number.
    """
    choice = load_choice(text)
    taken = (
        next((each for each in choice.candidates if each.turns == choice.turns), None)
        if choice
        else None
    )
    if choice is None or taken is None:
        return None
    return {
        "turns": choice.turns,
        "target": choice.target,
        "keep": choice.keep,
        "adapted": list(choice.adapted),
        "score": taken.score,
        "terms": [[name, points] for name, points in taken.terms],
        "candidates": len(choice.candidates),
    }


def format_fold_reason(reason: str, lang: str) -> str:
    """Say why a fold was made; an unknown reason is returned as it is."""
    return FOLD_REASON_TEXTS.get(reason, (reason, reason))[_language_index(lang)]


def format_cut_place(why: dict[str, Any], lang: str) -> str:
    """Say in a few words why the cut is at this place; "" if for no special reason."""
    if why.get("candidates") == 1:
        return "唯一可切的地方" if lang == "zh" else "at the only place"
    good: list[str] = [name for name, points in why["terms"] if points > 0 and name != "base"]
    said = [SCORE_TERM_TEXTS.get(name, (name, name)) for name in good]
    if lang == "zh":
        return "、".join(zh for zh, _ in said)
    return ", ".join(
        CUT_PLACE_TEXTS.get(name, en) for name, (_, en) in zip(good, said, strict=True)
    )


def format_cut(why: dict[str, Any], to_turn: int, lang: str) -> str:
    """Explain the cut in one sentence. to_turn: the last folded turn."""
    side, is_only = _language_index(lang), why["candidates"] == 1
    terms = [
        f"{SCORE_TERM_TEXTS.get(name, (name, name))[side]} {points:+d}"
        for name, points in why["terms"]
    ]
    adapted = [ADAPTATION_TEXTS.get(name, (name, name))[side] for name in why["adapted"]]
    if lang == "zh":
        extra = f"；{'、'.join(adapted)}，目标保留 {why['keep']:.0%}" if adapted else ""
        score = f"{why['score']} 分：{'，'.join(terms)}"
        place = "这是唯一可切的地方" if is_only else f"{why['candidates']} 处里得分最高（{score}）"
        return f"切在第 {to_turn + 1} 轮之前：{place}{extra}。"
    extra = f"; {', '.join(adapted)}, so {why['keep']:.0%} was to stay" if adapted else ""
    score = f"{why['score']} points: {', '.join(terms)}"
    place = "the only place" if is_only else f"the best of {why['candidates']} places ({score})"
    return f"Cut before turn {to_turn + 1}, {place}{extra}."


def _language_index(lang: str) -> int:
    return 0 if lang == "zh" else 1


BAR_WIDTH = 10
LINE_WIDTH = 44  # characters in a line on a phone
MAX_LISTED_FOLDS = 3
_SECTION_TEXTS = {
    "system": ("系统", "system"),
    "tools": ("工具", "tools"),
    "summary": ("摘要", "summary"),
    "history": ("历史", "history"),
    "running": ("进行中", "running"),
}
_SYSTEM_PART_TEXTS = {
    "rules": ("规则", "rules"),
    "awareness": ("能力说明", "what it can do"),
    "log": ("今日日记", "today's diary"),
}
_ROLE_TEXTS = {"user": ("用户", "user"), "assistant": ("助手", "assistant")}
_FOLD_TRIGGER_TEXTS = {
    "tokens": ("到 {at:,} tokens", "at {at:,} tokens"),
    "turns": ("满 {at} 轮", "after {at} turns"),
    "messages": ("到 {at} 条消息", "at {at} messages"),
    "new_messages": ("满 {at} 条新消息（现 {now}）", "after {at} new messages (now {now})"),
    "new_tokens": ("满 {at:,} 新 tokens（现 {now:,}）", "after {at:,} new tokens (now {now:,})"),
}


def format_context_report(facts: dict[str, Any], lang: str, zone: tzinfo | None = None) -> str:
    """Format what a person wants to know as short lines for a phone's screen, with times in this
    zone.

    `format_operator_report` has the rest: the counter, the cache, the prefix, and ids.
    """
    zh = lang == "zh"
    blocks = [_measure_lines(facts, zh), _contents_lines(facts, zh), _fold_lines(facts, zh, zone)]
    return "\n\n".join("\n".join(block) for block in blocks)


def format_operator_report(facts: dict[str, Any], lang: str, zone: tzinfo | None = None) -> str:
    """Format everything: the person's report, what only an operator understands, and every fold
    with its id.
    """
    zh = lang == "zh"
    blocks = [
        _measure_lines(facts, zh),
        _contents_lines(facts, zh),
        _operator_lines(facts, zh),
        _all_fold_lines(facts, zh, zone),
    ]
    return "\n\n".join("\n".join(block) for block in blocks)


def format_bar(share: float) -> str:
    """Draw a share of 1 as ten characters; any share above 0 is visible."""
    full = min(BAR_WIDTH, max(round(share * BAR_WIDTH), 1 if share > 0 else 0))
    return f"`{'█' * full}{'░' * (BAR_WIDTH - full)}`"


def format_triggers(marks: list[dict[str, Any]], lang: str) -> str:
    """Format fold triggers, such as "at 37,500 tokens or after 20 turns"."""
    words = [
        _FOLD_TRIGGER_TEXTS[mark["unit"]][0 if lang == "zh" else 1].format(**mark) for mark in marks
    ]
    return ("，或" if lang == "zh" else " or ").join(words)


def _measure_lines(facts: dict[str, Any], zh: bool) -> list[str]:
    lines = [
        f"**{'上下文' if zh else 'Context'}** · {facts['policy']}",
        _measure_line(facts["tokens"], max(1, min(facts["budget"], facts["max_tokens"])), "tokens"),
        _measure_line(facts["turns"], facts["max_turns"], "轮" if zh else "turns"),
    ]
    if marks := format_triggers(facts["next_fold"], "zh" if zh else "en"):
        lines.append(f"下次整理：{marks}" if zh else f"next fold {marks}")
    return [*lines, *_window_lines(facts, "zh" if zh else "en")]


def _window_lines(facts: dict[str, Any], lang: str) -> list[str]:
    """Say how large the model's window is, where that number comes from, and what it leaves for a
    request.
    """
    zh, budget, reserve = lang == "zh", facts["budget"], facts["reserve"]
    window = format_window(ModelWindow(tokens=facts["window"], source=facts["window_source"]), lang)
    lines = [f"模型窗口 {window}" if zh else f"model window {window}"]
    if facts["shortage"]:
        lines.append(f"⚠ {format_shortage(lang, BudgetShortage(**facts['shortage']))}")
    elif facts["window"] - reserve < facts["max_tokens"]:
        lines.append(
            f"其中 {reserve:,} 留给回答，请求最多 {budget:,}"
            if zh
            else f"{reserve:,} of it for the answer, {budget:,} at most for a request"
        )
    elif budget < facts["max_tokens"]:
        lines.append(
            f"模型数得比我们多：按我们的数法最多 {budget:,} tokens"
            if zh
            else f"the model counts more: {budget:,} at most by our count"
        )
    return lines


def _measure_line(used: int, most: int, unit: str) -> str:
    share = used / most if most else 0.0
    return f"{format_bar(share)} {used:,} / {most:,} {unit} · {share:.0%}"


def _contents_lines(facts: dict[str, Any], zh: bool) -> list[str]:
    lines, total = [f"**{'构成' if zh else 'Made of'}**"], max(1, facts["tokens"])
    for name, count in facts["parts"].items():
        if count:
            lines.append(
                f"{format_bar(count / total)} {_SECTION_TEXTS[name][0 if zh else 1]} {count:,}"
                f"{_detail_line(facts, name, zh)}"
            )
        if name == "system":
            lines += _wrap_items(
                [f"{_format_part(part, zh)} {part['tokens']:,}" for part in facts["system_parts"]]
            )
    return [*lines, *_left_out_lines(facts, zh), *_soul_lines(facts, zh), _messages_line(facts, zh)]


def _format_part(part: dict[str, Any], zh: bool) -> str:
    name: str = part["name"]
    return _SYSTEM_PART_TEXTS.get(name, (name, name))[0 if zh else 1]


def _wrap_items(items: list[str]) -> Iterator[str]:
    """Join items to lines of at most LINE_WIDTH."""
    line = ""
    for item in items:
        if line and len(line) + len(item) + 3 > LINE_WIDTH:
            yield line
            line = ""
        line = f"{line} · {item}" if line else item
    if line:
        yield line


def _left_out_lines(facts: dict[str, Any], zh: bool) -> list[str]:
    return [
        f"⚠ {_format_part(part, zh)} 省略了：{'；'.join(map(count_text_zh, part['left_out']))}"
        if zh
        else f"⚠ left out of {_format_part(part, zh)}: {'; '.join(part['left_out'])}"
        for part in facts["system_parts"]
        if part["left_out"]
    ]


def _detail_line(facts: dict[str, Any], name: str, zh: bool) -> str:
    if name != "summary":
        return ""
    turns = facts["summary_turns"]
    if zh:
        return f"（{turns} 轮）"
    return " (of 1 turn)" if turns == 1 else f" (of {turns} turns)"


def _messages_line(facts: dict[str, Any], zh: bool) -> str:
    side = 0 if zh else 1
    roles = " · ".join(
        f"{_ROLE_TEXTS[role][side]} {count}"
        for role, count in sorted(facts["roles"].items(), reverse=True)
    )
    if zh:
        return (
            f"消息 {facts['messages']}{f'（{roles}）' if roles else ''}，{facts['characters']:,} 字"
        )
    return (
        f"messages {facts['messages']}{f' ({roles})' if roles else ''}, {facts['characters']:,} "
        "characters"
    )


def _soul_lines(facts: dict[str, Any], zh: bool) -> list[str]:
    if facts["soul_tokens"] <= LONG_SOUL_TOKENS:
        return []
    return [
        f"⚠ SOUL.md 超过建议的 {LONG_SOUL_TOKENS:,} tokens；它总是整篇放入。"
        if zh
        else f"⚠ SOUL.md is over the advised {LONG_SOUL_TOKENS:,} tokens; it always goes in whole."
    ]


def _operator_lines(facts: dict[str, Any], zh: bool) -> list[str]:
    """Lines on model, counter, cache, prefix, epoch and the range of the turns in the view."""
    counter, live = facts["counter"], facts["live_turns"]
    error = f"{counter['last_error_percent']:+.1f}%"
    turns = (
        (f"第 {live[0]}–{live[1]} 轮" if zh else f"turns {live[0]}–{live[1]}")
        if live
        else ("无" if zh else "none")
    )
    own = (
        ("本会话自选" if zh else "chosen here")
        if facts["policy_own"]
        else ("来自设置" if zh else "as configured")
    )
    if zh:
        return [
            "**运行**",
            f"模型 {facts['model']} · 请求上限 {facts['budget']:,}",
            f"计数 {counter['name']} × {counter['factor']:.2f}，上次误差 {error}",
            f"上次回答的缓存命中 {facts['cache_share']:.0%}",
            f"前缀第 {facts['prefix_generation']} 版 · 第 {facts['epoch']} 期",
            f"视图里是{turns} · 策略{own}",
        ]
    return [
        "**Operation**",
        f"model {facts['model']} · request limit {facts['budget']:,}",
        f"counter {counter['name']} × {counter['factor']:.2f}, last error {error}",
        f"last answer {facts['cache_share']:.0%} from cache",
        f"prefix generation {facts['prefix_generation']} · epoch {facts['epoch']}",
        f"in the view: {turns} · policy {own}",
    ]


def _fold_lines(facts: dict[str, Any], zh: bool, zone: tzinfo | None) -> list[str]:
    folds = facts["folds"]
    lines = [
        _fold_count(facts, zh),
        *(_fold_line(fold, zh, zone) for fold in reversed(folds[-MAX_LISTED_FOLDS:])),
    ]
    if folds:
        show = f"/memory show {_path_in_space(folds[-1]['file'])}"
        lines.append(f"读这一天的日记：{show}" if zh else f"to read it: {show}")
    return lines


def _all_fold_lines(facts: dict[str, Any], zh: bool, zone: tzinfo | None) -> list[str]:
    lines = [_fold_count(facts, zh)]
    for fold in reversed(facts["folds"]):
        lines += [_fold_line(fold, zh, zone), f"  {fold['id']} · {fold['policy']}"]
        if fold["file"] != _path_in_space(fold["file"]):
            lines.append(f"  {fold['file']}")
    if running := facts["folding"]:
        lines.append(f"{'进行中：' if zh else 'under way: '}{running['id']} · {running['state']}")
    return lines


def _fold_count(facts: dict[str, Any], zh: bool) -> str:
    if not facts["folds"]:
        return "**整理** 还没有" if zh else "**Folds** none yet"
    return f"**整理** {len(facts['folds'])} 次" if zh else f"**Folds** {len(facts['folds'])}"


def _path_in_space(file: str) -> str:
    """Return a log's path as its person names it, without the folder of their space."""
    return file.split("/", 2)[2] if file.startswith("spaces/") else file


def _fold_line(fold: dict[str, Any], zh: bool, zone: tzinfo | None) -> str:
    first, last, before, after = (
        fold[key] for key in ("from_turn", "to_turn", "tokens_before", "tokens_after")
    )
    numbers = f"{first}" if first == last else f"{first}–{last}"
    turns = f"第 {numbers} 轮" if zh else f"{'turn' if first == last else 'turns'} {numbers}"
    extract = ("（摘录）" if zh else " (extract)") if fold["method"] == "extract" else ""
    at = datetime.fromisoformat(fold["at"]).astimezone(zone)
    lines = [
        f"- {turns} · {before:,} → {after:,} · {format_saving(before, after)}{extract}",
        f"  {at:%m-%d %H:%M} · {_path_in_space(fold['file'])}",
        f"  {_fold_reason_suffix(fold, zh)}",
    ]
    return "\n".join(lines)


def format_saving(before: int, after: int) -> str:
    """Format how much a fold saved, such as −96%."""
    return f"−{1 - after / before:.0%}" if before > after else "±0%"


def _fold_reason_suffix(fold: dict[str, Any], zh: bool) -> str:
    lang = "zh" if zh else "en"
    reason, place = (
        format_fold_reason(fold["reason"], lang),
        format_cut_place(fold["why"], lang) if fold["why"] else "",
    )
    if not place:
        return reason
    return f"{reason}；切在{place}" if zh else f"{reason}; cut {place}"


class ContextReport:
    """Reports a conversation as the next request would show it."""

    def __init__(
        self,
        store: Store,
        fitter: ContextFitter,
        config: Callable[[], Config],
        model_name: Callable[[], str],
    ) -> None:
        self._store = store
        self._fitter = fitter
        self._config = config
        self._model_name = model_name

    async def facts(self, conversation: str) -> dict[str, Any]:
        """Return the fields of GET /api/conversations/{id}/context.

        Raises:
            LookupError: there is no such conversation.
        """
        row, session, fit_limits, counter = await self._load(conversation)

        def measure() -> dict[str, Any]:
            view = assemble_view(session, fit_limits.system, fit_limits.tools, counter, "")
            return {**self._measures(session, fit_limits, view, counter), **_contents_facts(view)}

        return {
            **await run_beside_loop(measure, len(session.turns)),
            **_system_facts(fit_limits, counter),
            **await self._folds(session),
            "policy": fit_limits.policy.name,
            "policy_own": bool(row.policy),
            "model": fit_limits.model,
            "window": fit_limits.limits.window,
            "window_source": fit_limits.window.source,
            "reserve": fit_limits.limits.reserve,
            "shortage": asdict(fit_limits.shortage) if fit_limits.shortage else None,
            "counter": {
                "name": counter.name,
                "factor": fit_limits.factor,
                "last_error_percent": fit_limits.error_percent,
            },
            "cache_share": self._fitter.calibration.shares.get(conversation, 0.0),
            "summary_turns": session.summary.turns if session.summary else 0,
            "prefix_generation": session.prefix_generation,
        }

    async def segments(self, conversation: str) -> list[dict[str, Any]]:
        """Return the text of the next request, piece by piece.

        Raises:
            LookupError: there is no such conversation.
        """
        _, session, fit_limits, counter = await self._load(conversation)
        texts = [(part.name, part.text) for part in fit_limits.parts]
        return [
            *fixed_segments(texts, fit_limits.tools, counter),
            *await run_beside_loop(lambda: session_segments(session, counter), len(session.turns)),
        ]

    async def _load(
        self, conversation: str
    ) -> tuple[ConversationRow, Session, FitLimits, TokenCounter]:
        row = await self._store.sessions.conversation(conversation)
        if row is None:
            raise LookupError(f"no conversation {conversation}")
        session = await self._fitter.load_session(conversation)
        policy = row.policy or self._config().context_policy
        fit_request = FitRequest(model=row.model or self._model_name(), policy=policy)
        return (
            row,
            session,
            await self._fitter.load_limits(session, fit_request),
            await self._fitter.counter(),
        )

    def _measures(
        self, session: Session, fit_limits: FitLimits, view: ContextView, counter: TokenCounter
    ) -> dict[str, Any]:
        config, policy, limits = self._config(), fit_limits.policy, fit_limits.limits
        triggers = next_fold_triggers(session, policy, limits, fit_limits.fixed, counter)
        finished = [turn.number for turn in session.turns if turn.number != session.running]
        return {
            "epoch": session.epoch,
            "turns": len(finished),
            "max_turns": config.agent_max_context_turns,
            "live_turns": [finished[0], finished[-1]] if finished else [],
            "tokens": view.tokens.total,
            "max_tokens": config.agent_max_context_tokens,
            "budget": limits.budget,
            "next_fold": [asdict(trigger) for trigger in triggers],
        }

    async def _folds(self, session: Session) -> dict[str, Any]:
        folds = await self._store.folds.folds(session.conversation, session.epoch, with_texts=False)
        # a log-only one is no fold of the view
        done = [row for row in folds if not row.log_only]
        open_folds = [
            row
            for row in await self._store.folds.open_folds()
            if row.conversation == session.conversation
        ]
        return {
            "folds": [_fold_facts(row) for row in done],
            "folding": next((_fold_facts(row) for row in open_folds if not row.log_only), None),
        }


def _contents_facts(view: ContextView) -> dict[str, Any]:
    return {
        "parts": asdict(view.tokens),
        "messages": len(view.shown),
        "roles": dict(Tally(shown.role for shown in view.shown)),
        "characters": sum(
            len(part.text) for shown in view.shown for part in shown.parts if isinstance(part, Text)
        ),
    }


def _system_facts(fit_limits: FitLimits, counter: TokenCounter) -> dict[str, Any]:
    counted = [(part, counter.text(part.text) if part.text else 0) for part in fit_limits.parts]
    return {
        "system_parts": [
            {"name": part.name, "tokens": tokens, "left_out": list(part.left_out)}
            for part, tokens in counted
        ],
        "soul_tokens": counted[0][1],
    }


def _fold_facts(fold: FoldRow) -> dict[str, Any]:
    return {
        "id": fold.id,
        "from_turn": fold.from_turn,
        "to_turn": fold.to_turn,
        "at": fold.at.isoformat(),
        "method": fold.method,
        "file": fold.log_ref,
        "tokens_before": fold.tokens_before,
        "tokens_after": fold.tokens_after,
        "state": fold.state,
        "policy": fold.policy,
        "reason": fold.reason,
        "why": load_cut_facts(fold.why),
    }
