"""The store and the search index on a PostgreSQL server: connections, transactions, tables, locks, moves."""
