"""What became of the newest summaries and of turns that facts were looked for in; which tools a
space has used.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import bindparam, func, or_, select

from memory.store.engine.database import Repository, Row, Tx, read
from memory.store.rows import belongs_to_space
from memory.store.schema.memory_tables import extraction
from memory.store.schema.tables import conversation, fold, is_one_of, literal_text, tool_call, turn

NEWEST_FOLDS, NEWEST_EXTRACTIONS = 20, 50

# waited: a message needed the room before the model had written, whose text still comes; rejected:
# it wrote nothing that could be used; unanswered: it did not answer, or there was none.
DigestReason = Literal["waited", "rejected", "unanswered"]

_SELECT_FOLDS = (
    select(fold.c.method, fold.c.rejected, fold.c.awaiting)
    .where(is_one_of(fold.c.state, "folded"))
    .order_by(fold.c.at.desc(), fold.c.id.desc())
    .limit(bindparam("most"))
)
# Turns with nothing to find are no work of a model.
_SELECT_EXTRACTIONS = (
    select(extraction.c.state, extraction.c.reason)
    .where(
        or_(
            is_one_of(extraction.c.state, "done", "failed"),
            extraction.c.reason == literal_text("no model"),
        ),
    )
    .order_by(extraction.c.at.desc(), extraction.c.turn_id.desc())
    .limit(bindparam("most"))
)

_COUNT_USED = (
    select(tool_call.c.name, func.count().label("calls"))
    .join_from(conversation, turn, turn.c.conversation == conversation.c.id)
    .join(tool_call, tool_call.c.turn_id == turn.c.id)
    .where(
        belongs_to_space(conversation.c.space),
        turn.c.started >= bindparam("since"),
        tool_call.c.state == literal_text("done"),
    )
    .group_by(tool_call.c.name)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundOutcomes:
    """What became of the newest work beside replies."""

    #: Newest folds that are done.
    folds: int = 0
    #: Those of them whose summary is an extract, by DigestReason.
    digests: Mapping[str, int] = field(default_factory=dict)
    #: Newest turns that the model was asked about.
    extractions: int = 0
    #: Those of them of which nothing was found for a failure, by the reason that is stored.
    failed: Mapping[str, int] = field(default_factory=dict)


async def load_outcomes(tx: Tx) -> BackgroundOutcomes:
    """Load what became of the newest folds and extractions."""
    folds = (await tx.execute(_SELECT_FOLDS, most=NEWEST_FOLDS)).all()
    turns = (await tx.execute(_SELECT_EXTRACTIONS, most=NEWEST_EXTRACTIONS)).all()
    return BackgroundOutcomes(
        folds=len(folds),
        digests=Counter(_digest_reason(row) for row in folds if row["method"] == "extract"),
        extractions=len(turns),
        failed=Counter(str(row["reason"]) for row in turns if row["state"] != "done"),
    )


def _digest_reason(row: Row) -> DigestReason:
    if row["rejected"]:
        return "rejected"
    return "waited" if row["awaiting"] else "unanswered"


async def count_used_tools(tx: Tx, space: str, since: float) -> dict[str, int]:
    """Count the calls of each tool that succeeded in the turns of a space since a time."""
    rows = (await tx.execute(_COUNT_USED, space=space, since=since)).all()
    return {str(row["name"]): int(row["calls"]) for row in rows}


class OutcomeReads(Repository):
    """Reads what became of summaries, facts and calls of tools."""

    newest = read(load_outcomes)
    used_tools = read(count_used_tools)
