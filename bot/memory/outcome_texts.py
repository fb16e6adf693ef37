"""What became of summaries and facts lately, in words. Pure."""

from collections.abc import Mapping

from channels.phrases import NO_PHRASE, Phrase, join_phrases
from memory.store.longterm.outcomes import BackgroundOutcomes

DIGEST_REASON_TEXTS: Mapping[str, Phrase] = {
    "waited": Phrase("a message was waiting; the model's summary follows later"),
    "rejected": Phrase("what the model wrote could not be used"),
    "unanswered": Phrase("the model did not answer"),
}
FAILURE_REASON_TEXTS: Mapping[str, Phrase] = {
    "the answer holds no JSON": Phrase(
        "the model's answer did not have the form that was asked for"
    ),
    "no attempt came to an end": Phrase("every attempt was interrupted"),
    "it could not be stored": Phrase("they could not be stored"),
    "the call was cancelled": Phrase("the call was cancelled"),
    "Overflow": Phrase("the model said the request was too long"),
    "KeyRefused": Phrase("the key was refused"),
    "BadRequest": Phrase("the server refused the request"),
}


def describe_outcomes(outcomes: BackgroundOutcomes) -> list[Phrase]:
    """Say how many of the newest summaries are extracts, and how often facts were not found;
    nothing before the first.

    Returns:
        A line for the summaries and one for the facts.
    """
    lines = []
    if outcomes.folds:
        extracts = Phrase(
            "{count} of the last {folds} summaries are extracts{why}",
            count=sum(outcomes.digests.values()),
            folds=outcomes.folds,
            why=_format_reasons(outcomes.digests, DIGEST_REASON_TEXTS),
        )
        lines.append(extracts)
    if outcomes.extractions:
        failed = Phrase(
            "storing facts failed in {count} of the last {turns} turns{why}",
            count=sum(outcomes.failed.values()),
            turns=outcomes.extractions,
            why=_format_reasons(outcomes.failed, FAILURE_REASON_TEXTS),
        )
        lines.append(failed)
    return lines


def _format_reasons(counts: Mapping[str, int], texts: Mapping[str, Phrase]) -> Phrase:
    if not counts:
        return NO_PHRASE
    reasons = [
        Phrase("{reason} {count}", reason=texts.get(reason, reason), count=count)
        for reason, count in sorted(counts.items())
    ]
    return Phrase(" ({reasons})", reasons=join_phrases(reasons, Phrase(", ", context="clauses")))
