"""The script that alembic runs: our revisions, on the connection in its attributes."""

from typing import Any

from alembic import context

from memory.failpoints import hit


def _step(*_: Any, **__: Any) -> None:
    hit("mig.step")


context.configure(
    connection=context.config.attributes["connection"],
    transaction_per_migration=True,
    transactional_ddl=True,
    on_version_apply=_step,
)
with context.begin_transaction():
    context.run_migrations()
