"""The store: conversations, memory and access in one SQLite file or a PostgreSQL database."""
