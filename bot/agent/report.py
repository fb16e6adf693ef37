"""What `/context` tells: the view in numbers, as facts for the console and as lines for a chat."""

from collections import Counter as Tally
from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Any

from bot.agent.fit import Fitter, Setting
from bot.config import Config
from memory.context.view import Tokens, View, assemble
from memory.conversation import Text
from memory.store.doors import Store
from memory.store.records import ConversationRow, FoldRow

BAR = 10


class Report:
    """Reads a conversation as the next request would show it."""

    def __init__(
        self, store: Store, fitter: Fitter, config: Callable[[], Config], model_name: Callable[[], str]
    ) -> None:
        self._store = store
        self._fitter = fitter
        self._config = config
        self._model_name = model_name

    async def facts(self, conversation: str) -> dict[str, Any]:
        """The fields of GET /api/conversations/{id}/context."""
        config = self._config()
        row = await self._store.sessions.conversation(conversation)
        if row is None:
            raise LookupError(f"no conversation {conversation}")
        setting = await self._setting(config, row)
        session = await self._store.sessions.load(conversation)
        counter = await self._fitter.counter()
        view = assemble(session, setting.system, setting.tools, counter, "")
        factor, _, error = await self._fitter.calibration.factor(setting.model)
        folds = await self._store.folds.folds(conversation, session.epoch)
        return {
            "epoch": session.epoch,
            "turns": sum(1 for turn in session.turns if turn.number != session.running),
            "max_turns": config.agent_max_context_turns,
            "tokens": view.tokens.total,
            "max_tokens": config.agent_max_context_tokens,
            "parts": _parts(view.tokens),
            "messages": len(view.shown),
            "roles": dict(Tally(shown.role for shown in view.shown)),
            "characters": _characters(view),
            "policy": setting.policy.name,
            "model": setting.model,
            "folds": [_fold(fold) for fold in folds],
            "counter": {"name": counter.name, "factor": factor, "last_error_percent": error},
            "cache_share": self._fitter.calibration.shares.get(conversation, 0.0),
            "summary_turns": session.summary.turns if session.summary else 0,
            "prefix_generation": session.prefix_generation,
            "soul_tokens": counter.text(setting.system[0]),
        }

    async def _setting(self, config: Config, row: ConversationRow) -> Setting:
        model = row.model or self._model_name()
        return await self._fitter.setting(model, row.policy or config.context_policy)

    def text(self, facts: dict[str, Any], lang: str, zone: tzinfo | None = None) -> str:
        """The same for a phone's screen: short lines, bars under each other, hours in this zone."""
        zh = lang == "zh"
        blocks = [_measures(facts, zh), _made_of(facts, zh), _asides(facts, zh), _fold_lines(facts, zh, zone)]
        return "\n\n".join("\n".join(block) for block in blocks)


SOUL_TOKENS = 3_000
"""What a persona is advised to keep within. Source: the budget seed's SOUL_BUDGET."""
_NAMES = {
    "system": ("系统", "system"),
    "tools": ("工具", "tools"),
    "summary": ("摘要", "summary"),
    "history": ("历史", "history"),
    "running": ("进行中", "running"),
}
_ROLES = {"user": ("用户", "user"), "assistant": ("助手", "assistant")}
MOST_FOLDS = 3


def bar(share: float) -> str:
    """A share of 1 as ten signs; what is more than nothing shows."""
    full = min(BAR, max(round(share * BAR), 1 if share > 0 else 0))
    return f"`{'█' * full}{'░' * (BAR - full)}`"


def _measures(facts: dict[str, Any], zh: bool) -> list[str]:
    epoch = f"第 {facts['epoch']} 期" if zh else f"epoch {facts['epoch']}"
    return [
        f"**{'上下文' if zh else 'Context'}** · {facts['policy']} · {epoch}",
        _measure(facts["tokens"], facts["max_tokens"], "tokens"),
        _measure(facts["turns"], facts["max_turns"], "轮" if zh else "turns"),
    ]


def _measure(used: int, most: int, unit: str) -> str:
    share = used / most if most else 0.0
    return f"{bar(share)} {used:,} / {most:,} {unit} · {share:.0%}"


def _made_of(facts: dict[str, Any], zh: bool) -> list[str]:
    whole = max(1, facts["tokens"])
    return [f"**{'构成' if zh else 'Made of'}**"] + [
        f"{bar(count / whole)} {_NAMES[name][0 if zh else 1]} {count:,}{_detail(facts, name, zh)}"
        for name, count in facts["parts"].items()
        if count
    ]


def _detail(facts: dict[str, Any], name: str, zh: bool) -> str:
    if name == "system":
        return f"（SOUL.md {facts['soul_tokens']:,}）" if zh else f" (SOUL.md {facts['soul_tokens']:,})"
    if name == "summary":
        turns = facts["summary_turns"]
        return f"（{turns} 轮）" if zh else f" (of {turns} turns)"
    return ""


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


def _parts(tokens: Tokens) -> dict[str, int]:
    return {
        "system": tokens.system,
        "tools": tokens.tools,
        "summary": tokens.summary,
        "history": tokens.history,
        "running": tokens.running,
    }


def _characters(view: View) -> int:
    return sum(len(part.text) for shown in view.shown for part in shown.parts if isinstance(part, Text))


def _fold(fold: FoldRow) -> dict[str, Any]:
    return {
        "id": fold.id,
        "from_turn": fold.from_turn,
        "to_turn": fold.to_turn,
        "at": fold.at.isoformat(),
        "method": fold.method,
        "file": fold.log_ref,
        "tokens_before": fold.tokens_before,
        "tokens_after": fold.tokens_after,
    }


def _fold_lines(facts: dict[str, Any], zh: bool, zone: tzinfo | None) -> list[str]:
    folds = facts["folds"]
    if not folds:
        return ["**整理** 还没有" if zh else "**Folds** none yet"]
    return [f"**整理** {len(folds)} 次" if zh else f"**Folds** {len(folds)}"] + [
        _fold_line(fold, zh, zone) for fold in reversed(folds[-MOST_FOLDS:])
    ]


def _fold_line(fold: dict[str, Any], zh: bool, zone: tzinfo | None) -> str:
    first, last, before, after = (fold[key] for key in ("from_turn", "to_turn", "tokens_before", "tokens_after"))
    which = f"{first}" if first == last else f"{first}–{last}"
    saved = f"−{1 - after / before:.0%}" if before > after else "±0%"
    extract = ("（摘录）" if zh else " (extract)") if fold["method"] == "extract" else ""
    turns = f"第 {which} 轮" if zh else f"turns {which}"
    at = datetime.fromisoformat(fold["at"]).astimezone(zone)
    return f"- {turns} · {before:,} → {after:,} · {saved}{extract}\n  {at:%m-%d %H:%M} · {fold['file']}"
