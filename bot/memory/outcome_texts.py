"""What became of summaries and facts lately, in words. Pure."""

from collections.abc import Mapping

from memory.store.longterm.outcomes import BackgroundOutcomes

DIGEST_REASON_TEXTS: Mapping[str, tuple[str, str]] = {
    "waited": ("有人在等，模型的摘要稍后补上", "a message waited, the model's summary comes later"),
    "rejected": ("模型写的不能用", "what the model wrote could not be used"),
    "unanswered": ("模型没有回应", "the model did not answer"),
}
FAILURE_REASON_TEXTS: Mapping[str, tuple[str, str]] = {
    "the answer holds no JSON": (
        "模型的回答里没有要的格式",
        "the model's answer had not the form that was asked for",
    ),
    "no attempt came to an end": ("每次都中断了", "no attempt came to an end"),
    "it could not be stored": ("没能存下", "they could not be stored"),
    "the call was cancelled": ("请求被取消", "the call was cancelled"),
    "Overflow": ("模型说请求太长", "the model called the request too long"),
    "KeyRefused": ("密钥被拒绝", "the key was refused"),
    "BadRequest": ("服务器拒绝了请求", "the server refused the request"),
}


def format_outcomes(outcomes: BackgroundOutcomes, lang: str) -> list[str]:
    """Say how many of the newest summaries are extracts, and how often facts were not found;
    nothing before the first.

    Returns:
        A line for the summaries and one for the facts.
    """
    lines = []
    if outcomes.folds:
        count = sum(outcomes.digests.values())
        why = _format_reasons(outcomes.digests, DIGEST_REASON_TEXTS, lang)
        zh = f"最近 {outcomes.folds} 次摘要里有 {count} 次是摘录{why}"
        lines.append(
            zh
            if lang == "zh"
            else f"{count} of the last {outcomes.folds} summaries are extracts{why}"
        )
    if outcomes.extractions:
        count = sum(outcomes.failed.values())
        why = _format_reasons(outcomes.failed, FAILURE_REASON_TEXTS, lang)
        zh = f"最近 {outcomes.extractions} 轮里有 {count} 轮没能记下事实{why}"
        lines.append(
            zh
            if lang == "zh"
            else f"facts of {count} of the last {outcomes.extractions} turns failed{why}"
        )
    return lines


def _format_reasons(
    counts: Mapping[str, int], texts: Mapping[str, tuple[str, str]], lang: str
) -> str:
    if not counts:
        return ""
    zh = lang == "zh"
    parts = [
        f"{texts.get(reason, (reason, reason))[not zh]} {count}"
        for reason, count in sorted(counts.items())
    ]
    return f"（{'，'.join(parts)}）" if zh else f" ({', '.join(parts)})"
