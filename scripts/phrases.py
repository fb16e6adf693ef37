"""Writes the templates that the code uses into the Chinese catalogue: `make texts`.

New templates get an empty translation, templates that are no longer used go. Prints what has no
translation yet.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polib

from channels.phrases import CHINESE_FILE

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "channels")
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
    """Yield each phrase that a module declares, by line."""
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _function_name(node) == "Phrase" and node.args
    ]
    for node in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        context = next((word.value for word in node.keywords if word.arg == "context"), None)
        yield UsedPhrase(
            path=path,
            line=node.lineno,
            template=_literal(node.args[0]),
            plural=_literal(node.args[1]) if len(node.args) > 1 else "",
            context=_literal(context) if context else "",
        )


def _function_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _literal(node: ast.expr) -> str | None:
    """Return the value of a string literal, None of anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def used_phrases() -> list[UsedPhrase]:
    """Return each phrase of the program, in the order of modules and lines."""
    paths = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return [
        phrase
        for path in paths
        if path.name != "phrases.py" or path.parent.name != "channels"
        for phrase in find_phrases(
            path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))
        )
    ]


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
        used_phrases(), polib.pofile(str(CHINESE_FILE), encoding="utf-8", wrapwidth=0)
    )
    catalogue.save(str(CHINESE_FILE))
    for entry in catalogue:
        if not (entry.msgstr_plural.get(0) or entry.msgstr):
            print(f"no Chinese yet: {entry.msgid}")


if __name__ == "__main__":
    main()
