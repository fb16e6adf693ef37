"""Forgets what a person asks to forget, and removes people: from files, store and index."""
