"""Builds a checked Config from written settings: defaults, environment references, ranges. Pure."""

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from pydantic import ValidationError

from bot.config import json_source
from bot.config.json_source import JsonNode, JsonSyntaxError
from bot.config.keys import (
    KEYS,
    MASK_PATTERN,
    REFERENCE_PATTERN,
    ConfigKey,
    KeyPath,
    describe_key,
    find_key,
    format_value,
    mask_secret,
    mask_settings,
    nearest_keys,
    policy_number_meaning,
)
from bot.config.messages import ConfigRejected, SourceLocation
from bot.config.schema import Config
from channels.phrases import NO_PHRASE, AnyPhrase, Capitalized, Phrase, PhraseList, join_phrases
from memory.context.policies.policies import INTEGER_SETTINGS, POLICIES, build_policy
from memory.context.policies.settings import PolicySettings

POLICIES_KEY = "policies"
NUMBER_RANGES: dict[str, tuple[float, float]] = {
    field.name: field.metadata["range"] for field in fields(PolicySettings)
}
_STARTER_KEYS = (
    "agent_max_context_tokens",
    "agent_max_context_turns",
    "agent_max_steps",
    "language",
)
KEY_VARIABLES = {"anthropic": "${ANTHROPIC_API_KEY}", "openai": "${OPENAI_API_KEY}"}

SettingPath = tuple[str | int, ...]


class SettingError(Exception):
    """A wrong setting: `path` says which, `refusal` why, `key_itself` whether the key itself is
    wrong.
    """

    def __init__(
        self, path: SettingPath, refusal: ConfigRejected, *, key_itself: bool = False
    ) -> None:
        super().__init__(str(refusal))
        self.path = path
        self.refusal = refusal
        self.key_itself = key_itself


def read_config(text: str, environ: Mapping[str, str], file: str) -> tuple[Config, JsonNode]:
    """Parse and check the text of a config file.

    Raises:
        ConfigRejected: the first error, with file, line and column.
    """
    root = parse_nodes(text, file)
    try:
        return build_config(root.value, environ), root
    except SettingError as fault:
        path = fault.path
        offset = (
            json_source.find_key_offset(root, path)
            if fault.key_itself
            else json_source.find_value(root, path)
        )
        raise fault.refusal.at(source_location(text, offset, file)) from fault


def parse_nodes(text: str, file: str) -> JsonNode:
    """Parse the text of a config file.

    Raises:
        ConfigRejected: the text is not the accepted JSON.
    """
    try:
        return json_source.parse_config_json(text)
    except JsonSyntaxError as err:
        raise ConfigRejected(
            err.fault, location=source_location(text, err.offset, file), words={"found": err.found}
        ) from err


def source_location(text: str, offset: int, file: str) -> SourceLocation:
    """Convert an offset in the text to line and column."""
    line, column = json_source.line_and_column(text, offset)
    return SourceLocation(file=file, line=line, column=column)


def build_config(raw: dict[str, Any], environ: Mapping[str, str]) -> Config:
    """Check parsed settings; missing ones get their defaults.

    Raises:
        SettingError: the first wrong setting.
    """
    resolved = _resolve_references(add_key_reference(raw), (), environ)
    if error := find_policy_error(resolved.get(POLICIES_KEY)):
        raise error
    try:
        return Config.model_validate(resolved)
    except ValidationError as err:
        raise _to_setting_error({**err.errors(include_url=False)[0]}) from err


def parse_typed_value(key: ConfigKey, text: str) -> Any:
    """Parse a typed value: JSON, or bare words if the key takes a string."""
    if key.textual and not text.startswith('"'):
        return text
    try:
        return json_source.parse_literal(text)
    except JsonSyntaxError:
        return text


def unknown_key_refusal(path: KeyPath) -> ConfigRejected:
    """Build the error for an unknown key, with the nearest known ones."""
    return ConfigRejected(
        "unknown", words={"key": ".".join(path), "near": _format_suggestions(nearest_keys(path))}
    )


def add_key_reference(settings: dict[str, Any]) -> dict[str, Any]:
    """Add a reference to the provider's own environment variable if the settings have no model key.

    The variable follows the provider, so that no key is sent to another provider's server.
    """
    llm = settings.get("llm", {})
    if not isinstance(llm, dict) or "api_key" in llm:
        return settings
    variable = KEY_VARIABLES.get(str(llm.get("provider", "anthropic")), "")
    return {**settings, "llm": {**llm, "api_key": variable}}


