"""Store and index on PostgreSQL: connections, transactions, tables, locks, moves."""
