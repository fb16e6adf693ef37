"""The lanes that rows of the record wait in: whoever puts a row in rings the lane's bell in the same transaction."""

from dataclasses import dataclass
from typing import Literal

LaneKind = Literal["turn", "urgent", "out", "facts"]
"""What comes in, what overtakes it, what goes out, and finished turns that are to be read for lasting facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One lane in which something is to be done.

    id: a conversation; of "urgent" an inbox row, of "facts" a space. channel: whose wire an "out" lane
    needs. due: unix seconds before which there is nothing to do, 0.0 for at once.
    """

    kind: LaneKind
    id: str
    channel: str = ""
    due: float = 0.0
