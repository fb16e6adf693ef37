"""From settings as written to a checked Config: defaults, environment references, types and ranges. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from bot.config import json_source, policies
from bot.config.json_source import JsonNode, JsonSyntaxError
from bot.config.keys import (
    KEYS,
    REFERENCE_PATTERN,
    ConfigKey,
    KeyPath,
    describe_key,
    find_key,
    format_value,
    nearest_keys,
)
from bot.config.messages import ConfigRejected, SourceLocation
from bot.config.schema import Config

_STARTER_KEYS = ("agent_max_context_tokens", "agent_max_context_turns", "agent_max_steps", "language")
_KEY_VARIABLES = {"anthropic": "${ANTHROPIC_API_KEY}", "openai": "${OPENAI_API_KEY}"}

SettingPath = tuple[str | int, ...]


class SettingError(Exception):
    """A setting is wrong; path says which, `refusal` says why, key_itself: the key is wrong, not its value."""

    def __init__(self, path: SettingPath, refusal: ConfigRejected, *, key_itself: bool = False) -> None:
        super().__init__(str(refusal))
        self.path = path
        self.refusal = refusal
        self.key_itself = key_itself


def read_config(text: str, environ: Mapping[str, str], file: str) -> tuple[Config, JsonNode]:
    """The settings of a file's text, and the text's nodes.

    Raises:
        ConfigRejected: one sentence with file, line and column.
    """
    root = parse_nodes(text, file)
    try:
        return build_config(root.value, environ), root
    except SettingError as fault:
        path = fault.path
        offset = json_source.find_key_offset(root, path) if fault.key_itself else json_source.find_value(root, path)
        raise fault.refusal.at(source_location(text, offset, file)) from fault


def parse_nodes(text: str, file: str) -> JsonNode:
    """The text's nodes.

    Raises:
        ConfigRejected: it is not the JSON we take.
    """
    try:
        return json_source.parse_config_json(text)
    except JsonSyntaxError as err:
        raise ConfigRejected(
            err.fault, spot=source_location(text, err.offset, file), words={"found": err.found}
        ) from err


def source_location(text: str, offset: int, file: str) -> SourceLocation:
    """That offset as a place in the file."""
    line, column = json_source.line_and_column(text, offset)
    return SourceLocation(file=file, line=line, column=column)


def build_config(raw: dict[str, Any], environ: Mapping[str, str]) -> Config:
    """Checked settings from plain ones; what is left out has its default.

    Raises:
        SettingError: the first setting that is wrong.
    """
    resolved = _resolve_references(add_key_reference(raw), (), environ)
    if wrong := policies.find_policy_refusal(resolved.get(policies.POLICIES_KEY)):
        path, refusal, key_itself = wrong
        raise SettingError(path, refusal, key_itself=key_itself)
    try:
        return Config.model_validate(resolved)
    except ValidationError as err:
        raise _to_setting_error({**err.errors(include_url=False)[0]}) from err


def parse_typed_value(key: ConfigKey, text: str) -> Any:
    """What a person typed for a key as JSON has it: a JSON value, or bare words where the key takes a text."""
    if key.textual and not text.startswith('"'):
        return text
    try:
        return json_source.parse_literal(text)
    except JsonSyntaxError:
        return text


def unknown_key_refusal(path: KeyPath) -> ConfigRejected:
    """The refusal of a key that is not in the table, with the nearest ones."""
    near = nearest_keys(path)
    hint = ("", "")
    if near:
        hint = (f"你是不是想写 {' 或 '.join(near)}？", f"Did you mean {' or '.join(near)}?")
    return ConfigRejected("unknown", words={"key": ".".join(path), "near": hint})


def add_key_reference(settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings, and where no model key is written, a reference to the provider's own variable.

    So a key is never sent to another provider's server only because it was in the environment.
    """
    llm = settings.get("llm", {})
    if not isinstance(llm, dict) or "api_key" in llm:
        return settings
    variable = _KEY_VARIABLES.get(str(llm.get("provider", "anthropic")), "")
    return {**settings, "llm": {**llm, "api_key": variable}}


def _resolve_references(value: Any, path: SettingPath, environ: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _resolve_references(inner, (*path, name), environ) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolve_references(inner, (*path, index), environ) for index, inner in enumerate(value)]
    if isinstance(value, str) and REFERENCE_PATTERN.search(value):
        return _from_environment(value, path, environ)
    return value


def _from_environment(value: str, path: SettingPath, environ: Mapping[str, str]) -> Any:
    key = find_key(path)
    missing = [name for name in REFERENCE_PATTERN.findall(value) if name not in environ]
    if missing and key and key.secret and key.form != "database":  # a bot without its record begins another one
        return ""
    if missing:
        words = {"key": _dotted_name(path), "name": missing[0]}
        raise SettingError(path, ConfigRejected("no_variable", words=words))
    text = REFERENCE_PATTERN.sub(lambda match: environ[match[1]], value)
    return text if key is None or key.textual else parse_typed_value(key, text)


def _to_setting_error(detail: Mapping[str, Any]) -> SettingError:
    path: SettingPath = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return SettingError(path, unknown_key_refusal(tuple(map(str, path))), key_itself=True)
    while path and find_key(path) is None:
        path = path[:-1]
    key = KEYS[tuple("*" if isinstance(step, int) else step for step in path)]
    words: dict[str, str | tuple[str, str]] = {
        "key": _dotted_name(path),
        "value": format_value(detail["input"], key),
        "right": describe_key(key),
    }
    return SettingError(path, ConfigRejected("wrong", words=words))


def _dotted_name(path: SettingPath) -> str:
    return ".".join(map(str, path))


def format_example() -> str:
    """Every key with its default, as JSON text."""
    return json.dumps(default_settings(), indent=2, ensure_ascii=False) + "\n"


def default_settings() -> dict[str, Any]:
    """Every key with its default; a secret that is read from the environment as its reference."""
    plain: dict[str, Any] = Config().model_dump(mode="json")
    plain["llm"]["api_key"] = KEYS["llm", "api_key"].default
    return plain


def format_starter() -> str:
    """The config.json of a first start: what people change first, as JSON text."""
    every = default_settings()
    chosen = {name: every[name] for name in _STARTER_KEYS}
    chosen["llm"] = {name: every["llm"][name] for name in ("provider", "model", "base_url")}
    chosen["channels"] = {"web": {name: every["channels"]["web"][name] for name in ("enabled", "host", "port")}}
    return json.dumps(chosen, indent=2, ensure_ascii=False) + "\n"
