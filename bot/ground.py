"""What a house stands on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.agent.job import USUAL, Times
from bot.config import ConfigFile
from bot.dispatch.lanes import LanesOf
from bot.dispatch.local import local
from bot.home import Home
from bot.signals import Signals
from bot.troubles import Troubles
from memory.recall.keeping import Shared
from memory.store.doors import Store
from memory.writers import LOCAL, Writers


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a house stands on: its folder, its configuration, its open record.

    clock: the time, with its zone. lanes_of: the engine that runs its lanes. indexes: of recall, where they are not
    files of this home. signals: what is told of all that happens. writers: who keeps apart what writes the workspace.
    times: of one turn. troubles: faults of this machine that the owner has to know of.
    """

    home: Home
    file: ConfigFile
    store: Store
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    lanes_of: LanesOf = local
    indexes: Shared | None = None
    signals: Signals = field(default_factory=Signals)
    writers: Writers = LOCAL
    times: Times = USUAL
    troubles: Troubles = field(default_factory=Troubles)
