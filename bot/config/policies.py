"""The numbers of policies that `policies` may change: which there are, what each takes, and what is said of others."""

import difflib
import math
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from bot.config.keys import KEYS, ConfigKey, KeyPath, describe_key, format_value
from bot.config.messages import ConfigRejected
from memory.context.policies.policies import INTEGER_SETTINGS, POLICIES, build_policy
from memory.context.policies.state import PolicySettings

POLICIES_KEY = "policies"
NUMBER_RANGES: dict[str, tuple[float, float]] = {
    field.name: field.metadata["range"] for field in fields(PolicySettings)
}


def find_policy_refusal(settings: Any) -> tuple[KeyPath, ConfigRejected, bool] | None:
    """The first thing that is wrong with the value of `policies`: where, why, and whether it is a name that is wrong.

    What is no mapping at all is left to the check of types.
    """
    if not isinstance(settings, dict):
        return None
    for policy, numbers in settings.items():
        if policy not in POLICIES:
            return (POLICIES_KEY, policy), _unknown_policy(policy), True
        if not isinstance(numbers, dict):
            return (POLICIES_KEY, policy), _not_an_object(policy, numbers), False
        for name, value in numbers.items():
            path = (POLICIES_KEY, policy, name)
            if name not in POLICIES[policy].knobs:
                return path, _unknown_number(policy, name), True
            if not _is_in_range(name, value):
                return path, _wrong_value(policy, name, value), False
    return None


def policy_number(policy: str, name: str, overrides: dict[str, Any]) -> float | None:
    """The value that holds for a policy's number; None where it has no such number."""
    if policy not in POLICIES or name not in POLICIES[policy].knobs:
        return None
    value: float = getattr(build_policy(policy, overrides).numbers, name)
    return value


def unknown_policy_refusal(path: KeyPath) -> ConfigRejected:
    """The refusal of a path below `policies` that names nothing."""
    if path[1] not in POLICIES:
        return _unknown_policy(path[1])
    return _unknown_number(path[1], ".".join(path[2:]))


def nearest_policies(name: str) -> list[str]:
    """Policies that were probably meant, best first."""
    return difflib.get_close_matches(name.lower(), POLICIES, n=2, cutoff=0.5)


def _is_in_range(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    least, most = NUMBER_RANGES[name]
    return least <= value <= most and (name not in INTEGER_SETTINGS or value == int(value))


def _wrong_value(policy: str, name: str, value: Any) -> ConfigRejected:
    least, most = NUMBER_RANGES[name]
    key = ConfigKey(
        path=(POLICIES_KEY, policy, name),
        form="integer" if name in INTEGER_SETTINGS else "number",
        default=getattr(POLICIES[policy].numbers, name),
        about="",
        least=least,
        most=most,
    )
    return ConfigRejected(
        "wrong", words={"key": key.name, "value": format_value(value, key), "right": describe_key(key)}
    )


def _not_an_object(policy: str, value: Any) -> ConfigRejected:
    key = f"{POLICIES_KEY}.{policy}"
    return ConfigRejected(
        "wrong", words={"key": key, "value": format_value(value, None), "right": describe_key(KEYS[(POLICIES_KEY,)])}
    )


def _unknown_policy(name: str) -> ConfigRejected:
    near, known = _format_suggestions(nearest_policies(name)), _format_names(POLICIES)
    return ConfigRejected(
        "no_policy", words={"key": POLICIES_KEY, "name": format_value(name, None), "near": near, "known": known}
    )


def _unknown_number(policy: str, name: str) -> ConfigRejected:
    knobs = POLICIES[policy].knobs
    near, known = _format_suggestions(difflib.get_close_matches(name, knobs, n=2, cutoff=0.6)), _format_names(knobs)
    words = {"key": f"{POLICIES_KEY}.{policy}", "policy": policy, "name": format_value(name, None)}
    return ConfigRejected("no_number", words={**words, "near": near, "known": known})


def _format_suggestions(names: list[str]) -> tuple[str, str]:
    if not names:
        return "", ""
    return f"你是不是想写 {' 或 '.join(names)}？", f"Did you mean {' or '.join(names)}? "


def _format_names(names: Iterable[str]) -> tuple[str, str]:
    listed = list(names)
    return "、".join(listed), ", ".join(listed)
