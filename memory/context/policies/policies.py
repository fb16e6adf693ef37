"""The context policies as data: settings, and the stages in their order."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from memory.context.policies.fold_stages import (
    drop_oldest,
    drop_when_nearly_full,
    fold_at_boundary,
    fold_half_in_turn,
    fold_half_when_due,
    fold_to_half,
    fold_to_target,
    fold_when_long_with_turns,
    fold_when_too_many_tokens,
    fold_when_too_many_turns,
    restart_lean,
    roll_summary,
    shrink_after_overflow,
)
from memory.context.policies.settings import PolicySettings
from memory.context.policies.shorten_stages import (
    fit_running_turn,
    one_line_all,
    one_line_oldest_half,
    snip_all,
    snip_finished,
    text_only_oldest_first,
    text_only_when_few,
    trim_old_tool_io,
    trim_tool_io,
)
from memory.context.policies.state import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When and how a view is shortened."""

    name: str
    settings: PolicySettings
    #: Stages that run before every model call.
    before: tuple[Stage, ...]
    #: Stages that run next and start folds in the background; skipped while a fold is running.
    early: tuple[Stage, ...] = ()
    #: Stages that run next if the view does not fit.
    urgent: tuple[Stage, ...]
    #: Stages that run after a turn.
    after: tuple[Stage, ...]
    #: Names of the settings that these stages read.
    setting_names: tuple[str, ...] = ()
    #: Old results become one line each, which a model may write beforehand.
    lines: bool = False

    def without_early(self) -> "Policy":
        """The policy while a fold of the view is running, as no other can start."""
        return replace(self, early=())


_LAST_RESORT = (text_only_oldest_first, drop_oldest, fit_running_turn)
_COMMON_SETTINGS = ("summary_tokens", "spare")
_SNIP_SETTINGS = ("snip_chars", "snip_share", "snip_most")
_LINE_SETTINGS = ("line_at", "batch", "spared_results")

TURNS = Policy(
    name="turns",
    settings=PolicySettings(),
    before=(snip_finished, shrink_after_overflow),
    early=(fold_when_too_many_turns,),
    urgent=(text_only_when_few, fold_when_long_with_turns, *_LAST_RESORT),
    after=(fold_when_too_many_turns, fold_when_too_many_tokens),
    setting_names=(
        *_SNIP_SETTINGS,
        "text_only_below",
        "overflow_turns",
        "overflow_chars",
        *_COMMON_SETTINGS,
    ),
)

BUDGET = Policy(
    name="budget",
    settings=PolicySettings(
        most_tokens=40_000,
        fold_tokens=30_000,
        keep_tokens=15_000,
        input_chars=500,
        result_chars=1_000,
    ),
    before=(trim_tool_io, fold_to_target),
    urgent=_LAST_RESORT,
    after=(fold_to_target,),
    setting_names=(
        "most_tokens",
        "fold_tokens",
        "keep_tokens",
        "input_chars",
        "result_chars",
        *_COMMON_SETTINGS,
    ),
)

LAYERS = Policy(
    name="layers",
    settings=PolicySettings(
        window=200_000, snip_chars=10_000, snip_most=0.3, line_at=0.6, fold_at=0.8, drop_at=0.95
    ),
    before=(snip_all, one_line_oldest_half, fold_to_half, drop_when_nearly_full),
    urgent=(one_line_all, *_LAST_RESORT),
    after=(fold_to_half,),
    setting_names=(
        "window",
        *_SNIP_SETTINGS,
        *_LINE_SETTINGS,
        "fold_at",
        "keep_most",
        "drop_at",
        *_COMMON_SETTINGS,
    ),
    lines=True,
)

BOUNDARY = Policy(
    name="boundary",
    settings=PolicySettings(
        window=200_000, fold_tokens=150_000, fold_messages=500, least_messages=10, keep=0.5, reach=5
    ),
    before=(),
    early=(fold_at_boundary,),
    urgent=_LAST_RESORT,
    after=(fold_at_boundary,),
    setting_names=(
        "window",
        "fold_tokens",
        "fold_messages",
        "least_messages",
        "keep",
        "reach",
        "reach_turns",
        "newest",
        *_COMMON_SETTINGS,
    ),
)

ROLLING = Policy(
    name="rolling",
    settings=PolicySettings(
        every_messages=10,
        every_tokens=3_000,
        keep_messages=4,
        keep_tokens=1_500,
        summary_tokens=1_000,
    ),
    before=(),
    early=(roll_summary,),
    urgent=_LAST_RESORT,
    after=(roll_summary,),
    setting_names=(
        "every_messages",
        "every_tokens",
        "keep_messages",
        "keep_tokens",
        *_COMMON_SETTINGS,
    ),
)

BALANCED = Policy(
    name="balanced",
    settings=PolicySettings(
        snip_chars=20_000,
        input_chars=1_000,
        result_chars=2_000,
        batch=0.08,
        line_at=0.6,
        fold_at=0.75,
        keep_most=0.5,
        reach=2,
    ),
    before=(snip_all, trim_old_tool_io, one_line_oldest_half),
    early=(fold_half_in_turn,),
    urgent=(one_line_all, *_LAST_RESORT),
    after=(fold_half_when_due,),
    setting_names=(
        *_SNIP_SETTINGS,
        "input_chars",
        "result_chars",
        *_LINE_SETTINGS,
        "fold_at",
        "keep_most",
        "reach",
        *_COMMON_SETTINGS,
    ),
    lines=True,
)

# Runs once after a restart with `session_restore: "lean"`; no conversation can choose it.
LEAN = Policy(name="lean", settings=PolicySettings(), before=(restart_lean,), urgent=(), after=())

DEFAULT = "balanced"
POLICIES: Mapping[str, Policy] = MappingProxyType(
    {policy.name: policy for policy in (BALANCED, TURNS, BUDGET, LAYERS, BOUNDARY, ROLLING)}
)
# tokens of a request; below it, the sizes of `balanced` shrink with the budget
FULL_BUDGET = 16_384
# Of `balanced`: a result that it shows whole must not fill a small request, nor its spare leave no
# room for turns.
SCALED_SETTINGS = ("snip_chars", "input_chars", "result_chars", "spare")
MIN_SIZE = 100  # of what is scaled
# Settings that are counts; the others are shares.
INTEGER_SETTINGS = frozenset(
    item.name for item in fields(PolicySettings) if isinstance(item.default, int)
)


def build_policy(
    name: str, overrides: Mapping[str, Mapping[str, float]], budget: int = FULL_BUDGET
) -> Policy:
    """Build a policy with configured settings; an unknown name gives the default policy.

    Args:
        budget: tokens of a request; in a small one the sizes of `balanced` that are not configured
            are smaller.
    """
    policy = POLICIES.get(name) or POLICIES[DEFAULT]
    given = overrides.get(policy.name, {})
    changed: dict[str, Any] = _scaled_sizes(policy, budget) | {
        setting: int(value) if setting in INTEGER_SETTINGS else value
        for setting, value in given.items()
        if setting in policy.setting_names
    }
    return replace(policy, settings=replace(policy.settings, **changed)) if changed else policy


def _scaled_sizes(policy: Policy, budget: int) -> dict[str, int]:
    if policy.name != BALANCED.name or budget >= FULL_BUDGET:
        return {}
    sizes = {
        name: int(getattr(policy.settings, name) * max(budget, 0) / FULL_BUDGET)
        for name in SCALED_SETTINGS
    }
    return {name: max(size, MIN_SIZE) for name, size in sizes.items()}
