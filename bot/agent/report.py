"""What `/context` tells: the view in numbers, as facts for the console and as lines for a chat."""

from collections import Counter as Tally
from collections.abc import Callable
from typing import Any

from bot.agent.fit import Fitter, Setting
from bot.config import Config
from memory.context.view import Tokens, View, assemble
from memory.conversation import Text
from memory.store.doors import Store
from memory.store.records import ConversationRow, FoldRow

BAR = 20


class Report:
    """Reads a conversation as the next request would show it."""

    def __init__(
        self, store: Store, fitter: Fitter, config: Callable[[], Config], model_name: Callable[[], str]
    ) -> None:
        self._store = store
        self._fitter = fitter
        self._config = config
        self._model_name = model_name
        self._shares: dict[str, float] = {}

    def note_cache(self, conversation: str, share: float) -> None:
        """The share of the newest request that came from the provider's cache, 0 to 1."""
        if len(self._shares) > 10_000:
            self._shares.clear()
        self._shares[conversation] = share

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
            "cache_share": self._shares.get(conversation, 0.0),
            "summary_turns": session.summary.turns if session.summary else 0,
            "prefix_generation": session.prefix_generation,
            "soul_tokens": counter.text(setting.system[0]),
        }

    async def _setting(self, config: Config, row: ConversationRow) -> Setting:
        model = row.model or self._model_name()
        return await self._fitter.setting(model, row.policy or config.context_policy)

    def text(self, facts: dict[str, Any], lang: str) -> str:
        """The same for a phone's screen."""
        zh = lang == "zh"
        parts, names = facts["parts"], _NAMES_ZH if zh else _NAMES_EN
        lines = [
            f"{'上下文' if zh else 'Context'} · {facts['policy']} · epoch {facts['epoch']}",
            _bar(facts["tokens"], facts["max_tokens"], "tokens"),
            _bar(facts["turns"], facts["max_turns"], "轮" if zh else "turns"),
            " · ".join(f"{names[name]} {count:,}" for name, count in parts.items() if count),
            _messages(facts, zh),
            _counted(facts, zh),
        ]
        if facts["soul_tokens"] > SOUL_TOKENS:
            lines.append(_soul(facts["soul_tokens"], zh))
        return "\n".join([*lines, *_fold_lines(facts, zh)])


SOUL_TOKENS = 3_000
_NAMES_ZH = {"system": "系统", "tools": "工具", "summary": "摘要", "history": "历史", "running": "进行中"}
_NAMES_EN = {name: name for name in _NAMES_ZH}
MOST_FOLDS = 3


def _bar(used: int, most: int, unit: str) -> str:
    share = min(1.0, used / most) if most else 0.0
    full = round(share * BAR)
    return f"`{'█' * full}{'░' * (BAR - full)}` {used:,} / {most:,} {unit} ({share:.0%})"


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


def _messages(facts: dict[str, Any], zh: bool) -> str:
    roles = ", ".join(f"{role} {count}" for role, count in facts["roles"].items())
    if zh:
        return f"{facts['messages']} 条消息（{roles or '无'}），{facts['characters']:,} 个字符"
    return f"{facts['messages']} messages ({roles or 'none'}), {facts['characters']:,} characters"


def _counted(facts: dict[str, Any], zh: bool) -> str:
    counter, share = facts["counter"], facts["cache_share"]
    if zh:
        words = f"计数 {counter['name']} × {counter['factor']}，上次误差 {counter['last_error_percent']}%"
        return f"{words}，上次缓存命中 {share:.0%}"
    words = f"counter {counter['name']} × {counter['factor']}, last error {counter['last_error_percent']}%"
    return f"{words}, last answer {share:.0%} from cache"


def _soul(tokens: int, zh: bool) -> str:
    if zh:
        return f"SOUL.md 有 {tokens:,} tokens，超过建议的 {SOUL_TOKENS:,}；它总是整篇放入。"
    return f"SOUL.md has {tokens:,} tokens, over the advised {SOUL_TOKENS:,}; it always goes in whole."


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


def _fold_lines(facts: dict[str, Any], zh: bool) -> list[str]:
    folds = facts["folds"]
    if not folds:
        return ["还没有整理过" if zh else "no folds yet"]
    head = f"整理 {len(folds)} 次" if zh else f"{len(folds)} folds"
    shown = [
        f"- {fold['at'][5:16].replace('T', ' ')} · {fold['from_turn']}–{fold['to_turn']} · "
        f"{fold['tokens_before']:,} → {fold['tokens_after']:,} · {fold['file']} ({fold['method']})"
        for fold in folds[-MOST_FOLDS:]
    ]
    return [head, *shown]
