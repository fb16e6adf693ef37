"""The numbers of policies that `policies` may change: which there are, what each takes, and what is said of others."""

import difflib
import math
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from bot.config.keys import KEYS, Key, Path, right, shown
from bot.config.messages import Refused
from memory.context.policies.policies import POLICIES, WHOLE, policy_of
from memory.context.policies.state import Numbers

ROOT = "policies"
RANGES: dict[str, tuple[float, float]] = {field.name: field.metadata["range"] for field in fields(Numbers)}


def refusal(settings: Any) -> tuple[Path, Refused, bool] | None:
    """The first thing that is wrong with the value of `policies`: where, why, and whether it is a name that is wrong.

    What is no mapping at all is left to the check of types.
    """
    if not isinstance(settings, dict):
        return None
    for policy, numbers in settings.items():
        if policy not in POLICIES:
            return (ROOT, policy), _no_policy(policy), True
        if not isinstance(numbers, dict):
            return (ROOT, policy), _no_numbers(policy, numbers), False
        for name, value in numbers.items():
            path = (ROOT, policy, name)
            if name not in POLICIES[policy].knobs:
                return path, _no_number(policy, name), True
            if not _fits(name, value):
                return path, _wrong(policy, name, value), False
    return None


def number(policy: str, name: str, overrides: dict[str, Any]) -> float | None:
    """The value that holds for a policy's number; None where it has no such number."""
    if policy not in POLICIES or name not in POLICIES[policy].knobs:
        return None
    value: float = getattr(policy_of(policy, overrides).numbers, name)
    return value


def unknown(path: Path) -> Refused:
    """The refusal of a path below `policies` that names nothing."""
    if path[1] not in POLICIES:
        return _no_policy(path[1])
    return _no_number(path[1], ".".join(path[2:]))


def near_policies(name: str) -> list[str]:
    """Policies that were probably meant, best first."""
    return difflib.get_close_matches(name.lower(), POLICIES, n=2, cutoff=0.5)


def _fits(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    least, most = RANGES[name]
    return least <= value <= most and (name not in WHOLE or value == int(value))


def _wrong(policy: str, name: str, value: Any) -> Refused:
    least, most = RANGES[name]
    key = Key(
        path=(ROOT, policy, name),
        form="integer" if name in WHOLE else "number",
        default=getattr(POLICIES[policy].numbers, name),
        about="",
        least=least,
        most=most,
    )
    return Refused("wrong", words={"key": key.name, "value": shown(value, key), "right": right(key)})


def _no_numbers(policy: str, value: Any) -> Refused:
    key = f"{ROOT}.{policy}"
    return Refused("wrong", words={"key": key, "value": shown(value, None), "right": right(KEYS[(ROOT,)])})


def _no_policy(name: str) -> Refused:
    near, known = _near(near_policies(name)), _list(POLICIES)
    return Refused("no_policy", words={"key": ROOT, "name": shown(name, None), "near": near, "known": known})


def _no_number(policy: str, name: str) -> Refused:
    knobs = POLICIES[policy].knobs
    near, known = _near(difflib.get_close_matches(name, knobs, n=2, cutoff=0.6)), _list(knobs)
    words = {"key": f"{ROOT}.{policy}", "policy": policy, "name": shown(name, None)}
    return Refused("no_number", words={**words, "near": near, "known": known})


def _near(names: list[str]) -> tuple[str, str]:
    if not names:
        return "", ""
    return f"你是不是想写 {' 或 '.join(names)}？", f"Did you mean {' or '.join(names)}? "


def _list(names: Iterable[str]) -> tuple[str, str]:
    listed = list(names)
    return "、".join(listed), ", ".join(listed)
