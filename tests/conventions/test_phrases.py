"""Each text for people is declared once: English in the code, Chinese in the catalogue."""

import string

import polib
import pytest

from channels.phrases import CHINESE_FILE
from scripts.phrases import build_catalogue, used_phrases

PHRASES = used_phrases()
# Builds phrases of the literals in the fields of the settings.
BUILDS_PHRASES = "bot/config/keys.py"
# Chinese that leaves a field out: what the English sentence repeats means nothing to its reader.
WITHOUT_FIELDS = {"{ended}"}
CATALOGUE = polib.pofile(str(CHINESE_FILE), encoding="utf-8", wrapwidth=0)


def field_names(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def chinese(entry: polib.POEntry) -> str:
    return entry.msgstr_plural.get(0, "") or entry.msgstr


def test_a_template_is_a_literal() -> None:
    """One that is put together at run time cannot be translated."""
    assert [
        f"{phrase.path}:{phrase.line}"
        for phrase in PHRASES
        if phrase.path != BUILDS_PHRASES
        and (phrase.template is None or phrase.plural is None or phrase.context is None)
    ] == []


def test_the_catalogue_holds_what_the_code_uses_and_nothing_else() -> None:
    """`make texts` writes it."""
    expected = build_catalogue(PHRASES, CATALOGUE)
    assert str(CATALOGUE) == str(expected)


def test_every_template_is_translated() -> None:
    assert [entry.msgid for entry in CATALOGUE if not chinese(entry) or entry.fuzzy] == []


def test_a_template_has_one_form_for_many() -> None:
    """Two uses of it agree about their plural."""
    plurals: dict[tuple[str | None, str | None], set[str | None]] = {}
    for phrase in PHRASES:
        plurals.setdefault((phrase.context, phrase.template), set()).add(phrase.plural)
    assert {template: forms for template, forms in plurals.items() if len(forms) > 1} == {}


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.msgid[:40])
def test_the_fields_are_the_same_in_both_languages(entry: polib.POEntry) -> None:
    wanted = field_names(entry.msgid_plural or entry.msgid)
    assert all(name.isidentifier() for name in wanted)
    assert field_names(entry.msgid) <= wanted
    if entry.msgid not in WITHOUT_FIELDS:
        assert field_names(chinese(entry)) == wanted
