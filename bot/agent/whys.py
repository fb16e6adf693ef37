"""Why a fold was made and why it was cut where it was: as facts for the page, and as words for a chat."""

from typing import Any

from memory.context.boundary import read_choice

REASONS = {
    "turns": ("轮数到了上限", "the most turns were reached"),
    "tokens": ("token 到了阈值", "the tokens reached the threshold"),
    "messages": ("消息积累到了阈值", "enough messages had come together"),
    "overflow": ("模型说请求太长", "the model called the request too long"),
    "restart": ("程序重新启动", "the program started anew"),
    "/context fold": ("由 /context fold 要求", "asked for by /context fold"),
}
TERMS = {
    "base": ("基础", "base"),
    "tool_result": ("工具结果之后", "after a tool result"),
    "reply": ("回答之后", "after an answer"),
    "tool_sequence": ("工具调用之中", "inside tool work"),
    "break": ("自然停顿", "natural break"),
    "error": ("临近错误", "near an error"),
    "topic": ("话题转换", "change of topic"),
}
PLACES = {"break": "at a natural break", "topic": "at a change of topic"}
"""English terms that read otherwise where they say a place."""
ADAPTED = {"code": ("多为代码", "much code"), "chat": ("多为闲聊", "much talk"), "errors": ("报错较多", "many errors")}


def cut_facts(text: str) -> dict[str, Any] | None:
    """The search for the cut as JSON values; None where there was none.

    text: as a fold's row has it (boundary.explain). turns: how many were folded; terms: [name, points] of that place;
    keep: the share that was to stay; candidates: how many places were looked at.
    """
    choice = read_choice(text)
    taken = next((each for each in choice.candidates if each.turns == choice.turns), None) if choice else None
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


def reason_words(reason: str, lang: str) -> str:
    """Why a fold was made; a reason that has no words of its own stands for itself."""
    return REASONS.get(reason, (reason, reason))[_side(lang)]


def place_words(why: dict[str, Any], lang: str) -> str:
    """What speaks for the place of the cut, in a few words; "" where nothing special does."""
    good: list[str] = [name for name, points in why["terms"] if points > 0 and name != "base"]
    said = [TERMS.get(name, (name, name)) for name in good]
    if lang == "zh":
        return "、".join(zh for zh, _ in said)
    return ", ".join(PLACES.get(name, en) for name, (_, en) in zip(good, said, strict=True))


def cut_words(why: dict[str, Any], to_turn: int, lang: str) -> str:
    """The whole of it in a sentence. to_turn: the last turn that was folded."""
    side = _side(lang)
    terms = [f"{TERMS.get(name, (name, name))[side]} {points:+d}" for name, points in why["terms"]]
    adapted = [ADAPTED.get(name, (name, name))[side] for name in why["adapted"]]
    if lang == "zh":
        extra = f"；{'、'.join(adapted)}，目标保留 {why['keep']:.0%}" if adapted else ""
        score = f"{why['score']} 分：{'，'.join(terms)}"
        return f"切在第 {to_turn + 1} 轮之前：{why['candidates']} 处里得分最高（{score}）{extra}。"
    extra = f"; {', '.join(adapted)}, so {why['keep']:.0%} was to stay" if adapted else ""
    score = f"{why['score']} points: {', '.join(terms)}"
    places = "the only place" if why["candidates"] == 1 else f"the best of {why['candidates']} places"
    return f"Cut before turn {to_turn + 1}, {places} ({score}){extra}."


def _side(lang: str) -> int:
    return 0 if lang == "zh" else 1
