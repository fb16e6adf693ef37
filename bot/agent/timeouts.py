"""How long a turn may take, and how long the end of its process is told of."""

from dataclasses import dataclass
from datetime import timedelta

REPORTED_AFTER = timedelta(days=1)  # an interrupted run that is older is not reported any more


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTimeouts:
    """Limits of one turn in one process, in seconds."""

    #: After this the model has to answer without more tool calls.
    last_step_after: float = 720.0
    #: After this the turn is cancelled.
    cancel_after: float = 900.0


DEFAULT_TIMEOUTS = TurnTimeouts()
