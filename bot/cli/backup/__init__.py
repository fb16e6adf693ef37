"""Backup and restore of a home."""
