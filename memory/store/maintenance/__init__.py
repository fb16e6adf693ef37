"""Copies, snapshots, retention and counts."""
