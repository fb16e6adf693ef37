"""The tables, their creation, and their migrations."""
