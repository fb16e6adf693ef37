"""Text for people: an English template with fields, shown in English or in Chinese.

A template stands where it is used; its Chinese stands in `channels/locale/zh.po`, which is read on
the first Chinese text. `make texts` adds new templates to that file.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import polib

Language = Literal["zh", "en"]
CHINESE_FILE = Path(__file__).parent / "locale" / "zh.po"
_chinese_files = [CHINESE_FILE]


@dataclass(frozen=True, slots=True, init=False)
class Phrase:
    """A sentence, a clause or a label for people, in no language yet; `str()` shows it in English.

    Args:
        template: the English text; a field stands in it as `{name}` or `{name:,}`, a brace as `{{`.
        plural: the English text where the field `count` is not 1; "" for the same.
        context: tells apart two uses of one template that differ in Chinese.
        fields: what stands in the template; one that is a phrase is shown in the same language.
    """

    template: str
    plural: str
    context: str
    fields: tuple[tuple[str, object], ...]

    def __init__(
        self, template: str, plural: str = "", /, *, context: str = "", **fields: object
    ) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "plural", plural)
        object.__setattr__(self, "context", context)
        object.__setattr__(self, "fields", tuple(fields.items()))

    def fill(self, **fields: object) -> "Phrase":
        """Return this phrase with more fields."""
        return Phrase(
            self.template, self.plural, context=self.context, **{**dict(self.fields), **fields}
        )

    def text(self, lang: str) -> str:
        """Return it in a language, "zh" or "en"; one without a translation is shown in English."""
        fields = {name: show(value, lang) for name, value in self.fields}
        template = find_chinese(self.template, self.context) if lang == "zh" else ""
        return (template or self._english(fields)).format(**fields)

    def _english(self, fields: Mapping[str, object]) -> str:
        return self.plural if self.plural and fields["count"] != 1 else self.template

    def __str__(self) -> str:
        return self.text("en")

    def __bool__(self) -> bool:
        return bool(self.template)


@dataclass(frozen=True, slots=True)
class PhraseList:
    """Several texts one after the other, each a phrase or words that are shown as they are."""

    parts: tuple[object, ...]
    #: None between sentences: a space in English, nothing in Chinese.
    separator: Phrase | None

    def text(self, lang: str) -> str:
        """Return them in a language, "zh" or "en"."""
        if self.separator is not None:
            between = self.separator.text(lang)
        else:
            between = "" if lang == "zh" else " "
        return between.join(str(show(part, lang)) for part in self.parts)

    def __str__(self) -> str:
        return self.text("en")

    def __bool__(self) -> bool:
        return bool(self.parts)


@dataclass(frozen=True, slots=True)
class Capitalized:
    """A clause that begins a sentence: its first letter is a capital in English."""

    clause: "Phrase | PhraseList"

    def text(self, lang: str) -> str:
        """Return it in a language, "zh" or "en"."""
        words = self.clause.text(lang)
        return words if lang == "zh" else words[:1].upper() + words[1:]


@dataclass(frozen=True, slots=True)
class ShownPhrase:
    """A text that came in both languages from another process."""

    en: str
    zh: str

    def text(self, lang: str) -> str:
        """Return it in a language, "zh" or "en"."""
        return self.zh if lang == "zh" else self.en


AnyPhrase = Phrase | PhraseList | Capitalized | ShownPhrase
NO_PHRASE = Phrase("")


def show(value: object, lang: str) -> object:
    """Return a phrase as text in a language, any other value as it is."""
    return value.text(lang) if isinstance(value, AnyPhrase) else value


def untranslated(words: object) -> Phrase:
    """Return words of another program or of a library, which are shown as they are."""
    return Phrase("{words}", words=str(words))


def join_phrases(parts: Iterable[object], separator: Phrase) -> PhraseList:
    """Return several texts as one; the separator is translated too."""
    return PhraseList(tuple(parts), separator)


def join_sentences(sentences: Iterable[AnyPhrase]) -> PhraseList:
    """Return several sentences as one text; empty ones are left out."""
    return PhraseList(tuple(filter(None, sentences)), None)


def escape_braces(text: str) -> str:
    """Return a text without fields as a template."""
    return text.replace("{", "{{").replace("}", "}}")


def add_chinese_file(path: Path) -> None:
    """Let a distribution with a channel of its own bring the Chinese of its phrases; it need not
    have such a file.
    """
    if path not in _chinese_files and path.is_file():
        _chinese_files.append(path)


def find_chinese(template: str, context: str = "") -> str:
    """Return the Chinese template of an English one, "" if it has none."""
    return next(filter(None, (_load(path).get((context, template)) for path in _chinese_files)), "")


@cache
def _load(path: Path) -> Mapping[tuple[str, str], str]:
    """Read a file of translations: the Chinese template by context and English template."""
    return {
        # Chinese has one form for every number
        (entry.msgctxt or "", entry.msgid): entry.msgstr_plural.get(0, "") or entry.msgstr
        for entry in polib.pofile(str(path), encoding="utf-8")
    }
