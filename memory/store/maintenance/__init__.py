"""Snapshots, repair of a damaged database, copies, retention, and counts."""
