"""What became of the newest summaries and of turns that facts were looked for in; which tools a
space has used.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import bindparam, func, literal_column, select

from memory.ids import first_id
from memory.store.engine.database import Repository, Row, Tx, read
from memory.store.linked_spaces import belongs_to_space
from memory.store.schema.memory_tables import extraction
from memory.store.schema.tables import conversation, fold, is_one_of, literal_text, tool_call, turn

NEWEST_FOLDS, NEWEST_EXTRACTIONS = 20, 50
OUTCOME_SECONDS = 30 * 86_400.0  # what began before is not counted
MAX_COUNTED_TURNS = 1_000  # newest turns of a conversation in which uses of tools are counted

# waited: a message needed the room before the model had written, whose text still comes; rejected:
# it wrote nothing that could be used; unanswered: it did not answer, or there was none.
DigestReason = Literal["waited", "rejected", "unanswered"]

# Ids sort by time, so that the newest rows are a range of the primary key.
_SELECT_FOLDS = (
    select(fold.c.method, fold.c.rejected, fold.c.awaiting)
    .where(fold.c.id >= bindparam("first"), is_one_of(fold.c.state, "folded"))
    .order_by(fold.c.id.desc())
    .limit(bindparam("most"))
)
# Turns with nothing to find are no work of a model, and where there is none, none has failed.
_SELECT_EXTRACTIONS = (
    select(extraction.c.state, extraction.c.reason)
    .where(
        extraction.c.turn_id >= bindparam("first"),
        is_one_of(extraction.c.state, "done", "failed"),
    )
    .order_by(extraction.c.turn_id.desc())
    .limit(bindparam("most"))
)

_COUNT_USED = (
    select(tool_call.c.name, func.count().label("calls"))
    .join_from(conversation, turn, turn.c.conversation == conversation.c.id)
    .join(tool_call, tool_call.c.turn_id == turn.c.id)
    .where(
        belongs_to_space(conversation.c.space),
        conversation.c.updated >= bindparam("since"),
        # a range of the index by number, however long the conversation is
        turn.c.number >= conversation.c.next_turn - literal_column(str(MAX_COUNTED_TURNS)),
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
    first = first_id(tx.now - OUTCOME_SECONDS)
    folds = (await tx.execute(_SELECT_FOLDS, first=first, most=NEWEST_FOLDS)).all()
    turns = (await tx.execute(_SELECT_EXTRACTIONS, first=first, most=NEWEST_EXTRACTIONS)).all()
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
    """Count the calls of each tool that succeeded in the turns of a space since a time, at most in
    the newest MAX_COUNTED_TURNS of each conversation.
    """
    rows = (await tx.execute(_COUNT_USED, space=space, since=since)).all()
    return {str(row["name"]): int(row["calls"]) for row in rows}


class OutcomeReads(Repository):
    """Reads what became of summaries, facts and calls of tools."""

    newest = read(load_outcomes)
    used_tools = read(count_used_tools)
