"""The keys of config.json as a flat table, built from the models: accepted values and secrets.

Pure.
"""

import difflib
import json
import re
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import urlsplit

from pydantic.fields import FieldInfo

from bot.config.messages import KEY_NOTES, VALUE_TEXTS
from bot.config.schema import Config
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, PhraseList, escape_braces, join_phrases
from channels.toolkit.settings import (
    ConfigSection,
    PhraseContext,
    TakesEffect,
    Unit,
    ValueForm,
)
from memory.context.policies.settings import PolicySettings

KeyPath = tuple[str, ...]
Effect = Literal["now", "turn", "restart"]
_Mark = TypeVar("_Mark")
LIST_ITEM = "*"
MASK_PATTERN = re.compile(r"…\(\d+\)")
REFERENCE_PATTERN = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_MAX_SHOWN_CHARS = 40
MAX_NEAREST = 2
# of a typed word that is looked for inside names and titles; two Chinese characters have six
MIN_CONTAINED_BYTES = 4
_FORMS_WITH_ITEMS = (
    "fallbacks",
    "search_providers",
    "mcp_servers",
    "plugins",
    "people_limits",
    "texts_by_name",
)
_SECRET_FORMS = ("secret", "secret_url", "database")
_ADDRESS_FORMS = ("url", "socket_url")  # a secret is sent to most of them
_POLICY_MEANINGS = {item.name: item.metadata["description"] for item in fields(PolicySettings)}
_ROLE_LISTS = frozenset({"owners", "allow"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One key."""

    #: Its steps; LIST_ITEM stands for an item of a list.
    path: KeyPath
    #: A key of bot.config.messages.VALUE_TEXTS.
    form: str
    #: As JSON, possibly a reference such as "${NAME}".
    default: Any
    #: Its name for people.
    title: AnyPhrase
    #: What it means.
    about: AnyPhrase
    #: Another value than the default, as it is typed; "" for a section and for the keys of a list's
    #: items.
    example: str = ""
    #: The accepted values of a "choice".
    choices: tuple[str, ...] = ()
    #: Range of a number.
    least: float | None = None
    most: float | None = None
    #: Of a number, "" for one that has none.
    unit: str = ""
    #: From when on a change of it is in force.
    takes_effect: Effect = "now"

    @property
    def name(self) -> str:
        """The dotted name, such as llm.model."""
        return ".".join(self.path)

    @property
    def secret(self) -> bool:
        """Whether its value is only shown masked."""
        return self.form in _SECRET_FORMS

    @property
    def group(self) -> str:
        """What it is shown with: its first step, of a channel the first two, `general` for those at
        the top.
        """
        if self.path[0] == "channels":
            return ".".join(self.path[:2])
        return self.path[0] if len(self.path) > 1 or self.form == "section" else "general"

    @property
    def textual(self) -> bool:
        """Whether its value is a JSON string."""
        return self.form in {
            *_SECRET_FORMS,
            "choice",
            "text",
            "url",
            "public_url",
            "socket_url",
            "zone",
            "clock",
        }


def _walk_keys(
    section: type[ConfigSection], above: KeyPath, effect: Effect = "now"
) -> Iterator[ConfigKey]:
    """Yield the keys of a section. effect: of the section around it."""
    for name, info in section.model_fields.items():
        path = (*above, name)
        mark = _find_mark(info, TakesEffect)
        inside = mark.when if mark else effect
        inner = _section_type(info.annotation)
        yield _build_key(path, info, effect if inner else inside)
        if inner:
            yield from _walk_keys(inner, path, inside)
        yield from _walk_items(info, path, inside)


def _walk_items(info: FieldInfo, path: KeyPath, effect: Effect) -> Iterator[ConfigKey]:
    """Yield the keys of the items of a list, or of an object whose names are free."""
    form = _value_form(info)
    if form not in _FORMS_WITH_ITEMS:
        return
    kind = get_args(info.annotation)[0 if get_origin(info.annotation) is tuple else 1]
    if item := _section_type(kind):
        yield from _walk_keys(item, (*path, LIST_ITEM), effect)
    else:
        yield _build_key((*path, LIST_ITEM), FieldInfo.from_annotation(kind), effect)


def _find_mark(info: FieldInfo, kind: type[_Mark]) -> _Mark | None:
    """Return what a field's annotation says of that kind."""
    return next((mark for mark in info.metadata if isinstance(mark, kind)), None)


def _section_type(kind: Any) -> type[ConfigSection] | None:
    """Return the model of an annotation, optional or not."""
    kinds = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    return next(
        (one for one in kinds if isinstance(one, type) and issubclass(one, ConfigSection)), None
    )


def _build_key(path: KeyPath, info: FieldInfo, effect: Effect) -> ConfigKey:
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    choices = tuple(get_args(info.annotation)) if get_origin(info.annotation) is Literal else ()
    context = mark.name if (mark := _find_mark(info, PhraseContext)) else ""
    title = info.title or path[-1].replace("_", " ").capitalize()
    return ConfigKey(
        path=path,
        form=_value_form(info),
        default=extra.get("reference", _plain_default(info)),
        title=_to_phrase(title, context),
        about=_to_phrase(info.description or "", context),
        example=_format_example(info) or _other_value(info.default, choices),
        choices=choices,
        least=next((mark.ge for mark in info.metadata if hasattr(mark, "ge")), None),
        most=next((mark.le for mark in info.metadata if hasattr(mark, "le")), None),
        unit=unit.name if (unit := _find_mark(info, Unit)) else "",
        takes_effect=effect,
    )


def _to_phrase(text: str, context: str) -> Phrase:
    """Return a field's title or description as a phrase; braces in it are no fields."""
    return Phrase(escape_braces(text), context=context)


def policy_number_meaning(name: str) -> Phrase:
    """Return what a number of the policies means: a clause."""
    return _to_phrase(_POLICY_MEANINGS[name], "")


def _format_example(info: FieldInfo) -> str:
    """Return a field's example as it is typed, "" for none."""
    example = next(iter(info.examples or ()), "")
    return example if isinstance(example, str) else json.dumps(example, ensure_ascii=False)


def _other_value(default: Any, choices: tuple[str, ...]) -> str:
    """Return another value than the default of a flag or a choice, as it is typed."""
    if isinstance(default, bool):
        return json.dumps(not default)
    return next((choice for choice in choices if choice != default), "")


def _value_form(info: FieldInfo) -> str:
    if form := _find_mark(info, ValueForm):
        return form.name
    if _section_type(info.annotation):
        return "section"
    if get_origin(info.annotation) is Literal:
        return "choice"
    return {bool: "flag", int: "integer", float: "number"}.get(info.annotation, "text")  # type: ignore[arg-type]


def _plain_default(info: FieldInfo) -> Any:
    value = None if info.is_required() else info.default
    if isinstance(value, ConfigSection):
        return value.model_dump(mode="json")
    return list(value) if isinstance(value, tuple) else value


KEYS: dict[KeyPath, ConfigKey] = {key.path: key for key in _walk_keys(Config, ())}


def find_key(path: tuple[str | int, ...]) -> ConfigKey | None:
    """Return the key of a path that may hold list indexes and free names, None if it is unknown."""
    known: KeyPath = ()
    for step in path:
        exact = (*known, LIST_ITEM if isinstance(step, int) else step)
        known = exact if exact in KEYS or exact[-1] == LIST_ITEM else (*known, LIST_ITEM)
    return KEYS.get(known)


def nearest_keys(path: KeyPath) -> list[str]:
    """Return up to MAX_NEAREST known keys with a similar name, siblings first, or with these words
    in name or title.
    """
    path = tuple(LIST_ITEM if step.isdigit() else step for step in path)
    siblings = {key.path[-1]: key.name for key in KEYS.values() if key.path[:-1] == path[:-1]}
    everywhere = {key.path[-1]: key.name for key in reversed(KEYS.values())}
    full = {name: name for name in map(".".join, KEYS)}
    near = [
        [
            names[match]
            for match in difflib.get_close_matches(written, names, n=MAX_NEAREST, cutoff=0.7)
        ]
        for names, written in ((siblings, path[-1]), (everywhere, path[-1]), (full, ".".join(path)))
    ]
    if path[-1] not in everywhere:
        near.insert(1, _containing_keys(path))
    return next(filter(None, near), [])


def _containing_keys(path: KeyPath) -> list[str]:
    """Return keys whose name or title contains what was typed."""
    typed = ".".join(path).casefold()
    if len(typed.encode()) < MIN_CONTAINED_BYTES:
        return []
    names = [key.name for key in KEYS.values() if LIST_ITEM not in key.path]
    return [name for name in names if typed in _searched_text(name)][:MAX_NEAREST]


def _searched_text(name: str) -> str:
    return "\n".join((name, *_titles(KEYS[tuple(name.split("."))]))).casefold()


def _titles(key: ConfigKey) -> tuple[str, str]:
    return key.title.text("zh"), key.title.text("en")


def describe_key(key: ConfigKey, *, with_default: bool = True) -> PhraseList:
    """Describe the values that the key accepts; of a number, with its default as an example."""
    form = VALUE_TEXTS[key.form].fill(
        choices=join_last(key.choices),
        least=_format_number(key.least),
        most=_format_number(key.most),
    )
    parts = [form]
    if with_default and key.form in ("integer", "number"):
        parts.append(Phrase(", such as {default}", default=json.dumps(key.default)))
    if note := KEY_NOTES.get(key.name):
        parts.append(note)
    return join_phrases(parts, NO_PHRASE)


def join_last(choices: Sequence[str]) -> AnyPhrase:
    """Return choices as "a, b or c"."""
    *others, last = choices or ("",)
    if not others:
        return Phrase("{choice}", choice=last)
    return Phrase("{others} or {last}", others=join_phrases(others, Phrase(", ")), last=last)


def _format_number(value: float | None) -> str:
    return "" if value is None else str(int(value)) if value == int(value) else str(value)


def format_value(value: Any, key: ConfigKey | None) -> str:
    """Format a value for a sentence: shortened, and masked if it is a secret."""
    if key and key.secret:
        value = mask_secret(value, key)
    if isinstance(value, str) and len(value) > _MAX_SHOWN_CHARS:
        value = value[:_MAX_SHOWN_CHARS] + "…"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 2 * _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "…"


def mask_secret(value: Any, key: ConfigKey) -> Any:
    """Mask a secret: its first four characters and its length; of a URL only the password."""
    if not isinstance(value, str):
        return value if value is None else mask_secret(json.dumps(value), key)
    if not value or REFERENCE_PATTERN.fullmatch(value):
        return value
    if key.form == "secret":
        head = value[:4] if len(value) >= 12 else ""
        return f"{head}…({len(value)})"
    password = _url_password(value)
    return value.replace(f":{password}@", f":…({len(password)})@") if password else value


def mask_settings(settings: Any, path: tuple[str | int, ...] = ()) -> Any:
    """Return the settings with every secret masked."""
    if isinstance(settings, dict):
        return {name: mask_settings(value, (*path, name)) for name, value in settings.items()}
    if isinstance(settings, list):
        return [mask_settings(value, (*path, index)) for index, value in enumerate(settings)]
    key = find_key(path)
    return mask_secret(settings, key) if key and key.secret else settings


def changes_access(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> bool:
    """Tell whether two settings differ in a secret, in where one is sent, or in who has a role."""
    former, new = _flatten(before, path), _flatten(after, path)
    changed = [at for at in former | new if (former.get(at) or "") != (new.get(at) or "")]
    return any(_gives_access(at) for at in changed)


def _gives_access(path: tuple[str | int, ...]) -> bool:
    """Whether the value there is a secret, where secrets are sent, or part of a list of roles."""
    if path[:1] == ("channels",) and not _ROLE_LISTS.isdisjoint(path):
        return True
    key = find_key(path)
    return key is not None and (key.secret or key.form in _ADDRESS_FORMS)


def _flatten(value: Any, path: tuple[str | int, ...]) -> dict[tuple[str | int, ...], Any]:
    """Return the plain values in a setting by their paths."""
    entries: Iterable[tuple[str | int, Any]]
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    else:
        return {path: value}
    return {
        at: leaf for name, entry in entries for at, leaf in _flatten(entry, (*path, name)).items()
    }


def list_secrets(settings: Any, path: tuple[str | int, ...] = ()) -> Iterator[str]:
    """Yield every secret in the settings, without references: a log must not hold them."""
    if isinstance(settings, dict | list):
        steps = settings.items() if isinstance(settings, dict) else enumerate(settings)
        for step, value in steps:
            yield from list_secrets(value, (*path, step))
        return
    key = find_key(path)
    if not (key and key.secret and isinstance(settings, str)) or REFERENCE_PATTERN.search(settings):
        return
    value = settings if key.form == "secret" else _url_password(settings)
    if value:
        yield value


def known_secrets(config: Config) -> frozenset[str]:
    """Return every secret of these settings, with references resolved."""
    return frozenset(list_secrets(config.model_dump(mode="json")))


def describe_schema() -> dict[str, Any]:
    """Return the JSON Schema of config.json with the texts of each key, in English and in Chinese
    (`x-…-zh`).
    """
    schema = Config.model_json_schema()
    definitions = schema.get("$defs", {})
    _describe_properties(schema, Config, (), definitions)
    return schema


def _describe_properties(
    schema: dict[str, Any],
    section: type[ConfigSection],
    above: KeyPath,
    definitions: dict[str, Any],
) -> None:
    """Write each section out where it stands: shared definitions would have one text for several
    keys.
    """
    for name, info in section.model_fields.items():
        path = (*above, name)
        key, field = KEYS[path], schema["properties"][name]
        if inner := _section_type(info.annotation):
            described = json.loads(json.dumps(definitions[inner.__name__]))
            _describe_properties(described, inner, path, definitions)
            optional = "anyOf" in field
            field.pop("$ref", None)
            field |= {"anyOf": [described, {"type": "null"}]} if optional else described
        field |= {
            "title": key.title.text("en"),
            "description": key.about.text("en"),
            "x-title-zh": key.title.text("zh"),
            "x-description-zh": key.about.text("zh"),
            "x-group": key.group,
            "x-takes-effect": key.takes_effect,
        }
        if key.secret:
            field["writeOnly"] = True
        if key.unit:
            field["x-unit"] = key.unit


def _url_password(url: str) -> str:
    try:
        return urlsplit(url).password or ""
    except ValueError:
        return ""
