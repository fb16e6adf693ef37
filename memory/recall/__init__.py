"""Finds what was said or written down: indexes of a space, search and ranking."""
