"""Statements of one transaction on PostgreSQL."""

from typing import Any, cast

from psycopg.pq import TransactionStatus

from memory.store.engine.database import Result, Row
from memory.store.postgres.connection import PostgresConnection


class PostgresDriver:
    """The Driver of one transaction, which psycopg begins with the first statement."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def run(self, sql: str, parameters: list[Any]) -> Result:
        if self._connection.info.transaction_status == TransactionStatus.IDLE:
            async with self._connection.pipeline():  # BEGIN and the statement in one round trip
                cursor = await self._connection.execute(sql, parameters)
        else:
            cursor = await self._connection.execute(sql, parameters)
        rows = await cursor.fetchall() if cursor.description else []
        return Result(rows=cast(list[Row], rows), rowcount=cursor.rowcount)
