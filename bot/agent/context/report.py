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
from bot.gateway.notifications import left_out_phrase
from bot.memory.view_segments import fixed_segments, session_segments
from bot.models.windows import ModelWindow, format_window
from bot.texts import LONG_SOUL_TOKENS, format_shortage
from channels.phrases import NO_PHRASE, Phrase, join_phrases, show
from memory.context.policies.boundary import load_choice
from memory.context.policies.planner import next_fold_triggers
from memory.context.tokens import TokenCounter
from memory.context.view import ContextView, assemble_view
from memory.conversation import Session, Text
from memory.store.rows import ConversationRow, FoldRow
from memory.store.store import Store

FOLD_REASON_TEXTS = {
    "turns": Phrase("the turn limit was reached"),
    "tokens": Phrase("the token threshold was reached"),
    "messages": Phrase("enough messages had accumulated"),
    "overflow": Phrase("the model said the request was too long"),
    "restart": Phrase("the program restarted"),
    "import": Phrase("the conversation was imported"),
    "/context fold": Phrase("requested with /context fold"),
}
SCORE_TERM_TEXTS = {
    "base": Phrase("base"),
    "tool_result": Phrase("after a tool result"),
    "reply": Phrase("after an answer"),
    "tool_sequence": Phrase("in the middle of tool calls"),
    "break": Phrase("natural break"),
    "error": Phrase("near an error"),
    "topic": Phrase("change of topic"),
}
# English terms with another wording for a place.
CUT_PLACE_TEXTS = {
    "break": Phrase("at a natural break"),
    "topic": Phrase("at a change of topic"),
}
ADAPTATION_TEXTS = {
    "code": Phrase("mostly code"),
    "chat": Phrase("mostly chat"),
    "errors": Phrase("many errors"),
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
    return str(show(FOLD_REASON_TEXTS.get(reason, reason), lang))


def format_cut_place(why: dict[str, Any], lang: str) -> str:
    """Say in a few words why the cut is at this place; "" if for no special reason."""
    if why.get("candidates") == 1:
        return Phrase("at the only possible place").text(lang)
    good: list[str] = [name for name, points in why["terms"] if points > 0 and name != "base"]
    places = [CUT_PLACE_TEXTS.get(name, SCORE_TERM_TEXTS.get(name, name)) for name in good]
    return join_phrases(places, Phrase(", ")).text(lang)


def format_cut(why: dict[str, Any], to_turn: int, lang: str) -> str:
    """Explain the cut in one sentence. to_turn: the last folded turn."""
    terms = [
        Phrase("{term} {points:+d}", term=SCORE_TERM_TEXTS.get(name, name), points=points)
        for name, points in why["terms"]
    ]
    if why["candidates"] == 1:
        place = Phrase("the only possible place")
    else:
        place = Phrase(
            "the best of {count} places ({score} points: {terms})",
            count=why["candidates"],
            score=why["score"],
            terms=join_phrases(terms, Phrase(", ", context="clauses")),
        )
    extra = NO_PHRASE
    if why["adapted"]:
        adapted = [ADAPTATION_TEXTS.get(name, name) for name in why["adapted"]]
        extra = Phrase(
            "; {reasons}, so the aim was to keep {share:.0%}",
            reasons=join_phrases(adapted, Phrase(", ")),
            share=why["keep"],
        )
    return Phrase(
        "Cut before turn {turn}, {place}{extra}.", turn=to_turn + 1, place=place, extra=extra
    ).text(lang)


BAR_WIDTH = 10
LINE_WIDTH = 44  # characters in a line on a phone
MAX_LISTED_FOLDS = 3
_SECTION_TEXTS = {
    "system": Phrase("system"),
    "tools": Phrase("tools"),
    "summary": Phrase("summary"),
    "history": Phrase("history"),
    "running": Phrase("running", context="the running turn"),
}
_SYSTEM_PART_TEXTS = {
    "rules": Phrase("rules"),
    "awareness": Phrase("what the bot can do"),
    "log": Phrase("today's diary"),
}
_ROLE_TEXTS = {"user": Phrase("user"), "assistant": Phrase("assistant")}
_FOLD_TRIGGER_TEXTS = {
    "tokens": Phrase("at {at:,} tokens"),
    "turns": Phrase("after {at} turns"),
    "messages": Phrase("at {at} messages"),
    "new_messages": Phrase("after {at} new messages (now {now})"),
    "new_tokens": Phrase("after {at:,} new tokens (now {now:,})"),
}


def format_context_report(facts: dict[str, Any], lang: str, zone: tzinfo | None = None) -> str:
    """Format what a person wants to know as short lines for a phone's screen, with times in this
    zone.

    `format_operator_report` has the rest: the counter, the cache, the prefix, and ids.
    """
    blocks = [
        _measure_lines(facts, lang),
        _contents_lines(facts, lang),
        _fold_lines(facts, lang, zone),
    ]
    return "\n\n".join("\n".join(block) for block in blocks)


def format_operator_report(facts: dict[str, Any], lang: str, zone: tzinfo | None = None) -> str:
    """Format everything: the person's report, what only an operator understands, and every fold
    with its id.
    """
    blocks = [
        _measure_lines(facts, lang),
        _contents_lines(facts, lang),
        _operator_lines(facts, lang),
        _all_fold_lines(facts, lang, zone),
    ]
    return "\n\n".join("\n".join(block) for block in blocks)


def format_bar(share: float) -> str:
    """Draw a share of 1 as ten characters; any share above 0 is visible."""
    full = min(BAR_WIDTH, max(round(share * BAR_WIDTH), 1 if share > 0 else 0))
    return f"`{'█' * full}{'░' * (BAR_WIDTH - full)}`"


def format_triggers(marks: list[dict[str, Any]], lang: str) -> str:
    """Format fold triggers, such as "at 37,500 tokens or after 20 turns"."""
    triggers = [_FOLD_TRIGGER_TEXTS[mark["unit"]].fill(**mark) for mark in marks]
    return join_phrases(triggers, Phrase(" or ", context="two clauses")).text(lang)


def _measure_lines(facts: dict[str, Any], lang: str) -> list[str]:
    lines = [
        f"**{Phrase('Context').text(lang)}** · {facts['policy']}",
        _measure_line(facts["tokens"], max(1, min(facts["budget"], facts["max_tokens"])), "tokens"),
        _measure_line(facts["turns"], facts["max_turns"], Phrase("turns").text(lang)),
    ]
    if marks := format_triggers(facts["next_fold"], lang):
        lines.append(Phrase("next fold {marks}", marks=marks).text(lang))
    return [*lines, *_window_lines(facts, lang)]


def _window_lines(facts: dict[str, Any], lang: str) -> list[str]:
    """Say how large the model's window is, where that number comes from, and what it leaves for a
    request.
    """
    budget, reserve = facts["budget"], facts["reserve"]
    window = format_window(ModelWindow(tokens=facts["window"], source=facts["window_source"]))
    lines = [Phrase("model window {window}", window=window).text(lang)]
    if facts["shortage"]:
        lines.append(f"⚠ {format_shortage(lang, BudgetShortage(**facts['shortage']))}")
    elif facts["window"] - reserve < facts["max_tokens"]:
        lines.append(
            Phrase(
                "{reserve:,} for the answer, at most {budget:,} for a request",
                reserve=reserve,
                budget=budget,
            ).text(lang)
        )
    elif budget < facts["max_tokens"]:
        lines.append(
            Phrase(
                "the model counts more: at most {budget:,} tokens by our count",
                budget=budget,
            ).text(lang)
        )
    return lines


def _measure_line(used: int, most: int, unit: str) -> str:
    share = used / most if most else 0.0
    return f"{format_bar(share)} {used:,} / {most:,} {unit} · {share:.0%}"


def _contents_lines(facts: dict[str, Any], lang: str) -> list[str]:
    lines, total = [f"**{Phrase('Parts').text(lang)}**"], max(1, facts["tokens"])
    for name, count in facts["parts"].items():
        if count:
            lines.append(
                f"{format_bar(count / total)} {_SECTION_TEXTS[name].text(lang)} {count:,}"
                f"{_detail_line(facts, name, lang)}"
            )
        if name == "system":
            lines += _wrap_items(
                [f"{_format_part(part, lang)} {part['tokens']:,}" for part in facts["system_parts"]]
            )
    return [
        *lines,
        *_left_out_lines(facts, lang),
        *_soul_lines(facts, lang),
        _messages_line(facts, lang),
    ]


def _format_part(part: dict[str, Any], lang: str) -> str:
    name: str = part["name"]
    return str(show(_SYSTEM_PART_TEXTS.get(name, name), lang))


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


def _left_out_lines(facts: dict[str, Any], lang: str) -> list[str]:
    return [
        Phrase(
            "⚠ left out of {part}: {sections}",
            part=_format_part(part, lang),
            sections=join_phrases(map(left_out_phrase, part["left_out"]), Phrase("; ")),
        ).text(lang)
        for part in facts["system_parts"]
        if part["left_out"]
    ]


def _detail_line(facts: dict[str, Any], name: str, lang: str) -> str:
    if name != "summary":
        return ""
    return Phrase(" (of 1 turn)", " (of {count} turns)", count=facts["summary_turns"]).text(lang)


def _messages_line(facts: dict[str, Any], lang: str) -> str:
    roles = [
        Phrase("{role} {count}", role=_ROLE_TEXTS[role], count=count)
        for role, count in sorted(facts["roles"].items(), reverse=True)
    ]
    by_role = Phrase(" ({roles})", roles=join_phrases(roles, Phrase(" · "))) if roles else NO_PHRASE
    return Phrase(
        "messages {messages}{by_role}, {characters:,} characters",
        messages=facts["messages"],
        by_role=by_role,
        characters=facts["characters"],
    ).text(lang)


def _soul_lines(facts: dict[str, Any], lang: str) -> list[str]:
    if facts["soul_tokens"] <= LONG_SOUL_TOKENS:
        return []
    return [
        Phrase(
            "⚠ SOUL.md is longer than the recommended {long_soul_tokens:,} tokens; it is always "
            "sent in full.",
            long_soul_tokens=LONG_SOUL_TOKENS,
        ).text(lang)
    ]


def _operator_lines(facts: dict[str, Any], lang: str) -> list[str]:
    """Lines on model, counter, cache, prefix, epoch and the range of the turns in the view."""
    counter, live = facts["counter"], facts["live_turns"]
    error = f"{counter['last_error_percent']:+.1f}%"
    turns = Phrase("turns {first}–{last}", first=live[0], last=live[1]) if live else Phrase("none")
    own = Phrase("chosen here") if facts["policy_own"] else Phrase("as configured")
    lines = (
        Phrase("**Operation**"),
        Phrase(
            "model {model} · request limit {limit:,}", model=facts["model"], limit=facts["budget"]
        ),
        Phrase(
            "counter {name} × {factor:.2f}, last error {error}",
            name=counter["name"],
            factor=counter["factor"],
            error=error,
        ),
        Phrase("last answer {share:.0%} from cache", share=facts["cache_share"]),
        Phrase(
            "prefix generation {generation} · epoch {epoch}",
            generation=facts["prefix_generation"],
            epoch=facts["epoch"],
        ),
        Phrase("in the view: {turns} · policy {own}", turns=turns, own=own),
    )
    return [line.text(lang) for line in lines]


def _fold_lines(facts: dict[str, Any], lang: str, zone: tzinfo | None) -> list[str]:
    folds = facts["folds"]
    lines = [
        _fold_count(facts, lang),
        *(_fold_line(fold, lang, zone) for fold in reversed(folds[-MAX_LISTED_FOLDS:])),
    ]
    if folds:
        show = f"/memory show {_path_in_space(folds[-1]['file'])}"
        lines.append(Phrase("to read that day: {show}", show=show).text(lang))
    return lines


def _all_fold_lines(facts: dict[str, Any], lang: str, zone: tzinfo | None) -> list[str]:
    lines = [_fold_count(facts, lang)]
    for fold in reversed(facts["folds"]):
        lines += [_fold_line(fold, lang, zone), f"  {fold['id']} · {fold['policy']}"]
        if fold["file"] != _path_in_space(fold["file"]):
            lines.append(f"  {fold['file']}")
    if running := facts["folding"]:
        under_way = Phrase("under way: {id} · {state}", id=running["id"], state=running["state"])
        lines.append(under_way.text(lang))
    return lines


def _fold_count(facts: dict[str, Any], lang: str) -> str:
    if not facts["folds"]:
        return Phrase("**Folds** none yet").text(lang)
    return Phrase("**Folds** {count}", count=len(facts["folds"])).text(lang)


def _path_in_space(file: str) -> str:
    """Return a log's path as its person names it, without the folder of their space."""
    return file.split("/", 2)[2] if file.startswith("spaces/") else file


def _fold_line(fold: dict[str, Any], lang: str, zone: tzinfo | None) -> str:
    first, last, before, after = (
        fold[key] for key in ("from_turn", "to_turn", "tokens_before", "tokens_after")
    )
    if first == last:
        turns = Phrase("turn {number}", number=first).text(lang)
    else:
        turns = Phrase("turns {first}–{last}", first=first, last=last).text(lang)
    extract = (Phrase(" (extract)").text(lang)) if fold["method"] == "extract" else ""
    at = datetime.fromisoformat(fold["at"]).astimezone(zone)
    lines = [
        f"- {turns} · {before:,} → {after:,} · {format_saving(before, after)}{extract}",
        f"  {at:%m-%d %H:%M} · {_path_in_space(fold['file'])}",
        f"  {_fold_reason_suffix(fold, lang)}",
    ]
    return "\n".join(lines)


def format_saving(before: int, after: int) -> str:
    """Format how much a fold saved, such as −96%."""
    return f"−{1 - after / before:.0%}" if before > after else "±0%"


def _fold_reason_suffix(fold: dict[str, Any], lang: str) -> str:
    reason, place = (
        format_fold_reason(fold["reason"], lang),
        format_cut_place(fold["why"], lang) if fold["why"] else "",
    )
    if not place:
        return reason
    return Phrase("{reason}; cut {place}", reason=reason, place=place).text(lang)


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