def mask_source(text: str) -> str:
    """Return the text of a config file with every secret in it masked, and all else as it is.

    Raises:
        JsonSyntaxError: the text is not the accepted JSON.
    """
    root = json_source.parse_config_json(text)
    masked = [
        (node.start, node.end, shown)
        for _, node, key in _secret_nodes(root, ())
        if (shown := _masked_literal(node, key))
    ]
    return _splice(text, masked)


def unmask_source(text: str, stored: str, file: str) -> str:
    """Return the text with each masked secret replaced by the one at its place in the stored text,
    as it stands there.

    Raises:
        ConfigRejected: either is not the accepted JSON, or a masked secret is not the stored one's.
    """
    root, before = parse_nodes(text, file), parse_nodes(stored, file)
    known = {
        path: (node, _masked_literal(node, key)) for path, node, key in _secret_nodes(before, ())
    }
    real = []
    for path, node, key in _secret_nodes(root, ()):
        if not MASK_PATTERN.search(node.value):
            continue
        old, shown = known.get(path, (None, ""))
        if old is None or shown != json.dumps(node.value, ensure_ascii=False):
            location = source_location(text, node.start, file)
            raise ConfigRejected("masked", location=location, words={"key": key.name})
        real.append((node.start, node.end, stored[old.start : old.end]))
    return _splice(text, real)


def _secret_nodes(
    node: JsonNode, path: SettingPath
) -> Iterator[tuple[SettingPath, JsonNode, ConfigKey]]:
    for step, child in node.children.items():
        yield from _secret_nodes(child, (*path, step))
    key = None if node.children or not path else find_key(path)
    if key and key.secret and isinstance(node.value, str):
        yield path, node, key


def _masked_literal(node: JsonNode, key: ConfigKey) -> str:
    """Return the masked form of a secret as a JSON literal, "" for what needs no mask."""
    shown = mask_secret(node.value, key)
    return json.dumps(shown, ensure_ascii=False) if shown != node.value else ""


def _splice(text: str, pieces: Iterable[tuple[int, int, str]]) -> str:
    for start, end, piece in sorted(pieces, reverse=True):
        text = text[:start] + piece + text[end:]
    return text


