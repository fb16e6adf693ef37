"""Writes the templates that the code uses into the Chinese catalogue: `make texts`.

New templates get an empty translation, templates that are no longer used go. Prints what has no
translation yet.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polib

from channels.phrases import CHINESE_FILE, escape_braces

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "channels", "memory")
# Modules with settings: titles and descriptions of their fields are phrases. `memory` has no
# phrases of its own; `bot` makes them of the descriptions in its fields.
SETTINGS = frozenset(
    path.relative_to(ROOT).as_posix()
    for path in (
        ROOT / "bot/config/schema.py",
        ROOT / "memory/context/policies/settings.py",
        *(ROOT / "bot/config/sections").glob("*.py"),
        *(ROOT / "channels").glob("*/settings.py"),
    )
)
FIELDS = frozenset({"Field", "setting"})  # what declares a field of settings
_HEADER = {
    "Language": "zh_CN",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedPhrase:
    """A call of `Phrase` in the code."""

    #: Path from the root, with slashes.
    path: str
    line: int
    #: None where an argument is no literal.
    template: str | None
    plural: str | None = ""
    context: str | None = ""


def find_phrases(path: str, tree: ast.Module) -> Iterator[UsedPhrase]:
    """Yield each phrase that a module declares, and the texts of its settings."""
    contexts = _field_contexts(tree) if path in SETTINGS else {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _function_name(node) == "Phrase" and node.args:
            yield _read_call(path, node)
        if isinstance(node, ast.Call) and _function_name(node) in FIELDS and path in SETTINGS:
            yield from _read_field(path, node, contexts.get(node, ""))


def _read_call(path: str, call: ast.Call) -> UsedPhrase:
    context = next((word.value for word in call.keywords if word.arg == "context"), None)
    return UsedPhrase(
        path=path,
        line=call.lineno,
        template=_literal(call.args[0]),
        plural=_literal(call.args[1]) if len(call.args) > 1 else "",
        context=_literal(context) if context else "",
    )


def _read_field(path: str, call: ast.Call, context: str) -> Iterator[UsedPhrase]:
    """Yield title and description of a setting, whose braces are no fields."""
    for word in call.keywords:
        text = _literal(word.value)
        if word.arg in ("title", "description") and text:
            yield UsedPhrase(
                path=path, line=word.value.lineno, template=escape_braces(text), context=context
            )


def _field_contexts(tree: ast.Module) -> dict[ast.Call, str]:
    """Return what tells fields apart, by their calls of `Field`."""
    return {
        field.value: str(_literal(mark.args[0]))
        for field in ast.walk(tree)
        if isinstance(field, ast.AnnAssign) and isinstance(field.value, ast.Call)
        for mark in ast.walk(field.annotation)
        if isinstance(mark, ast.Call) and _function_name(mark) == "PhraseContext"
    }


def _function_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _literal(node: ast.expr) -> str | None:
    """Return the value of a string literal, None of anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def used_phrases(modules: Iterable[tuple[str, ast.Module]]) -> list[UsedPhrase]:
    """Return each phrase of these modules, in their order and that of lines.

    Args:
        modules: path from the root, with slashes, and tree of each.
    """
    return [
        phrase
        for path, tree in modules
        if path != "channels/phrases.py"
        for phrase in sorted(find_phrases(path, tree), key=lambda phrase: phrase.line)
    ]


def read_program() -> Iterator[tuple[str, ast.Module]]:
    """Yield path and tree of every module of the program, in the order of paths."""
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def build_catalogue(phrases: list[UsedPhrase], former: polib.POFile) -> polib.POFile:
    """Return the catalogue of these phrases, with the translations of the former one."""
    known = {(entry.msgctxt or "", entry.msgid): entry for entry in former}
    catalogue = polib.POFile(wrapwidth=0)
    catalogue.metadata = _HEADER
    entries: dict[tuple[str, str], polib.POEntry] = {}
    for phrase in phrases:
        if not phrase.template or phrase.plural is None or phrase.context is None:
            continue
        key = (phrase.context, phrase.template)
        if key not in entries:
            entries[key] = _build_entry(phrase, known.get(key))
            catalogue.append(entries[key])
        if (phrase.path, "") not in entries[key].occurrences:
            entries[key].occurrences.append((phrase.path, ""))
    return catalogue


def _build_entry(phrase: UsedPhrase, former: polib.POEntry | None) -> polib.POEntry:
    chinese = (former.msgstr_plural.get(0, "") or former.msgstr) if former else ""
    entry = polib.POEntry(
        msgid=phrase.template,
        msgctxt=phrase.context or None,
        comment=former.comment if former else "",
    )
    if phrase.plural:
        entry.msgid_plural = phrase.plural
        entry.msgstr_plural = {0: chinese}
    else:
        entry.msgstr = chinese
    return entry


def main() -> None:
    """Write the catalogue and print what has no translation."""
    catalogue = build_catalogue(
        used_phrases(read_program()), polib.pofile(str(CHINESE_FILE), encoding="utf-8", wrapwidth=0)
    )
    catalogue.save(str(CHINESE_FILE))
    for entry in catalogue:
        if not (entry.msgstr_plural.get(0) or entry.msgstr):
            print(f"no Chinese yet: {entry.msgid}")


if __name__ == "__main__":
    main()
