"""Transactions on SQLite and PostgreSQL, and the leases of processes."""
