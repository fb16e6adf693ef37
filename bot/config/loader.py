"""From settings as written to a checked Config: defaults, environment references, types and ranges. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from bot.config import json_source, policies
from bot.config.json_source import Misread, Node
from bot.config.keys import KEYS, REFERENCE, Key, Path, find, nearest, right, shown
from bot.config.messages import Refused, Spot
from bot.config.schema import Config

_STARTER = ("agent_max_context_tokens", "agent_max_context_turns", "agent_max_steps", "language")
_KEY_VARIABLES = {"anthropic": "${ANTHROPIC_API_KEY}", "openai": "${OPENAI_API_KEY}"}

Place = tuple[str | int, ...]


class Fault(Exception):
    """A setting is wrong; path says which, `refusal` says why, key_itself: the key is wrong, not its value."""

    def __init__(self, path: Place, refusal: Refused, *, key_itself: bool = False) -> None:
        super().__init__(str(refusal))
        self.path = path
        self.refusal = refusal
        self.key_itself = key_itself


def read(text: str, environ: Mapping[str, str], file: str) -> tuple[Config, Node]:
    """The settings of a file's text, and the text's nodes.

    Raises:
        Refused: one sentence with file, line and column.
    """
    root = nodes(text, file)
    try:
        return build(root.value, environ), root
    except Fault as fault:
        path = fault.path
        offset = json_source.locate_key(root, path) if fault.key_itself else json_source.locate(root, path)
        raise fault.refusal.at(spot(text, offset, file)) from fault


def nodes(text: str, file: str) -> Node:
    """The text's nodes.

    Raises:
        Refused: it is not the JSON we take.
    """
    try:
        return json_source.parse(text)
    except Misread as err:
        raise Refused(err.fault, spot=spot(text, err.offset, file), words={"found": err.found}) from err


def spot(text: str, offset: int, file: str) -> Spot:
    """That offset as a place in the file."""
    line, column = json_source.position(text, offset)
    return Spot(file=file, line=line, column=column)


def build(raw: dict[str, Any], environ: Mapping[str, str]) -> Config:
    """Checked settings from plain ones; what is left out has its default.

    Raises:
        Fault: the first setting that is wrong.
    """
    resolved = _resolved(with_key(raw), (), environ)
    if wrong := policies.refusal(resolved.get(policies.ROOT)):
        path, refusal, key_itself = wrong
        raise Fault(path, refusal, key_itself=key_itself)
    try:
        return Config.model_validate(resolved)
    except ValidationError as err:
        raise _fault({**err.errors(include_url=False)[0]}) from err


def typed(key: Key, text: str) -> Any:
    """What a person typed for a key as JSON has it: a JSON value, or bare words where the key takes a text."""
    if key.textual and not text.startswith('"'):
        return text
    try:
        return json_source.literal(text)
    except Misread:
        return text


def unknown(path: Path) -> Refused:
    """The refusal of a key that is not in the table, with the nearest ones."""
    near = nearest(path)
    hint = ("", "")
    if near:
        hint = (f"你是不是想写 {' 或 '.join(near)}？", f"Did you mean {' or '.join(near)}?")
    return Refused("unknown", words={"key": ".".join(path), "near": hint})


def with_key(settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings, and where no model key is written, a reference to the provider's own variable.

    So a key is never sent to another provider's server only because it was in the environment.
    """
    llm = settings.get("llm", {})
    if not isinstance(llm, dict) or "api_key" in llm:
        return settings
    variable = _KEY_VARIABLES.get(str(llm.get("provider", "anthropic")), "")
    return {**settings, "llm": {**llm, "api_key": variable}}


def _resolved(value: Any, path: Place, environ: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _resolved(inner, (*path, name), environ) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolved(inner, (*path, index), environ) for index, inner in enumerate(value)]
    if isinstance(value, str) and REFERENCE.search(value):
        return _from_environment(value, path, environ)
    return value


def _from_environment(value: str, path: Place, environ: Mapping[str, str]) -> Any:
    key = find(path)
    missing = [name for name in REFERENCE.findall(value) if name not in environ]
    if missing and key and key.secret and key.form != "database":  # a bot without its record begins another one
        return ""
    if missing:
        words = {"key": _name(path), "name": missing[0]}
        raise Fault(path, Refused("no_variable", words=words))
    text = REFERENCE.sub(lambda match: environ[match[1]], value)
    return text if key is None or key.textual else typed(key, text)


def _fault(detail: Mapping[str, Any]) -> Fault:
    path: Place = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return Fault(path, unknown(tuple(map(str, path))), key_itself=True)
    while path and find(path) is None:
        path = path[:-1]
    key = KEYS[tuple("*" if isinstance(step, int) else step for step in path)]
    words: dict[str, str | tuple[str, str]] = {
        "key": _name(path),
        "value": shown(detail["input"], key),
        "right": right(key),
    }
    return Fault(path, Refused("wrong", words=words))


def _name(path: Place) -> str:
    return ".".join(map(str, path))


def example() -> str:
    """Every key with its default, as JSON text."""
    return json.dumps(defaults(), indent=2, ensure_ascii=False) + "\n"


def defaults() -> dict[str, Any]:
    """Every key with its default; a secret that is read from the environment as its reference."""
    plain: dict[str, Any] = Config().model_dump(mode="json")
    plain["llm"]["api_key"] = KEYS["llm", "api_key"].default
    return plain


def starter() -> str:
    """The config.json of a first start: what people change first, as JSON text."""
    every = defaults()
    chosen = {name: every[name] for name in _STARTER}
    chosen["llm"] = {name: every["llm"][name] for name in ("provider", "model", "base_url")}
    chosen["channels"] = {"web": {name: every["channels"]["web"][name] for name in ("enabled", "host", "port")}}
    return json.dumps(chosen, indent=2, ensure_ascii=False) + "\n"
