"""The policies: numbers, and which stages run in which order. A policy is data."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memory.context.situation import Numbers, Stage
from memory.context.stages import (
    drop_oldest,
    fold_but_newest,
    fold_when_long,
    fold_when_long_and_many,
    fold_when_many,
    lean,
    overflow,
    pin,
    snip,
    text_only,
    text_only_oldest_first,
    text_only_when_few,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When a view is shortened and how.

    before: stages that run before every model call; what they fold may wait while the view fits without it.
    urgent: stages that run after those while the view does not fit. after: stages that run when a turn has ended.
    """

    name: str
    numbers: Numbers
    before: tuple[Stage, ...]
    urgent: tuple[Stage, ...]
    after: tuple[Stage, ...]


TURNS = Policy(
    name="turns",
    numbers=Numbers(),
    before=(snip, fold_when_many, overflow),
    urgent=(text_only_when_few, fold_when_long_and_many, text_only_oldest_first, drop_oldest, pin),
    after=(fold_when_many, fold_when_long),
)

LEAN = Policy(
    name="lean",
    numbers=Numbers(),
    before=(fold_but_newest, text_only),
    urgent=(),
    after=(),
)
"""What a restart leaves in the view where `session_restore` is "lean"; not a policy to choose."""

LEAN = Policy(name="lean", numbers=Numbers(), before=(lean,), urgent=(), after=())
"""Run once after a restart when `session_restore` says so; no conversation keeps it."""

POLICIES: Mapping[str, Policy] = MappingProxyType({policy.name: policy for policy in (TURNS,)})
