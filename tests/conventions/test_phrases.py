"""Each text for people is declared once: English in the code, Chinese in the catalogue."""

import ast
import re
import string
from functools import cache

import polib

from channels.phrases import CHINESE_FILE
from scripts.phrases import UsedPhrase, build_catalogue, used_phrases
from tests.cases import every_case
from tests.conventions.sources import Source, nodes, product

# Builds phrases of the literals in the fields of the settings.
BUILDS_PHRASES = "bot/config/keys.py"
# Chinese that leaves a field out: what the English sentence repeats means nothing to its reader.
WITHOUT_FIELDS = {"{ended}"}
CHINESE_SIGN = re.compile("[\u3001-\u303f\u3400-\u9fff]")
CATALOGUE = polib.pofile(str(CHINESE_FILE), encoding="utf-8", wrapwidth=0)


@cache
def phrases() -> list[UsedPhrase]:
    """Every phrase of the code."""
    return used_phrases((source.name, source.tree) for source in product())


def fields(template: str) -> dict[str, str | None]:
    """How each field of a template is formatted, by its name."""
    return {
        name: spec for _, name, spec, _ in string.Formatter().parse(template) if name is not None
    }


def chinese(entry: polib.POEntry) -> str:
    return entry.msgstr_plural.get(0, "") or entry.msgstr


def test_a_template_is_a_literal() -> None:
    """One that is put together at run time cannot be translated."""
    assert [
        f"{phrase.path}:{phrase.line}"
        for phrase in phrases()
        if phrase.path != BUILDS_PHRASES
        and (phrase.template is None or phrase.plural is None or phrase.context is None)
    ] == []


def test_the_catalogue_holds_what_the_code_uses_and_nothing_else() -> None:
    """`make texts` writes it."""
    expected = build_catalogue(phrases(), CATALOGUE)
    assert str(CATALOGUE) == str(expected)


def test_every_template_is_translated() -> None:
    assert [entry.msgid for entry in CATALOGUE if not chinese(entry) or entry.fuzzy] == []


def test_a_template_has_one_form_for_many() -> None:
    """Two uses of it agree about their plural."""
    plurals: dict[tuple[str | None, str | None], set[str | None]] = {}
    for phrase in phrases():
        plurals.setdefault((phrase.context, phrase.template), set()).add(phrase.plural)
    assert {template: forms for template, forms in plurals.items() if len(forms) > 1} == {}


@every_case("entry", list(CATALOGUE))
def test_the_fields_are_the_same_in_both_languages(entry: polib.POEntry) -> None:
    wanted = fields(entry.msgid_plural or entry.msgid)
    assert all(name.isidentifier() for name in wanted)
    assert fields(entry.msgid).items() <= wanted.items()
    if entry.msgid not in WITHOUT_FIELDS:
        assert fields(chinese(entry)) == wanted


# Chinese that is no text for people: what is read or written as data, by module, with the reason.
CHINESE_DATA = {
    "bot/agent/titles.py": "what a model puts before a title",
    "bot/agent/subagents/outcome.py": "signs around names in an outcome",
    "bot/cli/replay/probes.py": "questions that are looked for",
    "bot/cli/settings/first_settings.py": "a typed answer",
    "bot/cli/settings/model_questions.py": "typed answers",
    "bot/commands/access.py": "words that are typed after the command",
    "bot/commands/export.py": "words that are typed after the command",
    "bot/commands/memory/forget.py": "words that are typed after the command",
    "bot/commands/jobs.py": "words that are typed after the command",
    "bot/commands/memory/search.py": "words that are typed after the command",
    "bot/commands/settings.py": "words that are typed after the command",
    "bot/commands/trace.py": "words that are typed after the command",
    "bot/console/administration/channel_test.py": "a full stop that a platform wrote",
    "bot/gateway/channel_status.py": "a full stop at the end of a shown sentence",
    "bot/cli/doctor/models.py": "full stops at the end of a server's words",
    "bot/jobs/phrases.py": "words for times",
    "bot/jobs/schedule.py": "words for times",
    "bot/jobs/time_patterns.py": "words for times",
    "bot/jobs/time_words.py": "words for times",
    "bot/command_names.py": "Chinese names of commands",
    "bot/models/providers/failures.py": "words of servers",
    "bot/models/providers/offline.py": "questions that it knows",
    "bot/models/setup/checks.py": "an answer that a test expects",
    "bot/tools/skills/review.py": "words that a reviewer is shown",
    "channels/terminal/channel.py": "a typed word",
    "channels/toolkit/markdown.py": "a sign of Markdown",
    "channels/toolkit/setup_findings.py": "a message in both languages at once",
    "channels/toolkit/text.py": "ends of sentences",
    "channels/wechat/messages.py": "signs in a message of the platform",
    "channels/wechat_mp/messages.py": "signs in a message of the platform",
    "channels/wecom/messages.py": "a message in both languages at once",
    "memory/": "reads what people write; writes logs in their language",
}


def test_chinese_for_people_stands_in_the_catalogue_alone() -> None:
    found = {
        source.name
        for source in product()
        for node in nodes(source.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and CHINESE_SIGN.search(node.value)
        and not is_documentation(source, node)
    }
    assert {name for name in found if not name.startswith(tuple(CHINESE_DATA))} == set()
    assert [name for name in CHINESE_DATA if not any(one.startswith(name) for one in found)] == []


def is_documentation(source: Source, constant: ast.Constant) -> bool:
    """Whether a text is a docstring, or the English of a phrase or a setting."""
    return constant in documentation(source)


@cache
def documentation(source: Source) -> frozenset[ast.AST]:
    docstrings = {node.value for node in nodes(source.tree) if isinstance(node, ast.Expr)}
    english = {
        part
        for node in nodes(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Phrase", "Field")
        for part in ast.walk(node)
    }
    return frozenset(docstrings | english)
