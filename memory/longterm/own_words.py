"""Checks that a text is what a person wrote themselves, in the same or in other words. Pure."""

import re

from memory.context.evidence import (
    is_about_speaker,
    is_question,
    list_claims,
    restates,
    split_statements,
    without_lead_in,
    without_quotes,
)
from memory.longterm.similarity import normalize_key, word_overlap

_PIECE = re.compile(r"[。！？!?;；\n]+|\.(?:\s|$)|^.{0,40}?[:：]")
MAX_READ = 10_000  # characters compared in other words; of the rest, only literal sentences count


class OwnWords:
    """What a person typed, prepared for checks whether it supports a text."""

    def __init__(self, words: str) -> None:
        own = without_quotes(words)
        self._whole = {normalize_key(words), *(normalize_key(piece) for piece in _PIECE.split(own))}
        whole = len(own) <= MAX_READ
        self._sentences = split_statements(own[:MAX_READ])[: None if whole else -1]
        self._whole |= set(map(normalize_key, self._sentences))
        self._claims = list(dict.fromkeys(list_claims(self._sentences)))

    def supports(self, text: str) -> bool:
        """Whether a text is all they wrote, one of their sentences, or rewords their sentences."""
        if normalize_key(text) in self._whole:
            return True
        sentences = split_statements(text)
        return bool(sentences) and all(
            any(restates(one, claim) for claim in self._claims) for one in sentences
        )

    def nearest(self, text: str) -> str:
        """The sentence to note instead of a text: the one that shares most with it, else one about
        themselves.

        The text may be in another language than the words. "" if they wrote nothing but questions.
        """
        statements = [own for own in self._sentences if not is_question(own)]
        shares = [word_overlap(without_lead_in(own), text) for own in statements]
        if any(shares):
            return statements[shares.index(max(shares))]
        about_them = (own for own in statements if is_about_speaker(without_lead_in(own)))
        return next(about_them, statements[0] if statements else "")
