"""Sentences in another language, by the English ones; `{}` stands for what differs."""

from collections.abc import Mapping


class PhraseBook:
    """Translates sentences by a table."""

    def __init__(self, phrases: Mapping[str, str]) -> None:
        """phrases: by English sentence; both sides have as many `{}`."""
        self._phrases = phrases
        # Those with the most fixed words first.
        self._gapped = sorted(
            (english for english in phrases if "{}" in english), key=len, reverse=True
        )

    def translate(self, sentence: str) -> str:
        """Return a sentence in the other language; one that is not known stays as it is. Pure."""
        if (known := self._phrases.get(sentence)) is not None:
            return known
        for english in self._gapped:
            if (values := _gaps(english.split("{}"), sentence)) is not None:
                return self._phrases[english].format(*values)
        return sentence


def _gaps(pieces: list[str], sentence: str) -> list[str] | None:
    """Return what stands between the fixed pieces of a sentence; None where it is another
    sentence.
    """
    first, *middle, last = pieces
    if not (sentence.startswith(first) and sentence.endswith(last)) or len(sentence) < len(
        first
    ) + len(last):
        return None
    rest, values = sentence[len(first) : len(sentence) - len(last)], list[str]()
    for piece in middle:
        value, found, rest = rest.partition(piece)
        if not found:
            return None
        values.append(value)
    return [*values, rest]
