"""What `/context` tells: the view in numbers, as facts for the console and (see report_text) as lines for a chat."""

from collections import Counter as Tally
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import tzinfo
from typing import Any

from bot.agent import report_text
from bot.agent.fit import Fitter, Setting, Wish
from bot.agent.marks import next_fold
from bot.agent.whys import cut_facts
from bot.config import Config
from memory.context.counter import Counter
from memory.context.view import Tokens, View, assemble
from memory.conversation import Session, Text
from memory.store.doors import Store
from memory.store.records import ConversationRow, FoldRow


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
        """The fields of GET /api/conversations/{id}/context.

        Raises:
            LookupError: there is no such conversation.
            BudgetTooSmall: the configured budget cannot even hold what stands before the conversation.
        """
        row = await self._store.sessions.conversation(conversation)
        if row is None:
            raise LookupError(f"no conversation {conversation}")
        session = await self._store.sessions.load(conversation)
        setting = await self._fitter.setting(session, self._wish(row))
        counter = await self._fitter.counter()
        view = assemble(session, setting.system, setting.tools, counter, "")
        return {
            **self._measures(session, setting, view),
            **_contents(view),
            **_system(setting, counter),
            **await self._folds(session),
            "policy": setting.policy.name,
            "policy_own": bool(row.policy),
            "model": setting.model,
            "counter": {"name": counter.name, "factor": setting.factor, "last_error_percent": setting.error_percent},
            "cache_share": self._fitter.calibration.shares.get(conversation, 0.0),
            "summary_turns": session.summary.turns if session.summary else 0,
            "prefix_generation": session.prefix_generation,
        }

    def text(self, facts: dict[str, Any], lang: str, zone: tzinfo | None = None) -> str:
        """The same for a phone's screen: short lines, bars under each other, hours in this zone."""
        return report_text.text(facts, lang, zone)

    def _wish(self, row: ConversationRow) -> Wish:
        return Wish(model=row.model or self._model_name(), policy=row.policy or self._config().context_policy)

    def _measures(self, session: Session, setting: Setting, view: View) -> dict[str, Any]:
        config, tokens = self._config(), view.tokens.total
        finished = [turn.number for turn in session.turns if turn.number != session.running]
        return {
            "epoch": session.epoch,
            "turns": len(finished),
            "max_turns": config.agent_max_context_turns,
            "live_turns": [finished[0], finished[-1]] if finished else [],
            "tokens": tokens,
            "max_tokens": config.agent_max_context_tokens,
            "budget": setting.limits.budget,
            "next_fold": [asdict(mark) for mark in next_fold(session, setting, tokens)],
        }

    async def _folds(self, session: Session) -> dict[str, Any]:
        done = await self._store.folds.folds(session.conversation, session.epoch, bare=True)
        begun = [row for row in await self._store.folds.open_folds() if row.conversation == session.conversation]
        return {
            "folds": [_fold(row) for row in done],
            "folding": next((_fold(row) for row in begun if not row.log_only), None),
        }


def _contents(view: View) -> dict[str, Any]:
    return {
        "parts": _parts(view.tokens),
        "messages": len(view.shown),
        "roles": dict(Tally(shown.role for shown in view.shown)),
        "characters": _characters(view),
    }


def _system(setting: Setting, counter: Counter) -> dict[str, Any]:
    counted = [(part, counter.text(part.text) if part.text else 0) for part in setting.parts]
    return {
        "system_parts": [
            {"name": part.name, "tokens": tokens, "left_out": list(part.left_out)} for part, tokens in counted
        ],
        "soul_tokens": _first(counted),
    }


def _first(counted: Sequence[tuple[object, int]]) -> int:
    return counted[0][1] if counted else 0


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
        "state": fold.state,
        "policy": fold.policy,
        "reason": fold.reason,
        "why": cut_facts(fold.why),
    }
