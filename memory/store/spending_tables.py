"""The table of the Spending door: who was told that a limit is reached."""

from sqlalchemy import PrimaryKeyConstraint, Table

from memory.store.columns import moment, of_conversation, record, text

limit_told = Table(
    "limit_told",
    record,
    text("who"),
    of_conversation(),
    text("limit_name"),
    moment("until"),
    PrimaryKeyConstraint("who", "conversation", "limit_name"),
)
"""Who was told in which conversation that a limit is reached, and until when that holds."""