def _resolve_references(value: Any, path: SettingPath, environ: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            name: _resolve_references(inner, (*path, name), environ)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [
            _resolve_references(inner, (*path, index), environ) for index, inner in enumerate(value)
        ]
    if isinstance(value, str) and REFERENCE_PATTERN.search(value):
        return _substitute_references(value, path, environ)
    return value


def _substitute_references(value: str, path: SettingPath, environ: Mapping[str, str]) -> Any:
    key = find_key(path)
    missing = [name for name in REFERENCE_PATTERN.findall(value) if name not in environ]
    # A missing database address is an error: without it the bot would start an empty SQLite
    # database.
    if missing and key and key.secret and key.form != "database":
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
    value = None if detail["type"] == "missing" else mask_settings(detail["input"], path)
    if path[-1:] == ("[key]",):  # a name that is not free to choose
        path = path[:-2]
    while path and find_key(path) is None:
        path = path[:-1]
    key = find_key(path)
    assert key is not None  # the loop above ends at a known key
    return _wrong_value(path, format_value(value, key), describe_key(key))


def _wrong_value(path: SettingPath, value: str, right: AnyPhrase) -> SettingError:
    words: dict[str, object] = {
        "key": _dotted_name(path),
        "value": value,
        "right": right,
    }
    return SettingError(path, ConfigRejected("wrong", words=words))


def _dotted_name(path: SettingPath) -> str:
    return ".".join(map(str, path))


def format_example() -> str:
    """Format every key with its default as JSON."""
    return json.dumps(default_settings(), indent=2, ensure_ascii=False) + "\n"


def default_settings() -> dict[str, Any]:
    """Return every key with its default; for the model key this is a reference to an environment
    variable.
    """
    plain: dict[str, Any] = Config().model_dump(mode="json")
    plain["llm"]["api_key"] = KEYS["llm", "api_key"].default
    return plain


def format_starter() -> str:
    """Format the config.json of a first start: the settings that people change first."""
    defaults = default_settings()
    chosen = {name: defaults[name] for name in _STARTER_KEYS}
    chosen["llm"] = {name: defaults["llm"][name] for name in ("provider", "model", "base_url")}
    chosen["channels"] = {
        "web": {name: defaults["channels"]["web"][name] for name in ("enabled", "host", "port")}
    }
    return json.dumps(chosen, indent=2, ensure_ascii=False) + "\n"


# Validation of `policies`: numbers that replace those of a policy.


def find_policy_error(settings: Any) -> SettingError | None:
    """Return the first error in the value of `policies`."""
    if not isinstance(settings, dict):
        return None  # the schema refuses it
    for policy, numbers in settings.items():
        if policy not in POLICIES:
            return SettingError((POLICIES_KEY, policy), _unknown_policy(policy), key_itself=True)
        if not isinstance(numbers, dict):
            right = describe_key(KEYS[(POLICIES_KEY,)])
            return _wrong_value((POLICIES_KEY, policy), format_value(numbers, None), right)
        for name, value in numbers.items():
            path = (POLICIES_KEY, policy, name)
            if name not in POLICIES[policy].setting_names:
                return SettingError(path, _unknown_number(policy, name), key_itself=True)
            if not _is_in_range(name, value):
                key = _number_key(policy, name)
                return _wrong_value(path, format_value(value, key), describe_key(key))
    return None


def policy_number(policy: str, name: str, overrides: dict[str, Any]) -> float | None:
    """Return the current value of a policy's number, None if it has no such number."""
    if policy not in POLICIES or name not in POLICIES[policy].setting_names:
        return None
    value: float = getattr(build_policy(policy, overrides).settings, name)
    return value


def unknown_policy_refusal(path: KeyPath) -> ConfigRejected:
    """Build the error for an unknown path below `policies`."""
    if path[1] not in POLICIES:
        return _unknown_policy(path[1])
    return _unknown_number(path[1], ".".join(path[2:]))


def nearest_policies(name: str) -> list[str]:
    """Return the policies whose names are nearest, best first."""
    return difflib.get_close_matches(name.lower(), POLICIES, n=2, cutoff=0.5)


def _is_in_range(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    least, most = NUMBER_RANGES[name]
    return least <= value <= most and (name not in INTEGER_SETTINGS or value == int(value))


def find_named_key(name: str) -> ConfigKey | None:
    """Return the key of a dotted name, also of one number of a policy; None if there is none."""
    path = tuple(name.strip().split("."))
    if len(path) == 3 and path[0] == POLICIES_KEY and path[2] in _setting_names(path[1]):
        return _number_key(path[1], path[2])
    return KEYS.get(path)


def _setting_names(policy: str) -> tuple[str, ...]:
    return POLICIES[policy].setting_names if policy in POLICIES else ()


def _number_key(policy: str, name: str) -> ConfigKey:
    least, most = NUMBER_RANGES[name]
    default = getattr(POLICIES[policy].settings, name)
    other = (
        min(most, default * 2) if name in INTEGER_SETTINGS else round(max(least, default * 0.8), 2)
    )
    return ConfigKey(
        path=(POLICIES_KEY, policy, name),
        form="integer" if name in INTEGER_SETTINGS else "number",
        default=default,
        title=Phrase("{name} of the policy {policy}", name=name, policy=policy),
        about=Phrase("{meaning}.", meaning=Capitalized(policy_number_meaning(name))),
        example=str(
            int(other)
            if name in INTEGER_SETTINGS
            else other
            if other != default
            else round(default + 0.1, 2)
        ),
        least=least,
        most=most,
    )


def _unknown_policy(name: str) -> ConfigRejected:
    near, known = _format_suggestions(nearest_policies(name)), _format_names(POLICIES)
    return ConfigRejected(
        "no_policy",
        words={"key": POLICIES_KEY, "name": format_value(name, None), "near": near, "known": known},
    )


def _unknown_number(policy: str, name: str) -> ConfigRejected:
    names = POLICIES[policy].setting_names
    near, known = (
        _format_suggestions(difflib.get_close_matches(name, names, n=2, cutoff=0.6)),
        _format_names(names),
    )
    words = {"key": f"{POLICIES_KEY}.{policy}", "policy": policy, "name": format_value(name, None)}
    return ConfigRejected("no_number", words={**words, "near": near, "known": known})


def _format_suggestions(names: list[str]) -> Phrase:
    if not names:
        return NO_PHRASE
    return Phrase("Did you mean {names}? ", names=join_phrases(names, Phrase(" or ")))


def _format_names(names: Iterable[str]) -> PhraseList:
    return join_phrases(names, Phrase(", "))
